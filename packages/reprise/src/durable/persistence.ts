/**
 * Writes that wait for a store which is busy, or cannot be reached just now. Such a store has not failed. Imports the
 * ledger's errors.
 */
import { LedgerError } from '../ledger/errors.js'

/** Whether nothing was written, and the same may be asked for again. */
export function isTransient(error: unknown): boolean {
  return error instanceof LedgerError && (error.problem === 'busy' || error.problem === 'unreachable')
}

/**
 * Writes again while the store is busy, until `isEnough`. There is no pause here: each try waits inside the ledger.
 * `onFailed` is called after each try that has failed.
 */
export async function retryWhileBusy<T>(
  write: () => Promise<T>,
  isEnough: () => boolean,
  onFailed?: () => void,
): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!isTransient(error) || isEnough()) throw error
      onFailed?.()
    }
  }
}
