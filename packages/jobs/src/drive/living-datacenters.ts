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
