/** Datacenters with their workers, over all jobs. Imports the library and the records. */
import type { Ledger, OwnerRecord } from 'reprise/durable'
import { livingOwners } from 'reprise/internal'
import { WORKER_ROLE } from '../drive/living-datacenters.js'
import { knownDatacenters } from '../submit/known-datacenters.js'
import type { DatacenterView, WorkerView } from './job-views.js'

/** Every datacenter that a worker has registered, in the order of their names. */
export async function readDatacenters(ledger: Ledger): Promise<DatacenterView[]> {
  const [known, owners, living] = [await knownDatacenters(ledger), await ledger.owners(), await livingOwners(ledger)]
  return known
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, disabled }) => {
      const workers = owners
        .filter(({ role, site }) => role === WORKER_ROLE && site === name)
        .map((owner) => workerOf(owner, living.has(owner.id)))
      const alive = workers.filter(({ isLiving }) => isLiving)
      const heard = workers.map(({ lastHeartbeatAtMs }) => lastHeartbeatAtMs)
      return {
        name,
        disabled,
        workers,
        slots: alive.reduce((sum, { slots }) => sum + slots, 0),
        running: alive.reduce((sum, { running }) => sum + running, 0),
        lastHeartbeatAtMs: heard.length === 0 ? null : Math.max(...heard),
      }
    })
}

function workerOf(owner: OwnerRecord, isLiving: boolean): WorkerView {
  const { id, host, pid, slots = 0, running = 0, version = null, leaseUntilMs, leaseMs = 0 } = owner
  return { id, host, pid, slots, running, version, isLiving, lastHeartbeatAtMs: leaseUntilMs - leaseMs }
}
