/**
 * A store that somebody else holds, or that cannot be reached just now, is not one that has failed: what must be written
 * is written when it answers again.
 * Imports the ledger's errors.
 */
import { LedgerError } from '../ledger/errors.js'

/** Nothing was written, and it may be asked for again. */
export function willPass(error: unknown): boolean {
  return error instanceof LedgerError && (error.problem === 'busy' || error.problem === 'unreachable')
}

/** Tries again for as long as the store does not answer; each try waits by itself. `hasEnough` says when to give up all the same. */
export async function persistently<T>(write: () => Promise<T>, hasEnough: () => boolean): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (!willPass(error) || hasEnough()) throw error
    }
  }
}
