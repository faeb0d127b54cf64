/** The retry state of a task, also of one that was written before there was one, and its waits. Imports the library. */
import { initialState, snapshot, type StoredState } from 'reprise/core'
import type { TaskRecord } from 'reprise/durable'

const FRESH: StoredState = snapshot(initialState(null), 0)

/** Written before there was a retry state: it begins with a fresh one when it goes on. */
export function isOlder({ progress }: TaskRecord): boolean {
  return (progress as Partial<TaskRecord['progress']>).retry === undefined
}

export function retryStateOf(task: TaskRecord): StoredState {
  return isOlder(task) ? FRESH : task.progress.retry
}

/** The waits before attempts as they were chosen, but for the part of the current one that is not over `atMs`. */
export function waitedMsOf(task: TaskRecord, atMs: number): number {
  const { totalDelayMs, failures } = retryStateOf(task)
  if (task.status !== 'waiting' || failures === 0 || task.dueAtMs === null) return totalDelayMs
  return Math.max(0, totalDelayMs - Math.max(0, task.dueAtMs - atMs))
}
