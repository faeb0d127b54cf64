/**
 * A store that somebody else holds is not one that has failed: what must be written is written when it is let go.
 * Imports the ledger's errors.
 */
import { LedgerError } from '../ledger/errors.js'

export function isBusy(error: unknown): boolean {
  return error instanceof LedgerError && error.problem === 'busy'
}

/** Tries again for as long as the store is held; each try waits by itself. `hasEnough` says when to give up all the same. */
export async function persistently<T>(write: () => Promise<T>, hasEnough: () => boolean): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!isBusy(error) || hasEnough()) throw error
    }
  }
}
