/**
 * The order in which due tasks of one queue are claimed: interrupted attempts, then retries, then fresh tasks; within each
 * by due time, then by id. Imports the records.
 *
 * SQL stores keep the rank in a column of the index by which due tasks are found. Every rank is a range of that index of
 * its own: due times of retries lie in the future, and a range over all ranks would pass over every one of them.
 */
import type { TaskRecord } from './records.js'

/**
 * 0, interrupted: an attempt that was taken over from a lost process, or released by one that stopped. 1, a retry: at
 * least one attempt has failed. 2, fresh: none has been made, or none since a reset.
 */
export function rankOf({ progress }: TaskRecord): number {
  // A record of an earlier version may lack any part of it.
  const { current, retry } = progress as Partial<TaskRecord['progress']>
  if (current !== undefined && current !== null) return 0
  return (retry?.failures ?? 0) > 0 ? 1 : 2
}

/** In the order of the claim. */
export const RANK_NUMBERS: readonly number[] = [0, 1, 2]

/** Of tasks whose last attempt failed. */
export const RETRY_RANK = 1

/** Of tasks that have made no attempt, or none since a reset. */
export const FRESH_RANK = 2

/** Negative if `a` is claimed before `b`, of tasks that are due. */
export function compareDue(a: TaskRecord, b: TaskRecord): number {
  return rankOf(a) - rankOf(b) || (a.dueAtMs as number) - (b.dueAtMs as number) || compareText(a.id, b.id)
}

/** In the order of lists of tasks that wait: by due time, then by id and scope. A task without a due time comes first. */
export function compareWaiting(a: WaitingPlace, b: WaitingPlace): number {
  return (
    compareTimes(a.dueAtMs, b.dueAtMs) ||
    compareText(a.id, b.id) ||
    compareText(a.scopeKind, b.scopeKind) ||
    compareText(a.scope, b.scope)
  )
}

type WaitingPlace = Pick<TaskRecord, 'dueAtMs' | 'id' | 'scopeKind' | 'scope'>

function compareTimes(a: number | null, b: number | null): number {
  return a === b ? 0 : (a ?? -Infinity) - (b ?? -Infinity)
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
