/**
 * A budget of a client, and those who stand in its line: polled when it asks to be, while somebody waits.
 * Imports core and the simulator's parts.
 */
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../core/budget.js'
import { giveBack } from '../core/gate.js'
import { type EventQueue, SimulatedEvent } from './event-queue.js'
import type { Stage } from './client.js'

export class Line extends SimulatedEvent {
  readonly budget: Budget
  private readonly events: EventQueue
  private readonly stage: Stage
  private parked = 0
  private polledAtMs = -Infinity

  constructor(stage: Stage, budget: Budget) {
    super()
    this.stage = stage
    this.events = stage.events
    this.budget = budget
  }

  /** Calls `onGrant` with the grant, or leave it. */
  join(request: BudgetRequest, onGrant: (grant: Decision) => void): () => void {
    let left = false
    const close = (): boolean => {
      if (left) return false
      left = true
      this.parked--
      return true
    }
    this.parked++
    const leave = this.budget.park?.(request, (grant) => {
      if (close()) onGrant(grant)
    })
    this.follow()
    return () => {
      if (!close()) return
      leave?.()
      this.follow()
    }
  }

  /** The outcome is known to the caller, though the operation may still run. */
  conclude(request: BudgetRequest, outcome: AttemptOutcome): void {
    this.budget.conclude?.(request, outcome)
    this.follow()
  }

  /** The operation has ended. */
  settle(decision: Decision, request: BudgetRequest, outcome: AttemptOutcome): void {
    giveBack(this.budget, decision, request, outcome)
    this.follow()
  }

  /** Both at one moment. */
  giveBack(decision: Decision, request: BudgetRequest, outcome: AttemptOutcome): void {
    this.conclude(request, outcome)
    this.settle(decision, request, outcome)
  }

  /** The budget asked to be polled now. */
  fire(): void {
    this.polledAtMs = this.events.now
    this.budget.poll?.(this.events.now, this.stage.random)
    this.follow()
  }

  private follow(): void {
    const wanted = this.parked === 0 ? Infinity : (this.budget.wakeAtMs?.() ?? Infinity)
    const at = Math.max(wanted, this.polledAtMs + 1)
    if (at === Infinity) this.events.cancel(this)
    else if (!this.scheduled || this.dueMs !== at) this.events.schedule(this, at)
  }
}
