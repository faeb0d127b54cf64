/**
 * Where runs are kept: the ledger of a store, and the directory of their logs, which no other store uses. Imports the
 * library and the state directory.
 *
 * Invariant: what only reads creates nothing.
 */
import { type Ledger, LedgerError, openLedger } from 'reprise/durable'
import { checkedReads } from 'reprise/internal'
import { lookIfThere } from '../state/own-files.js'
import { expectContent } from '../run/lost-content.js'
import { statePathFor } from '../state/state-path.js'
import { OperationError } from './operation-error.js'
import { fileOf, isOnServer, mistypedStore, noStoreMessage } from './store-address.js'

const EXAMPLES = 'such as sqlite:./runs.db or postgres://app@db.example/orders'

export function stateDirectoryOf(store: string): string {
  return statePathFor(store, process.cwd())
}

/** Refuses what is no address, and a store in memory: it is gone with the process. */
export function expectKept(store: string): void {
  // Two slashes make no file but something of which SQLite, too, would say that it is none.
  if (/^sqlite:(?!\/\/)./s.test(store) || isOnServer(store)) return
  const shown = JSON.stringify(mistypedStore(store).slice(0, 200))
  if (store !== 'memory:') {
    const hint = /^(?=.*[./])[^:?@=\s\0]+$/.test(store) ? `did you mean sqlite:${store.slice(0, 200)}?` : EXAMPLES
    const message = `${shown} is not the address of a store`
    throw new OperationError('invalid', { code: 'invalid_address' }, message, hint)
  }
  const message = `${store} keeps nothing once its process has ended`
  throw new OperationError('invalid', { code: 'address_without_store' }, message, EXAMPLES)
}

/** Opens the ledger for as long as `act` takes. Refused if nothing was ever kept there. */
export async function withLedger<T>(store: string, act: (ledger: Ledger) => Promise<T>): Promise<T> {
  const { of } = await expectFound(store, () => ifKept(store, async (ledger) => ({ of: await act(ledger) })))
  return of
}

/** What finds nothing, by its answer or by its error, is refused. */
export async function expectFound<T>(store: string, act: () => Promise<T | undefined>): Promise<T> {
  try {
    const answer = await act()
    if (answer !== undefined) return answer
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const problem = { code: 'no_store', isOnServer: isOnServer(store) } as const
  throw new OperationError('not_found', problem, noStoreMessage(store))
}

/** The same, but for a store in which nothing was ever kept: then `act` is not called, and the answer is undefined. */
export async function ifKept<T>(store: string, act: (ledger: Ledger) => Promise<T>): Promise<T | undefined> {
  expectKept(store)
  const file = fileOf(store)
  // A file that this user may not look at is an error, and not a store without runs.
  if (file !== undefined && lookIfThere(file) === undefined) return undefined
  await expectContent(store, stateDirectoryOf(store))
  const ledger = await openIfThere(store)
  if (ledger === undefined) return undefined
  try {
    return await act(ledger)
  } finally {
    await ledger.close()
  }
}

async function openIfThere(store: string): Promise<Ledger | undefined> {
  try {
    return checkedReads(await openLedger(store, { create: false }))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof LedgerError && error.problem === 'missing'
}
