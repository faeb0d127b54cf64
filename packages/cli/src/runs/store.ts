/**
 * Where runs are kept: the ledger that `--store` names, and the directory of their logs, which no other store uses.
 * Imports the library and the errors of commands.
 *
 * Invariant: who only looks creates nothing.
 */
import { expectOwnStore, lookIfThere, statePathFor } from '@reprise/workflow/internal'
import { type Ledger, LedgerError, openLedger } from 'reprise/durable'
import type { CommandContext } from '../command-context.js'
import { RefusedError, UsageError } from '../failures.js'
import { mistypedStore, storeWithoutPassword } from '../output/store-address.js'
import { fileOf } from '../settings.js'

const EXAMPLES = 'such as sqlite:./runs.db or postgres://app@db.example/orders'

export function stateDirectoryOf(store: string): string {
  return statePathFor(store, process.cwd())
}

/** What is in memory is gone with the command, and nothing could be said of it. */
export function expectKept(store: string): void {
  // Two slashes make no file but something of which SQLite, too, would say that it is none.
  if (/^sqlite:(?!\/\/)./s.test(store) || isOnServer(store)) return
  const shown = JSON.stringify(mistypedStore(store).slice(0, 200))
  const hint = /^(?=.*[./])[^:?@=\s\0]+$/.test(store) ? `did you mean sqlite:${store.slice(0, 200)}?` : EXAMPLES
  if (store !== 'memory:') throw new UsageError(`--store ${shown} is not the address of a store`, hint)
  throw new UsageError(`--store ${store} keeps nothing once the command has ended`, EXAMPLES)
}

export function isOnServer(store: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(store)
}

/** Opens the ledger for as long as `act` takes. Refused if nothing was ever kept there. */
export async function withLedger<T>(context: CommandContext, act: (ledger: Ledger) => Promise<T>): Promise<T> {
  const { store } = context.settings
  const { of } = await expectFound(store, () => ifKept(context, async (ledger) => ({ of: await act(ledger) })))
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
  const [message, where] = noStoreLines(store)
  throw new RefusedError({ kind: 'not_found', message, details: [where], next: [['run', 'workflow.yaml']] })
}

/** For a list that is empty because nothing was ever kept: often the command was typed in another directory. */
export function noStoreLines(store: string): readonly [message: string, where: string] {
  if (isOnServer(store)) {
    return [
      `There are no runs here: ${storeWithoutPassword(store)} has no ledger.`,
      'The first run makes one; --store names another database, and ?schema=NAME in it another schema.',
    ]
  }
  return [
    `There are no runs here: ${fileOf(store) ?? store} does not exist.`,
    'Runs are kept in the directory where they were started; --store names another store.',
  ]
}

/** The same, but for a store in which nothing was ever kept: then `act` is not called, and the answer is undefined. */
export async function ifKept<T>(
  { settings: { store } }: CommandContext,
  act: (ledger: Ledger) => Promise<T>,
): Promise<T | undefined> {
  expectKept(store)
  const file = fileOf(store)
  // A file that this user may not look at is an error, and not a store without runs.
  if (file !== undefined && lookIfThere(file) === undefined) return undefined
  expectOwnStore(store, stateDirectoryOf(store))
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
    return await openLedger(store, { create: false })
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof LedgerError && error.problem === 'missing'
}
