/** Checks for the cases of a contract, so that they need no test runner. Imports types of the ledger. */
import type { Ledger } from '../ledger/ledger.js'

/** Given a fresh ledger at time 0 and the hand on its clock, rejects if it does not do what it must. */
export type Check = (ledger: Ledger, setTime: (ms: number) => void) => Promise<void>

export function same(actual: unknown, expected: unknown): void {
  const [is, wanted] = [stable(actual), stable(expected)]
  if (is !== wanted) throw new Error(`expected ${wanted}, got ${is}`)
}

export function isError(error: unknown, part: string): void {
  const message = error instanceof Error ? error.message : String(error)
  if (!message.includes(part)) throw new Error(`expected an error that says "${part}", got ${message}`)
}

export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('expected a rejection')
}

/** Text that is equal for equal data: keys in order, an error as itself. */
function stable(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`
  if (Array.isArray(value)) return `[${value.map(stable).join(', ')}]`
  if (typeof value !== 'object' || value === null) return value === undefined ? 'undefined' : JSON.stringify(value)
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${key}: ${stable(item)}`).join(', ')}}`
}
