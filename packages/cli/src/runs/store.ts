/**
 * Where runs are kept: the ledger that `--store` names, and the directory of their logs beside it. Imports Node, the
 * library and the errors of commands.
 *
 * Invariant: who only looks creates nothing.
 */
import { existsSync } from 'node:fs'
import { expectOwnStore, statePathFor } from '@reprise/workflow'
import { type Ledger, openLedger } from 'reprise/durable'
import type { CommandContext } from '../command-context.js'
import { RefusedError, UsageError } from '../failures.js'

export function stateDirectoryOf(store: string): string {
  return statePathFor(fileOf(store) ?? null, process.cwd())
}

/** What is in memory is gone with the command, and nothing could be said of it. */
export function expectKept(store: string): void {
  if (!/^(sqlite|memory):/.test(store))
    throw new UsageError(
      `--store ${JSON.stringify(store.replace(/:\/\/.*$/s, '://…'))} is no address`,
      'such as sqlite:./runs.db',
    )
  if (!store.startsWith('memory:')) return
  throw new UsageError(`--store ${store} keeps nothing once the command has ended`, 'such as sqlite:./runs.db')
}

/** Opens the ledger for as long as `act` takes. Refused if nothing was ever kept there. */
export async function withLedger<T>({ settings }: CommandContext, act: (ledger: Ledger) => Promise<T>): Promise<T> {
  expectStore(settings.store)
  expectOwnStore(settings.store, stateDirectoryOf(settings.store))
  const ledger = await openLedger(settings.store)
  try {
    return await act(ledger)
  } finally {
    await ledger.close()
  }
}

export function hasStore(store: string): boolean {
  const file = fileOf(store)
  return file === undefined || existsSync(file)
}

export function expectStore(store: string): void {
  expectKept(store)
  if (hasStore(store)) return
  throw new RefusedError({
    kind: 'not_found',
    message: `There are no runs here: ${fileOf(store) ?? store} does not exist.`,
    details: ['Runs are kept in the directory where they were begun; --store names another place.'],
    next: ['reprise run workflow.yaml'],
  })
}

function fileOf(store: string): string | undefined {
  return /^sqlite:(.+)$/s.exec(store)?.[1]
}
