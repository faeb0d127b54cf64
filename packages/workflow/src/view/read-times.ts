/**
 * Reads what the time of a run went into from a ledger: sums that the store makes, whatever the number of steps. Imports the
 * library, the run's notes and the sums.
 */
import type { AttemptRow, Ledger, RunRecord, StoredEvent, TaskRecord } from 'reprise/durable'
import { lastHeardOf, type OtherOwner } from 'reprise/internal'
import { notesOf } from './run-notes.js'
import { begunSessions, endedSessions, openSpans, timesOf, type TimeSpan } from './run-times.js'
import { scopeOf } from './run-pages.js'
import type { RunTimes } from './views.js'

/** At most this many events of a run are looked through for its sessions: each resume is one. */
const MAX_EVENTS = 10_000
/** Tasks that have not ended whose waits are looked at; a workflow has one at a time. */
const MAX_OPEN = 200
const OPEN = ['waiting', 'parked', 'running'] as const

/** Events of the run as a whole: its start, its resumes, its ends. */
export function runEvents(ledger: Ledger, run: string): Promise<readonly StoredEvent[]> {
  return ledger.events(0, MAX_EVENTS, { ...scopeOf(run), id: '' })
}

/** The sums that the last conductor recorded, if nothing has happened to the run since; else those of its attempts. */
export async function readTimes(
  ledger: Ledger,
  run: RunRecord,
  living: ReadonlyMap<string, OtherOwner>,
): Promise<RunTimes> {
  const recorded = recordedTimes(run)
  if (recorded !== undefined) return recorded
  const events = await runEvents(ledger, run.id)
  return spentTimes(ledger, run, await readSessions(ledger, run, events, await lastSign(ledger, run, living)))
}

/** The same, with the sessions that it is made of. */
export async function timesFrom(
  ledger: Ledger,
  run: RunRecord,
  events: readonly StoredEvent[],
  living: ReadonlyMap<string, OtherOwner>,
): Promise<{ readonly times: RunTimes; readonly sessions: readonly TimeSpan[] }> {
  const sessions = await readSessions(ledger, run, events, await lastSign(ledger, run, living))
  return { times: recordedTimes(run) ?? (await spentTimes(ledger, run, sessions)), sessions }
}

/**
 * When processes conducted the run; `lastMs`: until when the last of them did, as far as is known. `of`: the run whose
 * attempts tell how long a killed process lived, such as that of a map.
 */
export async function readSessions(
  ledger: Ledger,
  run: RunRecord,
  events: readonly StoredEvent[],
  lastMs: number,
  of: string = run.id,
): Promise<TimeSpan[]> {
  const begun = begunSessions(run, events, lastMs)
  if (begun.every(({ toMs }) => toMs !== undefined)) return endedSessions(begun)
  const starts = begun.map(({ fromMs }) => fromMs)
  return endedSessions(begun, await ledger.analytics.lastSigns(of, starts))
}

export async function spentTimes(ledger: Ledger, { id }: RunRecord, sessions: readonly TimeSpan[]): Promise<RunTimes> {
  const open = await ledger.list({ ...scopeOf(id), statuses: OPEN, withInput: false, limit: MAX_OPEN })
  const last = new Map<string, AttemptRow>()
  for (const task of open.filter(hasHistory)) {
    const row = (await ledger.attempts(task)).at(-1)
    if (row !== undefined) last.set(task.id, row)
  }
  return timesOf(sessions, await ledger.analytics.waitedMs(id, { periods: sessions, ...openSpans(open, last) }))
}

/** Whether an attempt of it may have ended. */
function hasHistory({ status, generation, progress: { current, lastFailure } }: TaskRecord): boolean {
  return status === 'parked' || generation > 1 || lastFailure !== null || (current?.attempt ?? 0) > 1
}

function recordedTimes(run: RunRecord): RunTimes | undefined {
  const { times } = notesOf(run)
  if (times === undefined || times.resumes !== run.resumes || run.status === 'running') return undefined
  const { activeMs, waitedMs, downMs } = times
  return { activeMs, waitedMs, downMs }
}

/** Until when somebody conducted it, as far as the ledger knows. */
export async function lastSign(
  ledger: Ledger,
  { status, owner, createdAtMs, updatedAtMs, endedAtMs }: RunRecord,
  living: ReadonlyMap<string, OtherOwner>,
): Promise<number> {
  if (status !== 'running' || owner === null) return endedAtMs ?? updatedAtMs
  return living.has(owner) ? ledger.now() : ((await lastHeardOf(ledger, owner)) ?? createdAtMs)
}
