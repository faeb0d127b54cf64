/**
 * A task in the line of a budget: it joins, and leaves exactly once, with a grant, at the end of its patience, or
 * because its process stops. Imports core and its own layer.
 */
import type { Budget, BudgetRequest, Decision } from '../core/budget.js'
import { unusedOutcome } from '../core/gate.js'
import type { Timer } from '../core/time.js'
import type { Decided, View } from '../ledger/ledger.js'
import type { TaskRecord } from '../ledger/records.js'
import { type Definition, isConducted, runsOf } from './definition.js'
import { persistently } from './persistence.js'
import { type Begun, leaveLine, unpark } from './transitions.js'
import type { Worker } from './worker.js'

export class Parked implements Timer {
  private readonly worker: Worker
  private readonly definition: Definition
  readonly task: TaskRecord
  private readonly budget: Budget
  private readonly request: BudgetRequest
  private readonly onLeft: (after: Begun | undefined) => void
  private leave: (() => void) | undefined = undefined
  private left = false
  /** Granted, while there is no slot for it. */
  private holding: Decision | undefined = undefined
  private leaveSlots: (() => void) | undefined = undefined

  constructor(worker: Worker, definition: Definition, task: TaskRecord, onLeft: (after: Begun | undefined) => void) {
    const { gates } = worker.parts
    this.worker = worker
    this.definition = definition
    this.task = task
    this.budget = gates.budgetOf(definition) as Budget
    this.request = gates.request(definition, task, worker.ledgerMs) as BudgetRequest
    this.onLeft = onLeft
  }

  join(): void {
    const { environment } = this.worker.parts
    const line = environment.lineOf(this.budget)
    environment.schedule(this, environment.exactMs() + (this.task.dueAtMs as number) - this.worker.ledgerMs)
    line.joined()
    const leave = this.budget.park?.(this.request, (grant) => this.woken(grant))
    if (!this.left) this.leave = leave
    line.follow()
  }

  /** The end of its patience. */
  fire(): void {
    if (!this.close()) return
    this.leave?.()
    void this.write((task, now) => ({ ...leaveLine(task, now), epoch: 0 }))
  }

  /** The process stops: somebody else may take it. */
  release(): Promise<void> {
    if (!this.close() && !this.dropHeld()) return Promise.resolve()
    this.leave?.()
    return this.write((task, now) => ({ ...unpark(task, now), epoch: 0 }))
  }

  /** It never stood in line: the process stopped before it could. */
  turnAway(): Promise<void> {
    this.left = true
    return this.write((task, now) => ({ ...unpark(task, now), epoch: 0 }))
  }

  /** The task was taken from it. */
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

  /** The line has let it go; it may still have to wait for a slot of this process. */
  private useWhenFree(grant: Decision): void {
    const { slots, telling } = this.worker
    telling.decision(this.definition, this.task, 'grant', grant)
    if (!grant.allowed) {
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
    let used = !grant.allowed
    await this.write((task, now) => {
      if (!grant.allowed) return { ...leaveLine(task, now), epoch: 0 }
      const begun = this.worker.beginning.granted(this.definition, task, grant, now)
      if (begun.task.status !== 'running') return begun
      used = true
      this.worker.parts.gates.keep(task, { request: this.request, decision: grant })
      return begun
    })
    if (!used) this.giveBack(grant)
  }

  private giveBack(grant: Decision): void {
    if (!grant.allowed) return
    const { parts, ledgerMs } = this.worker
    parts.gates.tellEnd(this.budget, { request: this.request, decision: grant }, unusedOutcome(ledgerMs))
  }

  private close(): boolean {
    if (this.left) return false
    this.left = true
    const { environment } = this.worker.parts
    environment.cancel(this)
    environment.lineOf(this.budget).left()
    return true
  }

  private write(change: (task: TaskRecord, now: number) => Begun): Promise<void> {
    return this.worker.track(this.commit(change))
  }

  private async commit(change: (task: TaskRecord, now: number) => Begun): Promise<void> {
    const { ledger, gates, onFailure } = this.worker.parts
    try {
      const keys = { tasks: [this.task], gates: gates.keysOf(this.definition), runs: runsOf(this.definition) }
      const decide = (view: View): Decided<Begun | undefined> => {
        const current = view.task(this.task)
        if (current?.fence !== this.task.fence || current.owner !== this.task.owner) return { result: undefined }
        gates.refresh(this.definition, view)
        // Whoever conducts the run now begins it.
        const isOurs = isConducted(this.definition, view)
        const changed = isOurs ? change(current, view.now) : { ...unpark(current, view.now), epoch: 0 }
        return { ...changed, gates: gates.records(this.definition), result: changed }
      }
      const after = await persistently(
        () => ledger.transact(keys, decide),
        () => this.worker.stopped,
      )
      this.onLeft(after)
    } catch (error) {
      onFailure(error)
    }
  }
}
