/**
 * What a call knows: its retry state, its attempts, how it ended. What it does is in call.ts.
 * The state lives in these fields and is advanced in place by `advance` of core. Imports core and the runtime's types.
 */
import type { Breaker } from '../core/breaker.js'
import type { Decision } from '../core/budget.js'
import type { BudgetRef } from '../core/policy.js'
import type { RetryState } from '../core/state.js'
import type { Timeline } from '../core/timeline.js'
import type { StopReason } from '../core/words.js'
import { Attempt } from './attempt.js'
import { Context } from './context.js'
import type { Actor } from './environment.js'
import { report } from './hook-errors.js'
import type { Thrown } from './hooks.js'
import { type Made, madeOf, oldestStartMs, type Past, timelineFrom } from './history.js'
import type { Plan } from './plan.js'
import { rejectionFor, type TimelineSource } from './rejection.js'
import type { Session } from './session.js'
import { attemptFinished, type DecisionMode, decision } from './call-events.js'
import type { WheelLinks } from './timer-wheel.js'

export interface Ending {
  readonly stopReason: StopReason | undefined
  readonly budgetReason: string | undefined
  readonly error: unknown
  readonly endMs: number
  timeline: Timeline | undefined
}

/** Whatever knows the error an attempt failed with. */
export interface Failed {
  readonly error: unknown
}

export abstract class CallRecord implements RetryState, Actor, TimelineSource, WheelLinks {
  wheelNext = undefined
  wheelPrev = undefined
  wheelDue = 0
  readonly plan: Plan
  failures = 0
  launched = 0
  totalDelayMs = 0
  lastDelayMs = 0
  protected dueAtMs = 0
  expiresAtMs: number | null = null
  /** What only some calls need: a signal, a deadline, several attempts at once, a place in line, an observer. */
  session: Session | null = null
  protected history: Past | null
  /** The attempt that failed last, or decided its race: its error is the call's. */
  protected failure: Failed | null = null
  protected ending: Ending | null = null
  private notes: readonly string[]

  constructor(plan: Plan, history: Past | null) {
    this.plan = plan
    this.history = history
    this.notes = plan.notes
  }

  /** The attempt timeout has come. */
  abstract timedOut(attempt: Attempt, error: unknown): void

  get deadlineAtMs(): number | null {
    return this.session === null ? null : this.session.deadlineAtMs
  }

  /** Calls of a process begin and end in it. */
  get resumed(): boolean {
    return false
  }

  get aborted(): boolean {
    return this.session?.signal?.aborted === true
  }

  get breaker(): Breaker | undefined {
    return this.plan.breaker
  }

  get key(): string {
    return this.plan.key
  }

  get callId(): number {
    return this.session?.callId ?? 0
  }

  /** The attempt of the policy that runs, or is to come. */
  get attempt(): number {
    return this.failures + 1
  }

  get attempts(): number {
    return this.plan.policy.attempts
  }

  made(): Made {
    return madeOf(this.history)
  }

  /** Of a call that has ended; before that, of what has happened so far. */
  timeline(): Timeline {
    const { ending, plan, session, history, notes, totalDelayMs } = this
    if (ending?.timeline !== undefined) return ending.timeline
    const startedMs = session?.startedMs ?? oldestStartMs(history)
    const elapsedMs = Math.max(0, (ending?.endMs ?? this.nowMs()) - startedMs)
    const { stopReason, budgetReason } = ending ?? {}
    const timeline = timelineFrom({ plan, history, stopReason, budgetReason, totalDelayMs, elapsedMs }, notes)
    if (ending !== null) ending.timeline = timeline
    return timeline
  }

  /** The call knows how the attempt ended. */
  protected conclude(attempt: Attempt, result: 'success' | 'failure' | 'timeout' | 'aborted', error: unknown): void {
    const { environment } = this.plan
    // Out of the running before anybody hears of it: whoever hears may end the call, and with it all that runs.
    this.session?.ended(attempt)
    attempt.conclude(result, error, result === 'success', this.nowMs())
    if (environment.observed) attemptFinished(this, attempt)
    environment.actor = this
    attempt.informBreaker()
    environment.actor = undefined
    attempt.informBudget()
  }

  /** Whatever still runs is told to stop and not waited for. */
  protected concludeRunning(result: 'timeout' | 'aborted', reason: unknown): void {
    const running = this.session?.running ?? []
    // A listener of one may end the others, so the list is looked at anew each time.
    for (let attempt = running[0]; attempt !== undefined; attempt = running[0]) {
      this.conclude(attempt, result, reason)
      Context.abort(attempt.context as Context, reason)
    }
  }

  tellDecision(attempt: Attempt, ref: BudgetRef, mode: DecisionMode, answer: Decision): void {
    if (this.plan.environment.observed) decision(this, attempt, ref, mode, answer)
  }

  protected record(attempt: Attempt): void {
    attempt.previous = this.history
    this.history = attempt
  }

  /** The record of a launch that a budget denied; its number is used up. */
  protected recordDenied(attempt: Attempt): void {
    attempt.startMs = this.nowMs()
    attempt.endMs = attempt.startMs
    attempt.delayBeforeMs = attempt.kind === 'retry' && attempt.attempt === this.attempt ? this.lastDelayMs : 0
    attempt.result = 'denied'
    this.launched = attempt.launch
    this.record(attempt)
  }

  /** Would the budget allow the next attempt when it is due? A refusal leaves the same record as one at the launch. */
  peek(dueAtMs: number): boolean {
    const attempt = new Attempt(this.plan, this, this.attempt + 1, this.launched + 1, 'retry')
    const denial = attempt.peekAt(dueAtMs)
    if (denial === undefined) return true
    attempt.decision = denial
    if (attempt.decider !== undefined) this.tellDecision(attempt, attempt.decider, 'peek', denial)
    this.recordDenied(attempt)
    return false
  }

  /** Whether what a classifier threw is only noted and reported. */
  protected recovers({ error }: Thrown): boolean {
    const { recoverHookErrors } = this.plan.environment
    this.notes = Object.freeze([...this.notes, 'panic_in_classifier'])
    if (recoverHookErrors) report(error)
    return recoverHookErrors
  }

  /** What the budget said that ended the call. */
  protected denial(): Decision | undefined {
    const last = this.history
    return last instanceof Attempt && last.result === 'denied' ? last.decision : undefined
  }

  protected lastTimedOut(): boolean {
    return this.failure instanceof Attempt && this.failure.result === 'timeout'
  }

  protected rejection(reason: StopReason): unknown {
    if (reason === 'aborted') return this.session?.signal?.reason
    const { plan, totalDelayMs, failure, attempt } = this
    return rejectionFor(reason, { plan, totalDelayMs, failure, attempt, denial: this.denial() })
  }

  /** Of the moment where somebody watches or a limit counts, else of the turn. */
  protected nowMs(): number {
    const { environment } = this.plan
    return this.session === null ? environment.nowMs() : environment.stretchMs()
  }
}
