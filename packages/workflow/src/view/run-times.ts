/**
 * What the time of a run went into, from what is recorded of it. The time from its start to its end, or to now, has three
 * parts that add up to it:
 *
 * - down: no process conducted the run, from a stop or a kill to the next resume;
 * - waited: a process conducted it, no attempt ran, and a step waited for its next attempt or in a budget's queue;
 * - active: the rest, in which steps ran.
 *
 * A process that was killed counts as alive until the last thing that is known of it: an attempt that it began or ended,
 * or its last heartbeat. Imports the library and the shapes.
 */
import type { AttemptRow, RunRecord, StoredEvent, TaskRecord } from 'reprise/durable'
import type { TimeSpan } from 'reprise/internal'
import { retryStateOf } from './retry-state.js'
import type { RunTimes } from './views.js'

export type { TimeSpan }

export const NO_TIME: RunTimes = { activeMs: 0, waitedMs: 0, downMs: 0 }

export interface OpenSession {
  readonly fromMs: number
  /** Undefined while its end is unknown: the process was killed. */
  toMs: number | undefined
  /** A killed process lived at this time. */
  heardOfAtMs: number
}

/**
 * When processes conducted the run, in order; of a process that was killed the end is not known yet. `lastMs`: until when the
 * last of them did, as far as is known: now, for one that is alive.
 */
export function begunSessions(run: RunRecord, events: readonly StoredEvent[], lastMs: number): OpenSession[] {
  const sessions: OpenSession[] = [{ fromMs: run.createdAtMs, toMs: undefined, heardOfAtMs: run.createdAtMs }]
  for (const { type, atMs, detail } of events) {
    const last = sessions.at(-1) as OpenSession
    if (type === 'run_finished') last.toMs ??= atMs
    if (type !== 'run_resumed') continue
    const { heardOfAtMs } = detail as { readonly heardOfAtMs?: number }
    last.heardOfAtMs = Math.min(atMs, Math.max(last.heardOfAtMs, heardOfAtMs ?? -Infinity))
    sessions.push({ fromMs: atMs, toMs: undefined, heardOfAtMs: atMs })
  }
  const last = sessions.at(-1) as OpenSession
  last.heardOfAtMs = Math.max(last.heardOfAtMs, lastMs)
  return sessions
}

/**
 * The same with all ends. `signs`: the last attempt that is known of each session, as `analytics.lastSigns` gives them: the
 * end of an attempt that a later process found out says nothing of the process that was killed.
 */
export function endedSessions(sessions: readonly OpenSession[], signs: readonly (number | null)[] = []): TimeSpan[] {
  return sessions.map(({ fromMs, toMs, heardOfAtMs }, index) => {
    const lastMs = Math.max(heardOfAtMs, signs[index] ?? -Infinity)
    return { fromMs, toMs: Math.max(fromMs, toMs ?? lastMs) }
  })
}

/** How much of a time lies in sessions: while no process conducted the run, nothing of it was done. */
export function conductedMs({ fromMs, toMs }: TimeSpan, sessions: readonly TimeSpan[]): number {
  const within = sessions.map((one) => Math.max(0, Math.min(toMs, one.toMs) - Math.max(fromMs, one.fromMs)))
  return within.reduce((sum, ms) => sum + ms, 0)
}

export type AttemptTime = Pick<AttemptRow, 'startedAtMs' | 'endedAtMs'>

/** How long an attempt ran, or is known to have run: what was interrupted by a kill ended with its process. */
export function attemptMs({ startedAtMs, endedAtMs }: AttemptTime, sessions: readonly TimeSpan[]): number {
  const session = sessions.findLast(({ fromMs }) => fromMs <= startedAtMs)
  return Math.max(0, Math.min(endedAtMs, session?.toMs ?? endedAtMs) - startedAtMs)
}

export function timesOf(sessions: readonly TimeSpan[], waitedMs: number): RunTimes {
  const heldMs = sessions.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
  const downMs = sessions.reduce(
    (sum, { toMs }, index) => sum + Math.max(0, (sessions[index + 1]?.fromMs ?? toMs) - toMs),
    0,
  )
  return { activeMs: Math.max(0, heldMs - waitedMs), waitedMs, downMs }
}

/** Waits and attempts that last: of tasks that have not ended. */
export interface OpenSpans {
  readonly waits: readonly TimeSpan[]
  readonly runs: readonly TimeSpan[]
}

/** `last`: the last recorded attempt of each task that has one, by id. */
export function openSpans(open: readonly TaskRecord[], last: ReadonlyMap<string, AttemptRow>): OpenSpans {
  const runs = open.flatMap(({ status, progress }) =>
    status === 'running' && progress.current ? [{ fromMs: progress.current.startedAtMs, toMs: Infinity }] : [],
  )
  return { waits: open.flatMap((task) => waitsOf(task, last.get(task.id))), runs }
}

/** What waits now, and the wait before an attempt that runs now. */
function waitsOf(task: TaskRecord, before: AttemptRow | undefined): TimeSpan[] {
  const { status, progress, createdAtMs, generation } = task
  const fromMs = before?.endedAtMs ?? createdAtMs
  if (status === 'parked' || (status === 'waiting' && retryStateOf(task).failures > 0))
    return [{ fromMs, toMs: Infinity }]
  const { current } = progress
  const isNext = before?.generation === generation && before.attempt < (current?.attempt ?? 0)
  return status === 'running' && current && isNext ? [{ fromMs, toMs: current.startedAtMs }] : []
}
