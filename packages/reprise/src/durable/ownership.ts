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
import { type Identity, lifeOf } from './identity.js'
import { otherOwner, type OtherOwner } from './other-owners.js'
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

interface Sighting {
  readonly leaseUntilMs: number
  readonly atMs: number
}

const BATCH = 500
/** Queues that an owner's row names, at most. */
const MOST_QUEUES = 100

/** So long after the end of a lease it is looked whether the process is lost, and at most twice that. */
const LATE_LOOK_MS = 100

/** A program that ends before this pays for no thread, whatever its lease; with a longer lease, a sixth of that. */
const LEAST_AGE_OF_THREAD_MS = 1000

export class Ownership {
  private readonly parts: OwnershipParts
  private readonly worker: Worker
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

  constructor(parts: OwnershipParts, worker: Worker) {
    this.parts = parts
    this.worker = worker
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
    const { ledger, identity, leaseMs, isSystemTime } = this.parts
    if (this.thread !== undefined || !isSystemTime || this.worker.definitions.size === 0) return
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

  /** Other processes see at once which queues are served here. */
  async tellQueues(): Promise<void> {
    if (this.queuesText() !== this.toldQueues) await this.renew()
  }

  private queuesText(): string {
    const shared = [...this.worker.definitions.values()].filter(({ conductor }) => conductor === undefined)
    return shared.length > MOST_QUEUES ? '' : JSON.stringify(shared.map(({ queue }) => queue).toSorted())
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
    const queues = this.queuesText()
    const load = { slots: parts.concurrency, running, ...(queues !== '' && { queues: JSON.parse(queues) as string[] }) }
    await ledger.heartbeat({ ...identity, startedAtMs: this.startedAtMs, leaseUntilMs, leaseMs, ...load })
    this.renewedAtMs = Math.max(this.renewedAtMs, beganAtMs)
    this.toldQueues = queues
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
