/**
 * What was spent on a run, and on its steps, before this process conducts it. Imports the ledger's types and what the views
 * read of times.
 */
import type { Ledger, TaskRecord } from 'reprise/durable'
import type { DurableRun } from 'reprise/internal'
import { readSessions, runEvents, spentTimes } from '../view/read-times.js'
import { scopeOf, tasksOfRun } from '../view/run-pages.js'
import { attemptMs, type AttemptTime, NO_TIME, type TimeSpan } from '../view/run-times.js'
import type { RunTimes } from '../view/views.js'

export interface TimesBefore {
  readonly times: RunTimes
  /** Of steps that have not ended, by id. */
  readonly stepMs: ReadonlyMap<string, number>
  /** Until when they are counted, by the monotonic clock of this process. */
  readonly untilMs: number
}

const OPEN = ['waiting', 'parked', 'running'] as const

/** What was spent on the run, and on each of its steps, until now: by earlier processes, and by taking it up. */
export async function timesBefore(ledger: Ledger, { id, record }: DurableRun): Promise<TimesBefore> {
  const now = await ledger.now()
  const untilMs = monotonicMs()
  if (record.resumes === 0) {
    const times = { ...NO_TIME, activeMs: Math.max(0, now - record.createdAtMs) }
    return { times, stepMs: new Map(), untilMs }
  }
  const sessions = await readSessions(ledger, record, await runEvents(ledger, id), now)
  const stepMs = new Map<string, number>()
  for await (const page of tasksOfRun(ledger, id, { statuses: OPEN }))
    for (const task of page) stepMs.set(task.id, await activeMs(ledger, task, sessions))
  return { times: await spentTimes(ledger, record, sessions), stepMs, untilMs }
}

/** The time of the earlier attempts of a step, which runs again; by its id, and empty if it has no record. */
export async function stepTimeBefore(
  ledger: Ledger,
  { id, record }: DurableRun,
  step: string,
): Promise<ReadonlyMap<string, number>> {
  const task = await ledger.get({ ...scopeOf(id), id: step })
  if (task === undefined) return new Map()
  const sessions = await readSessions(ledger, record, await runEvents(ledger, id), await ledger.now())
  return new Map([[step, await activeMs(ledger, task, sessions)]])
}

/** How long the attempts of a step ran; an attempt that was in flight when its process was killed has no row yet. */
async function activeMs(ledger: Ledger, task: TaskRecord, sessions: readonly TimeSpan[]): Promise<number> {
  const { current } = task.progress
  const cut = task.status === 'running' && current ? [{ startedAtMs: current.startedAtMs, endedAtMs: Infinity }] : []
  const rows: readonly AttemptTime[] = await ledger.attempts(task)
  return [...rows, ...cut].reduce((sum, row) => sum + attemptMs(row, sessions), 0)
}

/** Not moved when somebody sets the clock of the system. */
export function monotonicMs(): number {
  return Math.round(performance.now())
}
