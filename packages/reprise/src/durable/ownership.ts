/**
 * Who owns tasks: this process says so with one row that it renews; of others that do not, the tasks are taken over.
 * Any process may do that, there is no leader. Imports the ledger's port and its own layer.
 *
 * Invariant: tasks of an owner are touched only once its process is certainly gone or its lease has run out, and every
 * one in a transaction that raises its fence.
 */
import type { Ledger } from '../ledger/ledger.js'
import type { OwnerRecord, TaskRecord } from '../ledger/records.js'
import type { Definition } from './definition.js'
import type { GateBook } from './gate-book.js'
import { type Identity, isGone, ownIdentity } from './identity.js'
import { interrupt, eventOf } from './transitions.js'

export interface OwnershipParts {
  readonly ledger: Ledger
  readonly gates: GateBook
  readonly definitions: ReadonlyMap<string, Definition>
  readonly leaseMs: number
  readonly onFailure: (error: unknown) => void
  /** Tasks have become due. */
  readonly onTaken: () => void
}

const BATCH = 500

export class Ownership {
  readonly identity: Identity
  private readonly parts: OwnershipParts
  private startedAtMs = 0
  private readonly living = new Set<string>()
  private seenAtMs = -Infinity
  private timer: NodeJS.Timeout | undefined = undefined

  constructor(parts: OwnershipParts) {
    this.parts = parts
    this.identity = ownIdentity()
  }

  async begin(): Promise<void> {
    this.startedAtMs = await this.parts.ledger.now()
    await this.renew()
    await this.lookAround()
    this.timer = setInterval(() => void this.tick().catch(this.parts.onFailure), this.parts.leaseMs / 3)
    this.timer.unref()
  }

  /** Says nothing more: the lease runs out. */
  halt(): void {
    clearInterval(this.timer)
  }

  /** Whether the process that wrote the task's wait is not there any more. */
  isResumed({ progress, updatedAtMs }: TaskRecord): boolean {
    const { restedBy } = progress
    // Who came after the last look around is not known here yet.
    return restedBy !== undefined && updatedAtMs <= this.seenAtMs && !this.living.has(restedBy)
  }

  async end(): Promise<void> {
    clearInterval(this.timer)
    await this.parts.ledger.removeOwner(this.identity.id)
  }

  /** Takes over what lost owners left; answers how many tasks. `resumeId` joins what is written about it. */
  async takeOver(resumeId: string | null): Promise<number> {
    const { ledger, onTaken } = this.parts
    let taken = await this.takeOrphans(resumeId)
    for (const owner of await this.lookAround()) {
      const { moved, left } = await this.takeFrom(owner, resumeId)
      taken += moved
      if (left === 0) await ledger.removeOwner(owner.id)
    }
    if (taken > 0) onTaken()
    return taken
  }

  /** Remembers who lives; answers with those who do not. */
  private async lookAround(): Promise<OwnerRecord[]> {
    const { ledger } = this.parts
    const now = await ledger.now()
    const owners = await ledger.owners()
    const lost = owners.filter((owner) => owner.id !== this.identity.id && this.isLost(owner, now))
    this.living.clear()
    for (const owner of owners) if (!lost.includes(owner)) this.living.add(owner.id)
    this.seenAtMs = now
    return lost
  }

  /** Tasks of owners that the ledger does not know: it was removed while it still claimed. */
  private async takeOrphans(resumeId: string | null): Promise<number> {
    const { ledger, definitions } = this.parts
    let taken = 0
    let after: TaskRecord | undefined
    for (;;) {
      const filter = { statuses: ['running', 'parked'] as const, limit: BATCH, ...(after && { after }) }
      const tasks = await ledger.list(filter)
      // Read after the tasks: an owner has its row before it has a task.
      const owners = new Set((await ledger.owners()).map(({ id }) => id))
      const orphans = tasks.filter(({ owner, queue }) => !owners.has(owner ?? '') && definitions.has(queue))
      const results = await Promise.all(orphans.map((task) => this.interruptOne(task, resumeId)))
      taken += results.filter(Boolean).length
      after = tasks.at(-1)
      if (tasks.length < BATCH) return taken
    }
  }

  private isLost(owner: OwnerRecord, now: number): boolean {
    return now >= owner.leaseUntilMs || isGone(owner, this.identity)
  }

  private async tick(): Promise<void> {
    await this.renew()
    await this.takeOver(null)
  }

  private async renew(): Promise<void> {
    const { ledger, leaseMs } = this.parts
    const leaseUntilMs = (await ledger.now()) + leaseMs
    await ledger.heartbeat({ ...this.identity, startedAtMs: this.startedAtMs, leaseUntilMs })
  }

  /** Tasks that this program does not know are left for one that does. */
  private async takeFrom(owner: OwnerRecord, resumeId: string | null): Promise<{ moved: number; left: number }> {
    const { ledger, definitions } = this.parts
    let [moved, left] = [0, 0]
    let after: TaskRecord | undefined
    for (;;) {
      const tasks = await ledger.list({ owner: owner.id, limit: BATCH, ...(after && { after }) })
      const known = tasks.filter(({ queue }) => definitions.has(queue))
      left += tasks.length - known.length
      const results = await Promise.all(known.map((task) => this.interruptOne(task, resumeId)))
      moved += results.filter(Boolean).length
      after = tasks.at(-1)
      if (tasks.length < BATCH) return { moved, left }
    }
  }

  private async interruptOne(task: TaskRecord, resumeId: string | null): Promise<boolean> {
    const { ledger, gates, definitions } = this.parts
    const definition = definitions.get(task.queue) as Definition
    return ledger.transact({ tasks: [task], gates: gates.keysOf(definition) }, (view) => {
      const current = view.task(task)
      if (current === undefined || current.fence !== task.fence || current.owner !== task.owner)
        return { result: false }
      const { policy, onInterrupt } = definition
      gates.refresh(definition, view)
      const retryGates = gates.retryGates(definition, current, view.now)
      const changes = interrupt(current, policy, onInterrupt, false, retryGates, view.now)
      gates.giveUp(definition, current, changes.task, view.now)
      const resumed = eventOf('resumed', current, view.now, { from: task.owner, resumeId })
      return {
        ...changes,
        gates: gates.records(definition),
        events: [...(changes.events ?? []), resumed],
        result: true,
      }
    })
  }
}
