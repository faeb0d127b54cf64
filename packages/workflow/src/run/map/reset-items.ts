/**
 * Grants a fresh set of attempts to items that failed for good or were cancelled. Imports the library, pages and the
 * counts.
 *
 * Invariant: items are read page by page. What was done before a crash stays done, and a second call does the rest.
 */
import type { Ledger } from 'reprise/durable'
import type { ItemQueue } from 'reprise/internal'
import { scopeOf, taskPages } from '../../view/run-pages.js'
import { readClasses } from './map-counts.js'

/** Whether any item failed for good or was cancelled. */
export async function hasLost(ledger: Ledger, mapRun: string): Promise<boolean> {
  const { failed, cancelled } = await readClasses(ledger, mapRun)
  return failed + cancelled > 0
}

export async function resetItems(ledger: Ledger, mapRun: string, items: ItemQueue<never>): Promise<void> {
  const filter = { ...scopeOf(mapRun), statuses: ['failed', 'cancelled'] as const, withInput: false }
  for await (const page of taskPages(ledger, filter)) await items.resetAll(page.map(({ id }) => id))
}
