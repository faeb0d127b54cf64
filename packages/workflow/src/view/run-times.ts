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
import { retryStateOf } from './retry-state.js'
import type { RunTimes } from './views.js'

export const NO_TIME: RunTimes = { activeMs: 0, waitedMs: 0, downMs: 0 }

/** Such as the time in which one process conducted a run. */
export interface TimeSpan {
  readonly fromMs: number
  readonly toMs: number
}

interface OpenSession {
  readonly fromMs: number
  /** Undefined while its end is unknown: the process was killed. */
  toMs: number | undefined
  /** A killed process lived at this time. */
  heardOfAtMs: number
}

/**
 * When processes conducted the run, in order. `lastMs`: until when the last of them did, as far as is known: now, for one
 * that is alive.
 */
export function sessionsOf(
  run: RunRecord,
  events: readonly StoredEvent[],
  attempts: readonly AttemptRow[],
  lastMs: number,
): TimeSpan[] {
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
  if (sessions.some(({ toMs }) => toMs === undefined)) noteActivity(sessions, attempts)
  return sessions.map(({ fromMs, toMs, heardOfAtMs }) => ({ fromMs, toMs: Math.max(fromMs, toMs ?? heardOfAtMs) }))
}

/** The end of an attempt that a later process found out says nothing of the process that was killed. */
function noteActivity(sessions: readonly OpenSession[], attempts: readonly AttemptRow[]): void {
  for (const { startedAtMs, endedAtMs } of attempts) {
    const index = sessions.findLastIndex(({ fromMs }) => fromMs <= startedAtMs)
    const session = sessions[index]
    if (session === undefined) continue
    const nextMs = sessions[index + 1]?.fromMs ?? Infinity
    session.heardOfAtMs = Math.max(session.heardOfAtMs, endedAtMs < nextMs ? endedAtMs : startedAtMs)
  }
}

export type AttemptTime = Pick<AttemptRow, 'startedAtMs' | 'endedAtMs'>

/** How long an attempt ran, or is known to have run: what was interrupted by a kill ended with its process. */
export function attemptMs({ startedAtMs, endedAtMs }: AttemptTime, sessions: readonly TimeSpan[]): number {
  const session = sessions.findLast(({ fromMs }) => fromMs <= startedAtMs)
  return Math.max(0, Math.min(endedAtMs, session?.toMs ?? endedAtMs) - startedAtMs)
}

/** `attempts`: those of a step one after another. `open`: the tasks that have not ended. */
export function timesOf(
  sessions: readonly TimeSpan[],
  attempts: readonly AttemptRow[],
  open: readonly TaskRecord[],
): RunTimes {
  const conductedMs = sessions.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
  const downMs = sessions.reduce(
    (sum, { toMs }, index) => sum + Math.max(0, (sessions[index + 1]?.fromMs ?? toMs) - toMs),
    0,
  )
  const waits = [...waitsBetween(attempts), ...waitsOf(open, attempts)]
  const waitedMs = waits.length === 0 ? 0 : waitedAlone(sessions, waits, runsOf(attempts, open))
  return { activeMs: Math.max(0, conductedMs - waitedMs), waitedMs, downMs }
}

/** From the end of a failed attempt to the start of the next one of the same step. */
function waitsBetween(attempts: readonly AttemptRow[]): TimeSpan[] {
  return attempts.flatMap((row, index) => {
    const before = attempts[index - 1]
    const isNext = before?.id === row.id && before.generation === row.generation && before.attempt < row.attempt
    return isNext ? [{ fromMs: before.endedAtMs, toMs: row.startedAtMs }] : []
  })
}

/** What waits now, and the wait before an attempt that runs now. */
function waitsOf(open: readonly TaskRecord[], attempts: readonly AttemptRow[]): TimeSpan[] {
  if (open.length === 0) return []
  const last = new Map(attempts.map((row) => [row.id, row]))
  return open.flatMap((task) => {
    const { status, progress, createdAtMs, generation } = task
    const before = last.get(task.id)
    const fromMs = before?.endedAtMs ?? createdAtMs
    if (status === 'parked' || (status === 'waiting' && retryStateOf(task).failures > 0))
      return [{ fromMs, toMs: Infinity }]
    const { current } = progress
    const isNext = before?.generation === generation && before.attempt < (current?.attempt ?? 0)
    return status === 'running' && current && isNext ? [{ fromMs, toMs: current.startedAtMs }] : []
  })
}

function runsOf(attempts: readonly AttemptRow[], open: readonly TaskRecord[]): TimeSpan[] {
  const current = open.flatMap(({ status, progress }) =>
    status === 'running' && progress.current ? [{ fromMs: progress.current.startedAtMs, toMs: Infinity }] : [],
  )
  return [...attempts.map(({ startedAtMs, endedAtMs }) => ({ fromMs: startedAtMs, toMs: endedAtMs })), ...current]
}

/** The time within sessions in which something waited and nothing ran. */
function waitedAlone(sessions: readonly TimeSpan[], waits: readonly TimeSpan[], runs: readonly TimeSpan[]): number {
  const marks = [...marksOf(sessions, waits, 'waiting'), ...marksOf(sessions, runs, 'running')]
  const count = { waiting: 0, running: 0 }
  let [waitedMs, atMs] = [0, 0]
  for (const { timeMs, kind, change } of marks.toSorted((a, b) => a.timeMs - b.timeMs)) {
    if (count.waiting > 0 && count.running === 0) waitedMs += timeMs - atMs
    count[kind] += change
    atMs = timeMs
  }
  return waitedMs
}

function marksOf(
  sessions: readonly TimeSpan[],
  spans: readonly TimeSpan[],
  kind: 'waiting' | 'running',
): { timeMs: number; kind: 'waiting' | 'running'; change: number }[] {
  return spans.flatMap((span) =>
    sessions.flatMap((session) => {
      const [fromMs, toMs] = [Math.max(span.fromMs, session.fromMs), Math.min(span.toMs, session.toMs)]
      if (fromMs >= toMs) return []
      return [
        { timeMs: fromMs, kind, change: 1 },
        { timeMs: toMs, kind, change: -1 },
      ]
    }),
  )
}
