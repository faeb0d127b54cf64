/** Guards what is removed for good: the same in every ledger. Imports its own layer. */
import { LedgerError } from './errors.js'
import { FINISHED_STATUSES, type FinishedStatus } from './records.js'

/** Fewer rows than this are no history; stores need not look for tasks with so few. */
export const LEAST_HISTORY = 10

/** A task that may still go on is never forgotten, whoever asks. */
export function expectFinished(status: FinishedStatus): void {
  if (FINISHED_STATUSES.includes(status)) return
  const statuses = FINISHED_STATUSES.join(', ')
  throw new LedgerError('refused', `Tasks that are ${status} cannot be forgotten: say one of ${statuses}`)
}

export function expectHistory(maxHistoryPerTask: number): void {
  if (Number.isSafeInteger(maxHistoryPerTask) && maxHistoryPerTask >= LEAST_HISTORY) return
  const given = String(maxHistoryPerTask)
  throw new LedgerError('refused', `maxHistoryPerTask is ${given}: say a whole number of ${LEAST_HISTORY} or more`)
}
