/**
 * One attempt from the question whether it may start to the moment its operation has settled.
 *
 * Two ends are kept apart: the attempt is *concluded* when the call knows its result (an answer, a timeout, an abort, a
 * lost race), and its budget is *given back* when the operation itself has settled, which may be later: an operation
 * that ignores its signal still uses what was reserved for it. Both happen exactly once, and a budget may hear of both.
 * To `admit` the attempt is the gates. Imports core and the runtime's small parts.
 */
import type { Breaker } from '../core/breaker.js'
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../core/budget.js'
import { isNotYet } from '../core/classify.js'
import type { LaunchGates, Start } from '../core/decide.js'
import { AttemptTimeoutError, withoutStack } from '../core/errors.js'
import { BudgetPanic, checkDecision, NO_BUDGET } from '../core/gate.js'
import type { BudgetRef } from '../core/policy.js'
import type { Timer } from '../core/time.js'
import type { AttemptRecord } from '../core/timeline.js'
import type { AttemptKind, AttemptResult, BreakerPhase } from '../core/words.js'
import { ask, both, conclude, findBudget, giveBack, PairedGrant, panic, peekAt, returnUnused } from './ask.js'
import { AttemptRequest } from './attempt-request.js'
import type { CallRecord } from './call-record.js'
import type { Context } from './context.js'
import type { Past } from './history.js'
import type { Plan } from './plan.js'
import type { WheelLinks } from './timer-wheel.js'

export class Attempt implements LaunchGates, Timer, WheelLinks, Past {
  wheelNext = undefined
  wheelPrev = undefined
  wheelDue = 0
  readonly plan: Plan
  /** Null while the first attempt of a light call runs: then nobody but its own `.then` waits for it. */
  call: CallRecord | null
  readonly attempt: number
  readonly launch: number
  readonly kind: AttemptKind
  context: Context | undefined = undefined
  budget: Budget | undefined = undefined
  request: BudgetRequest | undefined = undefined
  decision: Decision = NO_BUDGET
  /** Whose decision it is: of two budgets the one that refused. */
  decider: BudgetRef | undefined
  /** A grant handed out of the line: it is the answer, nobody is asked again. */
  grant: Decision | undefined = undefined
  /** What the breaker wants to hear with the result. */
  epoch = 0
  breakerPhase: BreakerPhase | undefined = undefined
  startMs = 0
  endMs = 0
  delayBeforeMs = 0
  parkedMs = 0
  result: AttemptResult | undefined = undefined
  won = false
  error: unknown = undefined
  previous: Past | null = null

  constructor(plan: Plan, call: CallRecord | null, attempt: number, launch: number, kind: AttemptKind) {
    this.plan = plan
    this.call = call
    this.attempt = attempt
    this.launch = launch
    this.kind = kind
    this.decider = this.budgetRef
  }

  /** The first attempt of a light call, made once it is more than a `.then`. */
  static first(plan: Plan, start: Start, budget: Budget | undefined, startMs: number): Attempt {
    const attempt = new Attempt(plan, null, 1, 1, 'retry')
    attempt.startMs = startMs
    attempt.epoch = start.epoch
    attempt.breakerPhase = start.breaker
    attempt.decision = start.decision
    attempt.budget = budget
    attempt.request = plan.firstGates.request
    return attempt
  }

  /** A first attempt that is over, for its record alone. */
  static over(plan: Plan, result: AttemptResult, startMs: number, endMs: number): Attempt {
    const attempt = new Attempt(plan, null, 1, 1, 'retry')
    attempt.result = result
    attempt.startMs = startMs
    attempt.endMs = endMs
    return attempt
  }

  // ── as the gates of `admit` ────────────────────────────────────────────────────────────────────

  /** Of the moment where the call has a limit or is watched, else of the turn. */
  get now(): number {
    const { environment } = this.plan
    return this.call?.session ? environment.stretchMs() : environment.nowMs()
  }

  get aborted(): boolean {
    return this.call !== null && this.call.aborted
  }

  get breaker(): Breaker | undefined {
    return this.plan.breaker
  }

  get parks(): boolean {
    const asked = this.kind === 'retry' && this.grant === undefined && !(this.decision instanceof BudgetPanic)
    return asked && this.budget?.park !== undefined
  }

  ask(): Decision {
    if (this.grant === undefined) this.decision = this.askBudgets()
    else this.decision = this.grant
    return this.decision
  }

  /** The budget that is asked: a hedge's own, or the retry's where it shares that one alone. */
  get budgetRef(): BudgetRef | undefined {
    return this.plan.refs[this.kind][0]
  }

  private askBudgets(): Decision {
    const environment = this.plan.environment
    const ref = this.budgetRef
    if (ref === undefined) return NO_BUDGET
    this.budget = findBudget(environment, ref)
    this.request = this.requestFor(ref)
    const decision = ask(environment, ref, this.budget, this.request)
    this.call?.tellDecision(this, ref, 'gate', decision)
    return this.kind === 'hedge' && decision.allowed ? this.askRetryBudgetToo(decision) : decision
  }

  private askRetryBudgetToo(own: Decision): Decision {
    const { environment, refs } = this.plan
    const [, ref] = refs[this.kind]
    if (ref === undefined) return own
    const budget = findBudget(environment, ref)
    const request = this.requestFor(ref)
    const first = { budget: this.budget, request: this.request as BudgetRequest, decision: own }
    const decision = ask(environment, ref, budget, request)
    this.call?.tellDecision(this, ref, 'gate', decision)
    if (!decision.allowed) this.decider = ref
    return both(environment, first, { budget, request, decision })
  }

  /** The denial to expect at `dueAtMs`, if that is certain enough to stop for. */
  peekAt(dueAtMs: number): Decision | undefined {
    const { environment, policy } = this.plan
    if (policy.budget === undefined) return undefined
    return peekAt(environment, this.requestFor(policy.budget), dueAtMs)
  }

  /** The question to the budget. */
  requestFor(ref: BudgetRef): BudgetRequest {
    const { environment, policy, key } = this.plan
    const deadlineMs = this.call?.deadlineAtMs ?? Infinity
    return new AttemptRequest(environment, policy, key, this, ref, deadlineMs)
  }

  // ── its two ends ───────────────────────────────────────────────────────────────────────────────

  /** The attempt timeout has come. */
  fire(): void {
    const timeoutMs = this.plan.policy.attemptTimeoutMs as number
    this.call?.timedOut(
      this,
      withoutStack(() => new AttemptTimeoutError(this.plan.key, this.attempt, timeoutMs, this.launch)),
    )
  }

  /** The call knows the result. */
  conclude(result: AttemptResult, error: unknown, won: boolean, endMs: number): void {
    this.result = result
    this.error = error
    this.won = won
    this.endMs = endMs
    if (this.plan.policy.attemptTimeoutMs !== undefined) this.plan.environment.cancel(this)
  }

  /** The breaker hears of successes and failures, not of aborts, nor of what is only not there yet. */
  informBreaker(): void {
    const { breaker } = this.plan
    if (breaker === undefined) return
    if (this.result === 'success') breaker.success(this.epoch)
    else if (this.result === 'aborted' || isNotYet(this.error)) breaker.giveBack(this.epoch)
    else breaker.failure(this.epoch, this.endMs)
  }

  /** The budget hears of the result when the call does, though the operation may still run. */
  informBudget(): void {
    const { decision, budget, request } = this
    const isPaired = this.kind === 'hedge' && decision instanceof PairedGrant
    if (request === undefined || (budget?.conclude === undefined && !isPaired)) return
    conclude(this.plan.environment, budget, decision, this.requestAtEnd(request), this.outcomeNow())
  }

  /** Both ends at once: the call knows the result because the operation has settled. */
  end(result: 'success' | 'failure', error: unknown, endMs: number): void {
    this.conclude(result, error, result === 'success', endMs)
    this.informBreaker()
    this.informBudget()
    this.release()
  }

  /** The operation has settled: the budget gets back what it gave. */
  release(): void {
    const { decision, budget, request } = this
    if (request === undefined || (decision.release === undefined && budget?.settle === undefined)) return
    giveBack(this.plan.environment, budget, decision, this.requestAtEnd(request), this.outcomeNow())
  }

  /** What a budget is told: the result, and the time until now. */
  private outcomeNow(): AttemptOutcome {
    const { now, startMs, won, error } = this
    const result = this.result as AttemptOutcome['result']
    return { result, latencyMs: Math.max(0, now - startMs), won, now, error }
  }

  /** What the budget was asked, with the deadline that the call had then. */
  private requestAtEnd(request: BudgetRequest): BudgetRequest {
    const { policy, firstGates } = this.plan
    if (request !== firstGates.request || policy.timeoutMs === undefined) return request
    return firstGates.requestUntil(this.call?.deadlineAtMs ?? this.startMs + policy.timeoutMs)
  }

  /** What came out of the line; a denial if it is no decision at all. */
  checkGrant(answer: Decision): Decision {
    try {
      return checkDecision(answer, this.request as BudgetRequest)
    } catch (error) {
      return this.panic(error)
    }
  }

  /** The denial by its budget, which threw. */
  panic(error: unknown): Decision {
    return panic(this.plan.environment, this.request as BudgetRequest, error)
  }

  /** A grant that cannot be used any more goes back unused. */
  returnGrant(grant: Decision | null | undefined): void {
    if (!grant?.allowed || this.request === undefined) return
    const { budget, request } = this
    returnUnused(this.plan.environment, { budget, request, decision: grant }, this.now)
  }

  toRecord(): AttemptRecord {
    return {
      attempt: this.attempt,
      launch: this.launch,
      kind: this.kind,
      hedge: this.kind === 'hedge',
      startMs: this.startMs,
      endMs: this.endMs,
      delayBeforeMs: this.delayBeforeMs,
      parkedMs: this.parkedMs,
      outcome: this.result ?? 'aborted',
      won: this.won,
      error: this.decision instanceof BudgetPanic ? this.decision.error : this.error,
      budget: this.decider?.name,
      budgetAllowed: this.decision.allowed,
      budgetReason: this.decision.reason,
      breaker: this.breakerPhase,
    }
  }
}
