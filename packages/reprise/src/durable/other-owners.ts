/** Other processes as they are seen from here, for people and for read-only commands. Imports the ledger's port and identities. */
import type { Ledger } from '../ledger/ledger.js'
import type { OwnerRecord } from '../ledger/records.js'
import { lifeOf, ownIdentity } from './identity.js'

/** A process that holds its lease, as seen from here. */
export interface OtherOwner
  extends Pick<OwnerRecord, 'host' | 'pid' | 'startedAtMs' | 'role' | 'site' | 'version' | 'slots' | 'running'> {
  /** Without another renewal its tasks are taken over after this time. */
  readonly leaseLeftMs: number
}

/**
 * Owners believed alive, by id, judged from this process. Used by read-only commands. One that is seen to live may be
 * stopped, with its lease over: a process that watches it for a lease takes over from it.
 */
export async function livingOwners(
  ledger: Pick<Ledger, 'leaseNow' | 'owners' | 'spans'>,
): Promise<ReadonlyMap<string, OtherOwner>> {
  const [now, owners, self] = [await ledger.leaseNow(), await ledger.owners(), ownIdentity()]
  const isLiving = (owner: OwnerRecord): boolean => {
    const life = lifeOf(owner, self, ledger.spans)
    return life === 'unseen' ? owner.leaseUntilMs > now : life === 'alive'
  }
  const living = owners.filter(isLiving)
  return new Map(living.map((owner) => [owner.id, otherOwner(owner, Math.max(0, owner.leaseUntilMs - now))]))
}

export function otherOwner(owner: OwnerRecord, leaseLeftMs: number): OtherOwner {
  const { host, pid, startedAtMs, role, site, version, slots, running } = owner
  const about = Object.entries({ role, site, version, slots, running }).filter(([, value]) => value !== undefined)
  return { host, pid, startedAtMs, ...Object.fromEntries(about), leaseLeftMs }
}

/** Tasks of a lost process that are looked at; more than it runs at a time. */
const MOST_OWNED = 1000

/**
 * When a process is last known to have lived, by the ledger's clock: when it renewed its lease, or when it took the last
 * task that it still has. It lived for less than a third of its lease after that. Undefined if its row is gone, or if the
 * clock has been set back since.
 */
export async function lastHeardOf(
  ledger: Pick<Ledger, 'leaseNow' | 'now' | 'owners' | 'list'>,
  id: string,
): Promise<number | undefined> {
  const owner = (await ledger.owners()).find((one) => one.id === id)
  if (owner?.leaseMs === undefined) return undefined
  const silentMs = (await ledger.leaseNow()) - (owner.leaseUntilMs - owner.leaseMs)
  if (silentMs < 0) return undefined
  const nowMs = await ledger.now()
  const held = await ledger.list({ owner: id, withInput: false, limit: MOST_OWNED })
  const taken = held.map(({ updatedAtMs }) => updatedAtMs).filter((atMs) => atMs <= nowMs)
  return Math.max(nowMs - silentMs, ...taken)
}
