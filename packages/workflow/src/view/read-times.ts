/** Reads what the time of a run went into from a ledger. Imports the library, the run's notes and the sums. */
import type { AttemptRow, Ledger, RunRecord, StoredEvent, TaskRecord } from 'reprise/durable'
import { lastHeardOf, type OtherOwner } from 'reprise/internal'
import { notesOf } from '../run/run-record.js'
import { sessionsOf, timesOf, type TimeSpan } from './run-times.js'
import type { RunTimes } from './views.js'

/** At most this many events of a run are looked through for its sessions. */
const MAX_EVENTS = 10_000

export interface RunRows {
  readonly events: readonly StoredEvent[]
  readonly attempts: readonly AttemptRow[]
  /** Tasks that have not ended; others do no harm. */
  readonly open: readonly TaskRecord[]
}

export function runEvents(ledger: Ledger, run: string): Promise<readonly StoredEvent[]> {
  return ledger.events(0, MAX_EVENTS, { scopeKind: 'run', scope: run })
}

/** A list of runs reads at most this much of the history of each. */
const MAX_ATTEMPTS = 2000

/**
 * The sums that the last conductor recorded, if nothing has happened to the run since; else from its attempts. Of a run
 * with more attempts than a list may read, waits are not told from the time in which steps ran.
 */
export async function readTimes(
  ledger: Ledger,
  run: RunRecord,
  living: ReadonlyMap<string, OtherOwner>,
): Promise<RunTimes> {
  const recorded = recordedTimes(run)
  if (recorded !== undefined) return recorded
  const limit = MAX_ATTEMPTS + 1
  const [events, attempts] = [await runEvents(ledger, run.id), await ledger.attemptsOfRun(run.id, { limit })]
  if (attempts.length === limit) return (await timesFrom(ledger, run, { events, attempts: [], open: [] }, living)).times
  const statuses = ['waiting', 'parked', 'running'] as const
  const open = await ledger.list({ scopeKind: 'run', scope: run.id, statuses, withInput: false, limit: MAX_ATTEMPTS })
  return (await timesFrom(ledger, run, { events, attempts, open }, living)).times
}

export async function timesFrom(
  ledger: Ledger,
  run: RunRecord,
  { events, attempts, open }: RunRows,
  living: ReadonlyMap<string, OtherOwner>,
): Promise<{ readonly times: RunTimes; readonly sessions: readonly TimeSpan[] }> {
  const sessions = sessionsOf(run, events, attempts, await lastSign(ledger, run, living))
  return { times: recordedTimes(run) ?? timesOf(sessions, attempts, open), sessions }
}

function recordedTimes(run: RunRecord): RunTimes | undefined {
  const { times } = notesOf(run)
  if (times === undefined || times.resumes !== run.resumes || run.status === 'running') return undefined
  const { activeMs, waitedMs, downMs } = times
  return { activeMs, waitedMs, downMs }
}

/** Until when somebody conducted it, as far as the ledger knows. */
async function lastSign(
  ledger: Ledger,
  { status, owner, createdAtMs, updatedAtMs, endedAtMs }: RunRecord,
  living: ReadonlyMap<string, OtherOwner>,
): Promise<number> {
  if (status !== 'running' || owner === null) return endedAtMs ?? updatedAtMs
  return living.has(owner) ? ledger.now() : ((await lastHeardOf(ledger, owner)) ?? createdAtMs)
}
