/**
 * Who owns tasks: this process says so with one row that it renews; of others that do not, the tasks are taken over.
 * Any process may do that, there is no leader. Imports the ledger's port and its own layer.
 *
 * Invariant: tasks of an owner are touched only once it is lost, and every one in a transaction that raises its fence.
 * Lost is whoever's process is certainly gone. One that cannot be seen from here is lost when its lease is over. One
 * that is seen to live is lost when it has said nothing for a whole lease of this process's own time: the clock on the
 * wall may have been set since it wrote.
 */
import { randomUUID } from 'node:crypto'
import type { Ledger } from '../ledger/ledger.js'
import type { OwnerRecord, TaskRecord } from '../ledger/records.js'
import { type Identity, lifeOf, ownIdentity } from './identity.js'
import type { Takeover } from './takeover.js'

export interface OwnershipParts {
  readonly ledger: Ledger
  readonly identity: Identity
  readonly leaseMs: number
  /** This process's own time, which does not jump. */
  readonly monotonicMs: () => number
  readonly takeover: Takeover
  /** A stop waits for this work. */
  readonly track: <T>(work: Promise<T>) => Promise<T>
  /** Tasks were taken over, and may be due. */
  readonly onTaken: () => void
  readonly onFailure: (error: unknown) => void
}

/** A process that holds its lease, as seen from here. */
export interface OtherOwner {
  /** The name of its machine. */
  readonly host: string
  /** The id of its process. */
  readonly pid: number
  /** When it opened the store. */
  readonly startedAtMs: number
  /** If it says nothing more, its tasks are taken over after so long. */
  readonly leaseLeftMs: number
}

interface Sighting {
  readonly leaseUntilMs: number
  readonly atMs: number
}

/**
 * Who lives by what can be seen from here, by id; for those who only look and own nothing. One that is seen to live may
 * be stopped, with its lease over: whoever watches it for a lease, or is told to, takes over from it.
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
  return new Map(
    living.map(({ id, host, pid, startedAtMs, leaseUntilMs }) => [
      id,
      { host, pid, startedAtMs, leaseLeftMs: Math.max(0, leaseUntilMs - now) },
    ]),
  )
}

/**
 * When a process last renewed its lease, by the ledger's clock: it lived then, and for less than a third of its lease
 * after. Undefined if its row is gone, or if the clock has been set back since.
 */
export async function lastHeardOf(
  ledger: Pick<Ledger, 'leaseNow' | 'now' | 'owners'>,
  id: string,
): Promise<number | undefined> {
  const owner = (await ledger.owners()).find((one) => one.id === id)
  if (owner?.leaseMs === undefined) return undefined
  const silentMs = (await ledger.leaseNow()) - (owner.leaseUntilMs - owner.leaseMs)
  return silentMs < 0 ? undefined : (await ledger.now()) - silentMs
}

export class Ownership {
  private readonly parts: OwnershipParts
  private startedAtMs = 0
  private readonly living = new Set<string>()
  private readonly sightings = new Map<string, Sighting>()
  private seenAtMs = -Infinity
  private lookedAtMs = -Infinity
  private timer: NodeJS.Timeout | undefined = undefined
  private ticking: Promise<unknown> = Promise.resolve()
  private renewedAtMs = -Infinity

  constructor(parts: OwnershipParts) {
    this.parts = parts
  }

  async begin(): Promise<void> {
    this.startedAtMs = await this.parts.ledger.leaseNow()
    await this.renew()
    await this.lookAround(false)
    this.timer = setInterval(() => {
      // With those before: one that hangs must not keep the next from being heard.
      this.ticking = Promise.all([this.ticking, this.tick().catch(this.parts.onFailure)])
    }, this.parts.leaseMs / 3)
    this.timer.unref()
  }

  /** Says nothing more: the lease runs out. */
  halt(): void {
    clearInterval(this.timer)
  }

  /** Whether the process that wrote the task's wait is not there any more. */
  isResumed({ progress, updatedAtMs }: TaskRecord): boolean {
    const { waitChosenBy } = progress
    // Who came after the last look around is not known here yet.
    return waitChosenBy !== undefined && updatedAtMs <= this.seenAtMs && !this.living.has(waitChosenBy)
  }

  async end(): Promise<void> {
    clearInterval(this.timer)
    // A late word would put the row back.
    await this.ticking
    await this.parts.ledger.removeOwner(this.parts.identity.id)
  }

  /** Takes over what lost owners left, or with `force` everybody else; answers how many tasks. */
  async takeOver(resumeId: string, force = false): Promise<number> {
    const { ledger, identity, takeover, onTaken } = this.parts
    let taken = await this.takeOrphans(resumeId)
    for (const owner of await this.lookAround(force)) {
      const { moved, left } = await takeover.takeFrom(owner.id, resumeId)
      taken += moved
      // One that may live goes on claiming, and has its row before it has a task.
      if (left === 0 && lifeOf(owner, identity, ledger.spans) === 'gone') await ledger.removeOwner(owner.id)
    }
    if (taken > 0) onTaken()
    return taken
  }

  /** Looks again, unless that was done within the last second. */
  lookSoon(): void {
    const { monotonicMs, track, onFailure } = this.parts
    if (monotonicMs() - this.lookedAtMs < 1000) return
    this.lookedAtMs = monotonicMs()
    void track(this.takeOver(randomUUID())).catch(onFailure)
  }

  /** Who else holds a lease. */
  async others(): Promise<OtherOwner[]> {
    const { ledger, identity } = this.parts
    const [now, owners] = [await ledger.leaseNow(), await ledger.owners()]
    return owners
      .filter(({ id }) => id !== identity.id)
      .map((owner) => {
        const { host, pid, startedAtMs } = owner
        return { host, pid, startedAtMs, leaseLeftMs: this.leaseLeftOf(owner, now) }
      })
      .filter(({ leaseLeftMs }) => leaseLeftMs > 0)
  }

  /** Who holds what this owner has; undefined if it is lost. */
  async holderOf(id: string): Promise<OtherOwner | undefined> {
    const { ledger } = this.parts
    const owner = (await ledger.owners()).find((other) => other.id === id)
    if (owner === undefined || this.isLost(owner, await ledger.leaseNow())) return undefined
    const { host, pid, startedAtMs } = owner
    return { host, pid, startedAtMs, leaseLeftMs: this.leaseLeftOf(owner, await ledger.leaseNow()) }
  }

  private leaseLeftOf(owner: OwnerRecord, leaseNow: number): number {
    const { ledger, identity, leaseMs, monotonicMs } = this.parts
    const silentMs = monotonicMs() - (this.sightings.get(owner.id)?.atMs ?? monotonicMs())
    const isSeen = lifeOf(owner, identity, ledger.spans) === 'alive'
    return Math.max(0, isSeen ? (owner.leaseMs ?? leaseMs) - silentMs : owner.leaseUntilMs - leaseNow)
  }

  /** Remembers who lives; answers with those who do not. */
  private async lookAround(force: boolean): Promise<OwnerRecord[]> {
    const { ledger, identity } = this.parts
    const [now, leaseNow, owners] = [await ledger.now(), await ledger.leaseNow(), await ledger.owners()]
    const lost = owners.filter((owner) => owner.id !== identity.id && (this.isLost(owner, leaseNow) || force))
    this.living.clear()
    for (const owner of owners) if (!lost.includes(owner)) this.living.add(owner.id)
    const known = new Set(owners.map(({ id }) => id))
    for (const id of this.sightings.keys()) if (!known.has(id)) this.sightings.delete(id)
    this.seenAtMs = now
    return lost
  }

  private isLost(owner: OwnerRecord, leaseNow: number): boolean {
    const life = lifeOf(owner, this.parts.identity, this.parts.ledger.spans)
    const silentMs = this.silenceOf(owner)
    if (life === 'gone') return true
    return life === 'alive' ? silentMs >= (owner.leaseMs ?? this.parts.leaseMs) : leaseNow >= owner.leaseUntilMs
  }

  /** How long its row has said the same, as far as it was watched from here. */
  private silenceOf({ id, leaseUntilMs }: OwnerRecord): number {
    const atMs = this.parts.monotonicMs()
    const last = this.sightings.get(id)
    if (last?.leaseUntilMs === leaseUntilMs) return atMs - last.atMs
    this.sightings.set(id, { leaseUntilMs, atMs })
    return 0
  }

  private async tick(): Promise<void> {
    await this.renew()
    await this.takeOver(randomUUID())
  }

  /** Whether so long has passed since its last word that others may have taken over. */
  get isLate(): boolean {
    const { leaseMs, monotonicMs } = this.parts
    return monotonicMs() - this.renewedAtMs >= leaseMs
  }

  private async renew(): Promise<void> {
    const { ledger, leaseMs, identity, monotonicMs } = this.parts
    const beganAtMs = monotonicMs()
    const leaseUntilMs = (await ledger.leaseNow()) + leaseMs
    await ledger.heartbeat({ ...identity, startedAtMs: this.startedAtMs, leaseUntilMs, leaseMs })
    this.renewedAtMs = Math.max(this.renewedAtMs, beganAtMs)
  }

  /** Tasks of owners that the ledger does not know: it was removed while it still claimed. */
  private async takeOrphans(resumeId: string): Promise<number> {
    const { ledger, takeover } = this.parts
    const having = await ledger.taskOwners()
    // Read after the tasks: an owner has its row before it has a task.
    const known = new Set((await ledger.owners()).map(({ id }) => id))
    let taken = 0
    for (const id of having) if (!known.has(id)) taken += (await takeover.takeFrom(id, resumeId)).moved
    return taken
  }
}
