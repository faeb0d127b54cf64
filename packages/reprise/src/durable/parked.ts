/**
 * A task in the line of a budget: it joins the line, and leaves exactly once: with a grant, when its time in the line is
 * over, or because its process stops. Imports core and its own layer.
 */
import type { Budget, BudgetRequest, Decision } from '../core/budget.js'
import { PARK_EXPIRED, unusedOutcome } from '../core/gate.js'
import type { Timer } from '../core/time.js'
import type { TaskRecord } from '../ledger/records.js'
import type { Environment } from '../runtime/environment.js'
import type { Activity } from './activity.js'
import type { TaskAdmission } from './admission.js'
import type { Definition } from './definition.js'
import type { GateBook } from './gate-book.js'
import type { LedgerClock } from './ledger-clock.js'
import type { Slots } from './slots.js'
import type { TaskEvents } from './task-events.js'
import type { TaskView, TaskWriter } from './task-writer.js'
import { type Begun, leaveLine, unpark } from './transitions.js'

export interface ParkedPorts {
  readonly environment: Environment
  readonly gates: GateBook
  readonly slots: Slots
  readonly writer: TaskWriter
  readonly admission: TaskAdmission
  readonly events: TaskEvents
  readonly activity: Activity
  readonly clock: LedgerClock
  readonly onFailure: (error: unknown) => void
}

/** A task that could stay in the line for a shorter time than this waits until an attempt ends, or for the next poll. */
const LEAST_STAY_MS = 100

export class Parked implements Timer {
  private readonly ports: ParkedPorts
  readonly definition: Definition
  readonly task: TaskRecord
  private readonly budget: Budget
  private readonly request: BudgetRequest
  private readonly onLeft: (after: Begun | undefined, deniedBecause: string | undefined) => void
  private leave: (() => void) | undefined = undefined
  private left = false
  /** Why the line let it go without a grant, if it did. */
  private deniedBecause: string | undefined = undefined
  /** The grant, while there is no slot for the attempt. */
  private holding: Decision | undefined = undefined
  private leaveSlots: (() => void) | undefined = undefined

  /** `onLeft`: what the task became (undefined if another process has it), and why it got no grant, if it got none. */
  constructor(
    ports: ParkedPorts,
    definition: Definition,
    task: TaskRecord,
    onLeft: (after: Begun | undefined, deniedBecause: string | undefined) => void,
  ) {
    const { gates, clock } = ports
    this.ports = ports
    this.definition = definition
    this.task = task
    this.budget = gates.budgetOf(definition) as Budget
    this.request = gates.request(definition, task, clock.nowMs) as BudgetRequest
    this.onLeft = onLeft
  }

  join(): void {
    const { environment, clock } = this.ports
    const line = environment.lineOf(this.budget)
    environment.schedule(this, environment.exactMs() + (this.task.dueAtMs as number) - clock.nowMs)
    line.joined()
    const leave = this.budget.park?.(this.request, (grant) => this.woken(grant))
    if (!this.left) this.leave = leave
    line.follow()
  }

  /** Its time in the line is over. */
  fire(): void {
    if (!this.close()) return
    this.leave?.()
    // Back in the line at once; but a budget whose line is left at once would make that a loop.
    const { dueAtMs, updatedAtMs } = this.task
    if ((dueAtMs as number) - updatedAtMs < LEAST_STAY_MS) this.deniedBecause = PARK_EXPIRED.reason
    if (this.definition.whenDenied === 'hold')
      this.ports.events.decision(this.definition, this.task, 'grant', PARK_EXPIRED)
    void this.write((view) => this.leftWithoutGrant(view))
  }

  /** Without a grant the task is over, or goes back to the queue; one that is out of time is over in any case. */
  private leftWithoutGrant(view: TaskView): Begun {
    const { task, now } = view
    const { deadlineAtMs } = task.progress.retry
    const isLate = deadlineAtMs !== null && now >= deadlineAtMs
    if (this.definition.whenDenied === 'hold' && !isLate) return backToQueue(view)
    return { ...leaveLine(task, this.definition.policy.budget?.name ?? '', now), epoch: 0 }
  }

  /** The process stops: another one may take the task. */
  release(): Promise<void> {
    if (!this.close() && !this.dropHeld()) return Promise.resolve()
    this.leave?.()
    return this.write(backToQueue)
  }

  /** The process stopped before the task could join the line. */
  turnAway(): Promise<void> {
    this.left = true
    return this.write(backToQueue)
  }

  /** The task was taken from this process. */
  abandon(): void {
    if (this.close()) this.leave?.()
    else this.dropHeld()
  }

  /** Gives back a grant that has not become an attempt; false if there is none. */
  private dropHeld(): boolean {
    if (this.holding === undefined) return false
    this.leaveSlots?.()
    this.giveBack(this.holding)
    this.holding = undefined
    return true
  }

  private woken(grant: Decision): void {
    if (!this.close()) {
      this.giveBack(grant)
      return
    }
    this.useWhenFree(grant)
  }

  /** Out of the line, the task may still have to wait for a slot of this process. */
  private useWhenFree(grant: Decision): void {
    const { slots, events } = this.ports
    events.decision(this.definition, this.task, 'grant', grant)
    if (!grant.allowed) {
      this.deniedBecause = grant.reason
      void this.use(grant)
      return
    }
    this.holding = grant
    this.leaveSlots = slots.whenFree(() => {
      this.holding = undefined
      slots.take()
      void this.use(grant).finally(() => slots.give())
    })
  }

  private async use(grant: Decision): Promise<void> {
    const { admission, gates } = this.ports
    let used = !grant.allowed
    await this.write((view) => {
      const { task, now } = view
      if (!grant.allowed) return this.leftWithoutGrant(view)
      const begun = admission.startGranted(this.definition, task, grant, now)
      if (begun.task.status !== 'running') return begun
      used = true
      gates.keep(task, { request: this.request, decision: grant })
      return begun
    })
    if (!used) this.giveBack(grant)
  }

  private giveBack(grant: Decision): void {
    if (!grant.allowed) return
    const { gates, clock } = this.ports
    gates.tellEnd(this.budget, { request: this.request, decision: grant }, unusedOutcome(clock.nowMs))
  }

  private close(): boolean {
    if (this.left) return false
    this.left = true
    const { environment } = this.ports
    environment.cancel(this)
    environment.lineOf(this.budget).left()
    return true
  }

  private write(change: (view: TaskView) => Begun): Promise<void> {
    return this.ports.activity.track(this.commit(change))
  }

  private async commit(change: (view: TaskView) => Begun): Promise<void> {
    const { writer, onFailure } = this.ports
    const { definition, task } = this
    try {
      const after = await writer.write<Begun>({
        definition,
        key: task,
        heldAs: task,
        isOutcome: true,
        decide: (view) => {
          // If another process conducts the run by now, that one begins the task.
          const changes = view.isConducted ? change(view) : backToQueue(view)
          return { changes, result: changes }
        },
      })
      this.onLeft(after, this.deniedBecause)
    } catch (error) {
      onFailure(error)
    }
  }
}

function backToQueue({ task, now }: TaskView): Begun {
  return { ...unpark(task, now), epoch: 0 }
}
