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
import type { Ledger, Tally } from '../ledger/ledger.js'
import type { OwnerRecord, TaskKey, TaskRecord } from '../ledger/records.js'
import { isStill } from './adoption.js'
import type { Definition } from './definition.js'
import { HeartbeatThread } from './heartbeat-thread.js'
import { type Identity, lifeOf, ownIdentity } from './identity.js'
import { faultsOfHistory, faultsOfState } from './state-check.js'
import { withoutProbe } from './shared-breaker.js'
import { eventOf, interrupt, withoutSlot } from './transitions.js'
import type { Worker } from './worker.js'

export interface OwnershipParts {
  readonly ledger: Ledger
  readonly identity: Identity
  readonly leaseMs: number
  /** This process's own time, which does not jump. */
  readonly monotonicMs: () => number
  /** Whether times are the system's, which another thread has too. */
  readonly isSystemTime: boolean
  readonly onFailure: (error: unknown) => void
}

/** A process that holds its lease, as seen from here. */
export interface OtherOwner
  extends Pick<OwnerRecord, 'host' | 'pid' | 'startedAtMs' | 'role' | 'site' | 'version' | 'slots' | 'running'> {
  /** Without another renewal its tasks are taken over after this time. */
  readonly leaseLeftMs: number
}

interface Sighting {
  readonly leaseUntilMs: number
  readonly atMs: number
}

const BATCH = 500

/** So long after the end of a lease it is looked whether the process is lost, and at most twice that. */
const LATE_LOOK_MS = 100

/** A program that ends before this pays for no thread, whatever its lease; with a longer lease, a sixth of that. */
const LEAST_AGE_OF_THREAD_MS = 1000

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
  return new Map(living.map((owner) => [owner.id, otherOwner(owner, Math.max(0, owner.leaseUntilMs - now))]))
}

function otherOwner(owner: OwnerRecord, leaseLeftMs: number): OtherOwner {
  const { host, pid, startedAtMs, role, site, version, slots, running } = owner
  const about = Object.entries({ role, site, version, slots, running }).filter(([, value]) => value !== undefined)
  return { host, pid, startedAtMs, ...Object.fromEntries(about), leaseLeftMs }
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
  private readonly worker: Worker
  private startedAtMs = 0
  private readonly living = new Set<string>()
  private readonly sightings = new Map<string, Sighting>()
  private seenAtMs = -Infinity
  /** The last look, in this process's own time. */
  private lookedAroundAtMs = -Infinity
  private leaseEndTimer: NodeJS.Timeout | undefined = undefined
  private lookedAtMs = -Infinity
  private timer: NodeJS.Timeout | undefined = undefined
  private threadTimer: NodeJS.Timeout | undefined = undefined
  private mayHaveThread = false
  private isEnded = false
  private thread: HeartbeatThread | undefined = undefined
  private ticking: Promise<unknown> = Promise.resolve()
  private renewedAtMs = -Infinity

  constructor(parts: OwnershipParts, worker: Worker) {
    this.parts = parts
    this.worker = worker
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
    const ageMs = Math.max(LEAST_AGE_OF_THREAD_MS, this.parts.leaseMs / 6)
    this.threadTimer = setTimeout(() => {
      this.mayHaveThread = true
      this.startThread()
    }, ageMs).unref()
  }

  /** Says nothing more: the lease runs out. */
  halt(): void {
    this.stopTimers()
    void this.endThread()
  }

  private stopTimers(): void {
    this.isEnded = true
    clearInterval(this.timer)
    clearTimeout(this.leaseEndTimer)
    clearTimeout(this.threadTimer)
  }

  /** Only where there are functions that could block the event loop. */
  private startThread(): void {
    const { ledger, identity, leaseMs, isSystemTime } = this.parts
    if (this.thread !== undefined || !isSystemTime || this.worker.definitions.size === 0) return
    const heartbeat = ledger.threadHeartbeat?.()
    if (heartbeat !== undefined) this.thread = new HeartbeatThread(heartbeat, identity.id, leaseMs)
  }

  private async endThread(): Promise<void> {
    this.mayHaveThread = false
    await this.thread?.end()
  }

  /** Whether the process that wrote the task's wait is not there any more. */
  isResumed({ progress, updatedAtMs }: TaskRecord): boolean {
    const { waitChosenBy } = progress
    // Who came after the last look around is not known here yet.
    return waitChosenBy !== undefined && updatedAtMs <= this.seenAtMs && !this.living.has(waitChosenBy)
  }

  async end(): Promise<void> {
    this.stopTimers()
    await this.endThread()
    // A late word would put the row back.
    await this.ticking
    await this.parts.ledger.removeOwner(this.parts.identity.id)
  }

  /** Takes over what lost owners left, or with `force` everybody else; answers how many tasks. */
  async takeOver(resumeId: string, force = false): Promise<number> {
    const { ledger, identity } = this.parts
    let taken = await this.takeOrphans(resumeId)
    for (const owner of await this.lookAround(force)) {
      const { moved, left } = await this.takeFrom(owner.id, resumeId)
      taken += moved
      // One that may live goes on claiming, and has its row before it has a task.
      if (left === 0 && lifeOf(owner, identity, ledger.spans) === 'gone') await ledger.removeOwner(owner.id)
    }
    if (taken > 0) this.worker.wake()
    return taken
  }

  /** Looks again, unless that was done within the last second. */
  lookSoon(): void {
    const { monotonicMs, onFailure } = this.parts
    if (monotonicMs() - this.lookedAtMs < 1000) return
    this.lookedAtMs = monotonicMs()
    void this.worker.track(this.takeOver(randomUUID())).catch(onFailure)
  }

  /** Who else holds a lease. */
  async others(): Promise<OtherOwner[]> {
    const { ledger, identity } = this.parts
    const [now, owners] = [await ledger.leaseNow(), await ledger.owners()]
    return owners
      .filter(({ id }) => id !== identity.id)
      .map((owner) => otherOwner(owner, this.leaseLeftOf(owner, now)))
      .filter(({ leaseLeftMs }) => leaseLeftMs > 0)
  }

  /** Who holds what this owner has; undefined if it is lost. */
  async holderOf(id: string): Promise<OtherOwner | undefined> {
    const { ledger } = this.parts
    const owner = (await ledger.owners()).find((other) => other.id === id)
    if (owner === undefined || this.isLost(owner, await ledger.leaseNow())) return undefined
    return otherOwner(owner, this.leaseLeftOf(owner, await ledger.leaseNow()))
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
    this.lookedAroundAtMs = this.parts.monotonicMs()
    const others = owners.filter((owner) => owner.id !== identity.id && this.living.has(owner.id))
    this.lookAtLeaseEnd(others.map((owner) => this.leaseLeftOf(owner, leaseNow)))
    return lost
  }

  /** Of the leases that are known, the first may end long before the next look. */
  private lookAtLeaseEnd(leasesLeftMs: readonly number[]): void {
    const { leaseMs, onFailure } = this.parts
    clearTimeout(this.leaseEndTimer)
    const firstMs = leasesLeftMs.reduce((least, left) => Math.min(least, left), Infinity)
    if (firstMs > leaseMs / 3 || this.isEnded) return
    // Not all processes at once.
    const delayMs = firstMs + LATE_LOOK_MS * (1 + Math.random())
    const look = (): void => void this.worker.track(this.takeOver(randomUUID())).catch(onFailure)
    this.leaseEndTimer = setTimeout(look, delayMs).unref()
  }

  private isLost(owner: OwnerRecord, leaseNow: number): boolean {
    const life = lifeOf(owner, this.parts.identity, this.parts.ledger.spans)
    const silentMs = this.silenceOf(owner, leaseNow)
    if (life === 'gone') return true
    return life === 'alive' ? silentMs >= (owner.leaseMs ?? this.parts.leaseMs) : leaseNow >= owner.leaseUntilMs
  }

  /** How long its row has said the same, as far as it was watched from here. */
  private silenceOf({ id, leaseUntilMs, leaseMs }: OwnerRecord, leaseNow: number): number {
    const nowMs = this.parts.monotonicMs()
    const last = this.sightings.get(id)
    if (last?.leaseUntilMs === leaseUntilMs) return nowMs - last.atMs
    // Renewed since the last look: when, the row says, by a clock that may have been set meanwhile.
    const sinceLookMs = last === undefined ? 0 : nowMs - this.lookedAroundAtMs
    const saidMs = leaseMs === undefined ? 0 : leaseNow - (leaseUntilMs - leaseMs)
    const silentMs = Math.max(0, Math.min(saidMs, sinceLookMs))
    this.sightings.set(id, { leaseUntilMs, atMs: nowMs - silentMs })
    return silentMs
  }

  private async tick(): Promise<void> {
    await this.renew()
    if (this.mayHaveThread) this.startThread()
    await this.takeOver(randomUUID())
  }

  /** Whether so long has passed since its last word that others may have taken over. */
  get isLate(): boolean {
    const { leaseMs, monotonicMs } = this.parts
    return Math.min(monotonicMs() - this.renewedAtMs, this.thread?.silentMs ?? Infinity) >= leaseMs
  }

  private async renew(): Promise<void> {
    const { ledger, leaseMs, identity, monotonicMs } = this.parts
    const beganAtMs = monotonicMs()
    const leaseUntilMs = (await ledger.leaseNow()) + leaseMs
    const { parts, running } = this.worker
    const load = { slots: parts.concurrency, running }
    await ledger.heartbeat({ ...identity, startedAtMs: this.startedAtMs, leaseUntilMs, leaseMs, ...load })
    this.renewedAtMs = Math.max(this.renewedAtMs, beganAtMs)
    this.thread?.renewed(monotonicMs() - beganAtMs)
  }

  /** Tasks of owners that the ledger does not know: it was removed while it still claimed. */
  private async takeOrphans(resumeId: string): Promise<number> {
    const { ledger } = this.parts
    const having = await ledger.taskOwners()
    // Read after the tasks: an owner has its row before it has a task.
    const known = new Set((await ledger.owners()).map(({ id }) => id))
    let taken = 0
    for (const id of having) if (!known.has(id)) taken += (await this.takeFrom(id, resumeId)).moved
    return taken
  }

  /** Tasks that this program does not know are left for one that does. */
  private async takeFrom(owner: string, resumeId: string): Promise<{ moved: number; left: number }> {
    const { ledger } = this.parts
    let [moved, left] = [0, 0]
    let after: TaskRecord | undefined
    for (;;) {
      const tasks = await ledger.list({ owner, limit: BATCH, ...(after && { after }) })
      const taken = await this.takeAll(tasks, resumeId)
      moved += taken
      left += tasks.length - taken
      after = tasks.at(-1)
      if (tasks.length < BATCH) return { moved, left }
    }
  }

  private async takeAll(tasks: readonly TaskRecord[], resumeId: string): Promise<number> {
    const results = await Promise.all(tasks.map((task) => this.takeOne(task, resumeId)))
    return results.filter(Boolean).length
  }

  private async takeOne(task: TaskRecord, resumeId: string): Promise<boolean> {
    const { ledger } = this.parts
    const { definitions, due, telling, parts } = this.worker
    const definition = definitions.get(task.queue)
    if (definition === undefined) {
      await freeProbe(ledger, task)
      return false
    }
    const [tally] = await ledger.tallies([task])
    const faults = [...faultsOfState(task, definition.policy.attempts), ...faultsOfHistory(task, tally as Tally)]
    if (faults.length > 0) {
      if (await isStill(ledger, task)) due.refuse(definition, task, faults)
      return false
    }
    const { gates } = parts
    const keys = { tasks: [task] as readonly TaskKey[], gates: gates.keysOf(definition) }
    const after = await ledger.transact(keys, (view) => {
      const current = view.task(task)
      if (current === undefined || current.fence !== task.fence || current.owner !== task.owner)
        return { result: undefined }
      gates.refresh(definition, view)
      const retryGates = gates.retryGates(definition, current, view.now)
      const carried = { ...current, progress: { ...current.progress, resumeId } }
      const changes = interrupt(carried, definition.policy, definition.onInterrupt, false, retryGates, view.now)
      gates.giveUp(definition, current, changes.task, view.now)
      const resumed = eventOf('resumed', current, view.now, { from: task.owner, resumeId })
      const events = [...(changes.events ?? []), resumed]
      return { ...changes, gates: gates.records(definition), events, result: changes.task }
    })
    if (after === undefined) return false
    gates.committed(definition)
    telling.resumed(definition, after, task.owner ?? '')
    this.tellInterrupted(definition, task, after)
    return true
  }

  private tellInterrupted(definition: Definition, before: TaskRecord, after: TaskRecord): void {
    const { telling, parts } = this.worker
    telling.interrupted(definition, before, false)
    // Interrupted too often: it counts as an attempt that failed.
    if (before.progress.current !== null && after.progress.current === null) {
      telling.finished(definition, before, { outcome: 'interrupted' }, after.updatedAtMs)
      telling.followed(definition, after)
    }
    if (after.status === 'failed' || after.status === 'undecided') parts.waiters.settled(after)
  }
}

/**
 * The attempt of a lost process holds a slot of a breaker that others use, who know nothing of its task: the slot goes
 * back, and the task is left as it is. If the process lives after all, the breaker does not hear of its result.
 */
async function freeProbe(ledger: Ledger, task: TaskRecord): Promise<void> {
  const probe = task.progress?.current?.probe
  if (probe === undefined) return
  const key = `breaker:${probe.breaker}`
  await ledger.transact({ tasks: [task], gates: [key] }, (view) => {
    const current = view.task(task)
    const gate = view.gate(key)
    const isHeld = current?.fence === task.fence && current.progress.current?.probe !== undefined
    if (!isHeld || gate === undefined) return { result: undefined }
    const free = { ...gate, state: withoutProbe(gate.state, probe.epoch) }
    return { tasks: [withoutSlot(current)], gates: [free], result: undefined }
  })
}
