/**
 * The retry budget of Envoy's circuit breakers, for comparison: so many retries may be active at a time, as a share of
 * the requests that are. Written from the published rule; the constants are the defaults of `RetryBudget` in
 * envoy/config/cluster/v3/circuit_breaker.proto.
 *
 * As in Envoy a retry is active from the failure before it, while it waits too, so its place is taken at that failure
 * and only called for when the contract asks. That is why it has to know which attempt is the last.
 *
 * Invariants: every attempt that was allowed is counted until it is settled; first attempts are free; a hedge has no
 * place. Imports core only.
 */
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../../core/budget.js'
import { ALLOWED, DENIED, isFirstLaunch } from '../../core/gate.js'
import { CallSet } from './call-set.js'

/** budget_percent: of the active and pending requests, retries included. */
const BUDGET_PERCENT = 20
/** min_retry_concurrency: the limit never goes below this. */
const MIN_RETRY_CONCURRENCY = 3

export class EnvoyBudget implements Budget {
  private readonly attempts: number
  private active = 0
  private retries = 0
  /** Calls whose retry waits. */
  private readonly waiting = new CallSet()

  /** `attempts`: how many the policy makes. */
  constructor(attempts: number) {
    this.attempts = attempts
  }

  /** Retries that may be active now. */
  get limit(): number {
    return Math.max(MIN_RETRY_CONCURRENCY, Math.floor((this.active * BUDGET_PERCENT) / 100))
  }

  allowAttempt(request: BudgetRequest): Decision {
    if (!isFirstLaunch(request)) {
      if (!this.waiting.take(request)) return DENIED
      this.retries++
    }
    this.active++
    return ALLOWED
  }

  settle(request: BudgetRequest, { result, now }: AttemptOutcome): void {
    this.active--
    if (!isFirstLaunch(request)) this.retries--
    if (request.attempt >= this.attempts || (result !== 'failure' && result !== 'timeout')) return
    this.waiting.forgetUntil(now)
    if (this.retries + this.waiting.size < this.limit) this.waiting.add(request)
  }
}
