/** The retry state of a task, also of one that was written before there was one. Imports the library. */
import { initialState, snapshot, type StoredState } from 'reprise'
import type { TaskRecord } from 'reprise/durable'

const FRESH: StoredState = snapshot(initialState(null), 0)

/** Written before there was a retry state: it begins with a fresh one when it goes on. */
export function isOlder({ progress }: TaskRecord): boolean {
  return (progress as Partial<TaskRecord['progress']>).retry === undefined
}

export function retryStateOf(task: TaskRecord): StoredState {
  return isOlder(task) ? FRESH : task.progress.retry
}
