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
import { HeartbeatThread } from './heartbeat-thread.js'
import { type Identity, lifeOf } from './identity.js'
import { otherOwner, type OtherOwner } from './other-owners.js'
import type { Takeover } from './takeover.js'

export interface OwnershipParts {
  readonly ledger: Ledger
  readonly identity: Identity
  readonly leaseMs: number
  /** This process's own time, which does not jump. */
  readonly monotonicMs: () => number
  /** Whether times are the system's, which another thread has too. */
  readonly isSystemTime: boolean
  /** What its row says of it: attempts that may run at a time, and that run. */
  readonly load: () => Pick<OwnerRecord, 'slots' | 'running'>
  /** Whether there are functions that could block the event loop. */
  readonly hasTasks: () => boolean
  /** Queues that it serves and that any process may serve. */
  readonly queues: () => readonly string[]
  readonly takeover: Takeover
  /** A stop waits for this work. */
  readonly track: <T>(work: Promise<T>) => Promise<T>
  /** Tasks were taken over, and may be due. */
  readonly onTaken: () => void
  readonly onFailure: (error: unknown) => void
}

/** A process that conducts a run; `isSeen`: it exists on this machine. */
interface Holder {
  readonly owner: OtherOwner
  readonly isSeen: boolean
}

interface Sighting {
  readonly leaseUntilMs: number
  readonly atMs: number
}

/** Queues that an owner's row names, at most. */
const MOST_QUEUES = 100

/** So long after the end of a lease it is looked whether the process is lost, and at most twice that. */
const LATE_LOOK_MS = 100

/** A program that ends before this pays for no thread, whatever its lease; with a longer lease, a sixth of that. */
const LEAST_AGE_OF_THREAD_MS = 1000

export class Ownership {
  private readonly parts: OwnershipParts
  private startedAtMs = 0
  private readonly living = new Set<string>()
  private readonly sightings = new Map<string, Sighting>()
  /** When this process began, by the ledger's time of tasks. */
  private begunAtMs = -Infinity
  /** Processes that lived when this one began, less those that turned out to be lost. */
  private readonly met = new Set<string>()
  /** As of the last look. */
  private livingOthers: readonly OwnerRecord[] = []
  private toldQueues = ''
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

  constructor(parts: OwnershipParts) {
    this.parts = parts
  }

  async begin(): Promise<void> {
    this.startedAtMs = await this.parts.ledger.leaseNow()
    await this.renew()
    this.begunAtMs = await this.parts.ledger.now()
    await this.lookAround(false)
    for (const id of this.living) this.met.add(id)
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
    const { ledger, identity, leaseMs, isSystemTime, hasTasks } = this.parts
    if (this.thread !== undefined || !isSystemTime || !hasTasks()) return
    const heartbeat = ledger.threadHeartbeat?.()
    if (heartbeat !== undefined) this.thread = new HeartbeatThread(heartbeat, identity.id, leaseMs)
  }

  private async endThread(): Promise<void> {
    this.mayHaveThread = false
    await this.thread?.end()
  }

  /**
   * When this process took up the wait of a task again: at its start, if no process that served the queue when the wait
   * was chosen was there any more. A task that is passed between living processes is not resumed, also if the one that
   * chose its wait has left since.
   */
  resumedAtMs({ progress, updatedAtMs, queue }: TaskRecord): number | undefined {
    const { waitChosenBy } = progress
    if (waitChosenBy === undefined || updatedAtMs >= this.begunAtMs || this.met.has(waitChosenBy)) return undefined
    const isServed = this.livingOthers.some(
      ({ id, startedAtMs, queues }) =>
        startedAtMs <= updatedAtMs && this.living.has(id) && queues?.includes(queue) === true,
    )
    return isServed ? undefined : this.begunAtMs
  }

  /** Whether what was written last at this time was there when this process came. */
  wasThere(updatedAtMs: number): boolean {
    return updatedAtMs < this.begunAtMs
  }

  /** Other processes that were believed to live at the last look and serve the queue, by id. */
  othersServing(queue: string): readonly string[] {
    return this.livingOthers.flatMap(({ id, queues }) => (queues?.includes(queue) === true ? [id] : []))
  }

  /** Other processes see at once which queues are served here. */
  async tellQueues(): Promise<void> {
    if (this.queuesText() !== this.toldQueues) await this.renew()
  }

  private queuesText(): string {
    const queues = this.parts.queues()
    return queues.length > MOST_QUEUES ? '' : JSON.stringify(queues.toSorted())
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

  /** Other processes that hold a lease. The row of one that is gone stays while it has tasks that nobody here knows. */
  async others(): Promise<OtherOwner[]> {
    const { ledger, identity } = this.parts
    const [now, owners] = [await ledger.leaseNow(), await ledger.owners()]
    return owners
      .filter(({ id }) => id !== identity.id)
      .map((owner) => otherOwner(owner, this.leaseLeftOf(owner, now)))
      .filter(({ leaseLeftMs }) => leaseLeftMs > 0)
  }

  /**
   * The process that holds the runs of this owner; undefined if it is gone. One that is seen to exist holds them, however
   * long it has said nothing (SIGSTOP, a debugger): it may be in the middle of a step, and only `force` takes its runs.
   */
  async holderOf(id: string): Promise<Holder | undefined> {
    const { ledger, identity } = this.parts
    const owner = (await ledger.owners()).find((other) => other.id === id)
    if (owner === undefined) return undefined
    const [leaseNow, life] = [await ledger.leaseNow(), lifeOf(owner, identity, ledger.spans)]
    if (life === 'gone' || (life === 'unseen' && leaseNow >= owner.leaseUntilMs)) return undefined
    return { owner: otherOwner(owner, this.leaseLeftOf(owner, leaseNow)), isSeen: life === 'alive' }
  }

  private leaseLeftOf(owner: OwnerRecord, leaseNow: number): number {
    const { ledger, identity, leaseMs, monotonicMs } = this.parts
    const silentMs = monotonicMs() - (this.sightings.get(owner.id)?.atMs ?? monotonicMs())
    const life = lifeOf(owner, identity, ledger.spans)
    if (life === 'gone') return 0
    return Math.max(0, life === 'alive' ? (owner.leaseMs ?? leaseMs) - silentMs : owner.leaseUntilMs - leaseNow)
  }

  /** Remembers who lives; answers with those who do not. */
  private async lookAround(force: boolean): Promise<OwnerRecord[]> {
    const { ledger, identity } = this.parts
    const [leaseNow, owners] = [await ledger.leaseNow(), await ledger.owners()]
    const lost = owners.filter((owner) => owner.id !== identity.id && (this.isLost(owner, leaseNow) || force))
    this.living.clear()
    for (const owner of owners) if (!lost.includes(owner)) this.living.add(owner.id)
    const known = new Set(owners.map(({ id }) => id))
    for (const id of this.sightings.keys()) if (!known.has(id)) this.sightings.delete(id)
    // One that did not leave in order was no living process that passed its tasks on.
    for (const { id } of lost) this.met.delete(id)
    this.lookedAroundAtMs = this.parts.monotonicMs()
    this.livingOthers = owners.filter((owner) => owner.id !== identity.id && this.living.has(owner.id))
    this.lookAtLeaseEnd(this.livingOthers.map((owner) => this.leaseLeftOf(owner, leaseNow)))
    return lost
  }

  /** Of the leases that are known, the first may end long before the next look. */
  private lookAtLeaseEnd(leasesLeftMs: readonly number[]): void {
    const { leaseMs, track, onFailure } = this.parts
    clearTimeout(this.leaseEndTimer)
    const firstMs = leasesLeftMs.reduce((least, left) => Math.min(least, left), Infinity)
    if (firstMs > leaseMs / 3 || this.isEnded) return
    // Not all processes at once.
    const delayMs = firstMs + LATE_LOOK_MS * (1 + Math.random())
    const look = (): void => void track(this.takeOver(randomUUID())).catch(onFailure)
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
    const queues = this.queuesText()
    const load = { ...this.parts.load(), ...(queues !== '' && { queues: JSON.parse(queues) as string[] }) }
    await ledger.heartbeat({ ...identity, startedAtMs: this.startedAtMs, leaseUntilMs, leaseMs, ...load })
    this.renewedAtMs = Math.max(this.renewedAtMs, beganAtMs)
    this.toldQueues = queues
    this.thread?.renewed(monotonicMs() - beganAtMs)
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
