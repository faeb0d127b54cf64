/**
 * A first attempt with a time limit: a promise, and one entry in the wheel that serves the attempt's limit and the
 * call's, whichever comes first. Imports core and the runtime's parts.
 */
import type { Budget } from '../core/budget.js'
import type { Start } from '../core/decide.js'
import type { Timer } from '../core/time.js'
import { type AsyncScope, captureScope } from './async-context.js'
import { Attempt } from './attempt.js'
import { Call, type Settle } from './call.js'
import { Context, FIRST, type Limited, type Operation, outcomeOf } from './context.js'
import type { Inspector } from './inspection.js'
import type { Plan } from './plan.js'
import { isDeferred, type WheelLinks } from './timer-wheel.js'

export class TimedFirst implements Timer, WheelLinks, Limited {
  wheelNext = undefined
  wheelPrev = undefined
  wheelDue = 0
  private readonly plan: Plan
  private readonly operation: Operation<unknown>
  private readonly inspector: Inspector | null
  private readonly start: Start
  private readonly budget: Budget | undefined
  /** Whole milliseconds of the turn; the exact time where somebody looks. */
  private readonly started: number
  private readonly isTick: boolean
  private readonly context: Context
  private readonly scope: AsyncScope | null
  private resolve: Settle | undefined = undefined
  private reject: Settle | undefined = undefined
  /** There once the time is over and the call goes on without the operation. */
  private abandoned: Attempt | undefined = undefined

  constructor(
    plan: Plan,
    operation: Operation<unknown>,
    inspector: Inspector | null,
    start: Start,
    budget: Budget | undefined,
  ) {
    const { environment, policy } = plan
    const { timeoutMs } = policy
    this.isTick = inspector === null && environment.countsFromTurn
    this.started = this.isTick ? environment.turnTick() : environment.exactMs()
    this.plan = plan
    this.operation = operation
    this.inspector = inspector
    this.start = start
    this.budget = budget
    this.context = new Context(plan, FIRST, undefined, timeoutMs === undefined ? null : this)
    this.scope = captureScope()
  }

  private get startMs(): number {
    return this.isTick ? this.plan.environment.msOf(this.started) : this.started
  }

  /** What the operation is told. A busy turn's reading may be older than the start, so it may be early by that. */
  get deadlineAtMs(): number | null {
    const { timeoutMs } = this.plan.policy
    return timeoutMs === undefined ? null : this.startMs + timeoutMs
  }

  /** What the deadline counts from, which outlives the attempt: no earlier than the call began. */
  private get begunMs(): number {
    const { environment, firstLimitMs } = this.plan
    if (!this.isTick) return this.started
    // The turn goes on: how old its reading was when the call began is not known yet.
    if (isDeferred(this)) return environment.exactMs()
    return Math.max(this.startMs, environment.msOf(this.wheelDue - firstLimitMs))
  }

  run(): Promise<unknown> {
    const { environment, firstLimitMs } = this.plan
    environment.scheduleIn(this, firstLimitMs)
    void outcomeOf(this.operation, this.context).then(
      (value) => this.fulfilled(value),
      (error: unknown) => this.rejected(error),
    )
    return new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }

  /** The time is over, the attempt's or the whole call's. */
  fire(): void {
    const attempt = this.toAttempt()
    this.abandoned = attempt
    const call = this.becomeCall(attempt, this.begunMs, true)
    const { attemptTimeoutMs = Infinity, timeoutMs = Infinity } = this.plan.policy
    if (attemptTimeoutMs < timeoutMs) attempt.fire()
    else call.deadlineCame()
  }

  private fulfilled(value: unknown): void {
    if (this.abandoned !== undefined) return this.abandoned.release()
    const { plan, start, budget } = this
    plan.environment.cancel(this)
    const { startMs, inspector } = this
    const endMs = inspector === null ? 0 : plan.environment.exactMs()
    plan.firstGates.succeeded(start, budget, startMs)
    this.resolve?.(inspector === null ? value : inspector.firstSucceeded(value, plan, start, startMs, endMs))
    this.scope?.emitDestroy()
  }

  private rejected(error: unknown): void {
    if (this.abandoned !== undefined) return this.abandoned.release()
    const { begunMs, plan } = this
    plan.environment.cancel(this)
    const attempt = this.toAttempt()
    attempt.end('failure', error, plan.environment.exactMs())
    this.becomeCall(attempt, begunMs, false).goOn(attempt, FIRST)
  }

  private toAttempt(): Attempt {
    return Attempt.first(this.plan, this.start, this.budget, this.startMs)
  }

  private becomeCall(attempt: Attempt, begunMs: number, running: boolean): Call {
    const call = new Call(this.plan, this.operation, attempt)
    attempt.call = call
    // Only to be aborted: else a call that waits for its retry would keep the whole of this.
    if (running) attempt.context = this.context
    call.attach(this.scope, this.resolve as Settle, this.reject as Settle)
    call.takeOver(attempt, begunMs, running, this.inspector)
    return call
  }
}
