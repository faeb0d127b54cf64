/** Which datacenters have workers that hold their lease. Imports the library. */
import type { Ledger } from 'reprise/durable'
import { livingOwners } from 'reprise/internal'

export const WORKER_ROLE = 'worker'

/** By name: how many. */
export async function livingDatacenterWorkers(ledger: Ledger): Promise<ReadonlyMap<string, number>> {
  const workers = new Map<string, number>()
  for (const { role, site } of (await livingOwners(ledger)).values())
    if (role === WORKER_ROLE && site !== undefined) workers.set(site, (workers.get(site) ?? 0) + 1)
  return workers
}

export async function livingDatacenters(ledger: Ledger): Promise<string[]> {
  return [...(await livingDatacenterWorkers(ledger)).keys()].toSorted()
}

/**
 * By name: milliseconds since the last heartbeat of any of its workers, also of those that are lost. Rows of workers that
 * left in order, or were lost long ago, are gone.
 */
export async function silences(ledger: Ledger): Promise<ReadonlyMap<string, number>> {
  const nowMs = await ledger.leaseNow()
  const silent = new Map<string, number>()
  for (const { role, site, leaseUntilMs, leaseMs = 0 } of await ledger.owners()) {
    if (role !== WORKER_ROLE || site === undefined) continue
    const sinceMs = Math.max(0, nowMs - (leaseUntilMs - leaseMs))
    silent.set(site, Math.min(sinceMs, silent.get(site) ?? Infinity))
  }
  return silent
}
