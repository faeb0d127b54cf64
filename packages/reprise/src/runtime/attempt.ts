/**
 * One attempt from the question whether it may start to the moment its operation has settled.
 *
 * Two ends are kept apart: the attempt is *concluded* when the call knows its result (an answer, a timeout, an abort, a
 * lost race), and its budget is *given back* when the operation itself has settled, which may be later: an operation
 * that ignores its signal still uses what was reserved for it. Both happen exactly once.
 * To budgets the attempt is the request, to `admit` it is the gates. Imports core and the runtime's small parts.
 */
import type { Breaker } from '../core/breaker.js'
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../core/budget.js'
import type { LaunchGates, Start } from '../core/decide.js'
import { AttemptTimeoutError, withoutStack } from '../core/errors.js'
import { checkDecision, NO_BUDGET, PANIC_IN_BUDGET } from '../core/gate.js'
import type { BudgetRef } from '../core/policy.js'
import type { Timer } from '../core/time.js'
import type { AttemptRecord, Timeline } from '../core/timeline.js'
import type { AttemptKind, AttemptResult, BreakerPhase } from '../core/words.js'
import { ask, both, findBudget, giveBack, peekAt, withRef } from './ask.js'
import type { Call } from './call.js'
import type { Context } from './context.js'
import { type Past, timelineFrom } from './history.js'
import type { Thrown } from './hooks.js'
import type { Plan } from './plan.js'
import type { TimelineSource } from './rejection.js'
import type { WheelLinks } from './timer-wheel.js'

export class Attempt implements BudgetRequest, LaunchGates, Timer, WheelLinks, Past, TimelineSource {
  wheelNext = undefined
  wheelPrev = undefined
  wheelDue = 0
  readonly plan: Plan
  /** Null while the first attempt of a light call runs: then nobody but its own `.then` waits for it. */
  call: Call | null
  readonly attempt: number
  readonly group: number
  readonly kind: AttemptKind
  context: Context | undefined = undefined
  budget: Budget | undefined = undefined
  decision: Decision = NO_BUDGET
  /** A grant handed out of the line: it is the answer, nobody is asked again. */
  grant: Decision | undefined = undefined
  /** What the breaker wants to hear with the result. */
  era = 0
  breakerPhase: BreakerPhase | undefined = undefined
  startMs = 0
  endMs = 0
  delayBeforeMs = 0
  parkedMs = 0
  result: AttemptResult | undefined = undefined
  won = false
  error: unknown = undefined
  previous: Past | null = null

  constructor(plan: Plan, call: Call | null, attempt: number, group: number, kind: AttemptKind) {
    this.plan = plan
    this.call = call
    this.attempt = attempt
    this.group = group
    this.kind = kind
  }

  /** The first attempt of a light call, made once it is more than a `.then`. */
  static first(plan: Plan, start: Start, budget: Budget | undefined, startMs: number): Attempt {
    const attempt = new Attempt(plan, null, 1, 1, 'retry')
    attempt.startMs = startMs
    attempt.era = start.era
    attempt.breakerPhase = start.breaker
    attempt.decision = start.decision
    attempt.budget = budget
    return attempt
  }

  // ── as a request to a budget ───────────────────────────────────────────────────────────────────

  get key(): string {
    return this.plan.key
  }

  get ref(): BudgetRef {
    return this.budgetRef as BudgetRef
  }

  get deadlineMs(): number {
    return this.call?.deadlineAtMs ?? Infinity
  }

  get attemptTimeoutMs(): number | undefined {
    return this.plan.policy.attemptTimeoutMs
  }

  // ── as the gates of `admit` ────────────────────────────────────────────────────────────────────

  get now(): number {
    return this.plan.environment.nowMs()
  }

  get aborted(): boolean {
    return this.call !== null && this.call.aborted
  }

  get breaker(): Breaker | undefined {
    return this.plan.breaker
  }

  get parks(): boolean {
    const asked = this.kind === 'retry' && this.grant === undefined && this.decision !== PANIC_IN_BUDGET
    return asked && this.budget?.park !== undefined
  }

  ask(): Decision {
    if (this.grant === undefined) this.decision = this.askBudgets()
    else this.decision = this.grant
    return this.decision
  }

  /** The budget that is asked: a hedge's own, or the retry's where it shares that one alone. */
  get budgetRef(): BudgetRef | undefined {
    const { budget, hedge } = this.plan.policy
    if (this.kind === 'retry') return budget
    return hedge?.budget ?? (hedge?.shareBudget ? budget : undefined)
  }

  private askBudgets(): Decision {
    const environment = this.plan.environment
    const ref = this.budgetRef
    this.budget = findBudget(environment, ref)
    const decision = ask(environment, ref, this.budget, this)
    if (ref !== undefined) this.call?.tellDecision(this, ref, 'gate', decision)
    return this.kind === 'hedge' && decision.allowed ? this.askRetryBudgetToo(decision) : decision
  }

  private askRetryBudgetToo(own: Decision): Decision {
    const { environment, policy } = this.plan
    const ref = policy.budget
    if (ref === undefined || policy.hedge?.budget === undefined || !policy.hedge.shareBudget) return own
    const budget = findBudget(environment, ref)
    const request = withRef(this, ref)
    const first = { budget: this.budget, request: this, decision: own }
    try {
      const decision = ask(environment, ref, budget, request)
      this.call?.tellDecision(this, ref, 'gate', decision)
      return both(environment, first, { budget, request, decision })
    } catch (error) {
      this.returnGrant(own)
      throw error
    }
  }

  /** The denial to expect at `dueAtMs`, if that is certain enough to stop for; throws what the budget throws. */
  peekAt(dueAtMs: number): Decision | undefined {
    const { environment, policy } = this.plan
    return policy.budget === undefined ? undefined : peekAt(environment, policy.budget, this, dueAtMs)
  }

  // ── its two ends ───────────────────────────────────────────────────────────────────────────────

  /** The attempt timeout has come. */
  fire(): void {
    const timeoutMs = this.plan.policy.attemptTimeoutMs as number
    this.call?.timedOut(
      this,
      withoutStack(() => new AttemptTimeoutError(this.key, this.attempt, timeoutMs)),
    )
  }

  /** The call knows the result. The breaker hears of successes and failures, not of aborts. */
  conclude(result: AttemptResult, error: unknown, won: boolean, endMs: number): void {
    this.result = result
    this.error = error
    this.won = won
    this.endMs = endMs
    if (this.plan.policy.attemptTimeoutMs !== undefined) this.plan.environment.cancel(this)
    const breaker = this.plan.breaker
    if (breaker === undefined) return
    if (result === 'success') breaker.success(this.era)
    else if (result === 'aborted') breaker.giveBack(this.era)
    else breaker.failure(this.era, endMs)
  }

  /** Both ends at once: the call knows the result because the operation has settled. */
  end(result: 'success' | 'failure', error: unknown, endMs: number): void {
    this.conclude(result, error, result === 'success', endMs)
    this.release()
  }

  /** The operation has settled: the budget gets back what it gave. */
  release(): void {
    const { decision, budget } = this
    if (decision.release === undefined && budget?.settle === undefined) return
    const now = this.now
    const outcome: AttemptOutcome = {
      result: this.result as AttemptOutcome['result'],
      latencyMs: Math.max(0, now - this.startMs),
      won: this.won,
      now,
      error: this.error,
    }
    giveBack(this.plan.environment, budget, decision, this, outcome)
  }

  /** What came out of the line, if it is a decision at all. */
  checkGrant(answer: Decision): Decision | Thrown {
    try {
      return checkDecision(answer, this)
    } catch (error) {
      return this.plan.environment.recoverHookErrors ? PANIC_IN_BUDGET : { type: 'threw', error }
    }
  }

  /** A grant that cannot be used any more goes back unused. */
  returnGrant(grant: Decision | null | undefined): void {
    if (!grant?.allowed) return
    const now = this.now
    giveBack(this.plan.environment, this.budget, grant, this, { result: 'aborted', latencyMs: 0, won: false, now })
  }

  /** Of a call that ended with this attempt, its first. */
  timeline(): Timeline {
    const { key, policy, notes } = this.plan
    const elapsedMs = Math.max(0, this.endMs - this.startMs)
    return timelineFrom({ key, policy, notes, history: this, totalDelayMs: 0, elapsedMs })
  }

  toRecord(): AttemptRecord {
    return {
      number: this.attempt,
      group: this.group,
      kind: this.kind,
      hedge: this.kind === 'hedge',
      startMs: this.startMs,
      endMs: this.endMs,
      delayBeforeMs: this.delayBeforeMs,
      parkedMs: this.parkedMs,
      outcome: this.result ?? 'aborted',
      won: this.won,
      error: this.error,
      budget: this.budgetRef?.name,
      budgetAllowed: this.decision.allowed,
      budgetReason: this.decision.reason,
      breaker: this.breakerPhase,
    }
  }
}
