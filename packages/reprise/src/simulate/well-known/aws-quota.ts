/**
 * The retry quota of the AWS SDKs' standard mode, for comparison: a bucket of tokens that retries take from and that
 * only successes fill. Written from the published rules; the constants are those of botocore's `RetryQuotaChecker`
 * (botocore/retries/standard.py) and of the retry middleware of the SDK for JavaScript, which agree. Version 2.1 of the
 * mode, which botocore has beside it, takes 14 for most retries.
 *
 * Invariants: between 0 and the capacity; first attempts are free; a denial costs nothing. A call that succeeds after
 * several retries gets back what the last one took, not what all did. The SDKs charge before the wait, this charges
 * after it, when the contract asks. Imports core only.
 */
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../../core/budget.js'
import { ALLOWED, DENIED, isFirstLaunch } from '../../core/gate.js'
import { CallSet } from './call-set.js'

/** INITIAL_RETRY_TOKENS, which is also the most there can be. */
const CAPACITY = 500
/** RETRY_COST */
const RETRY_COST = 5
/** TIMEOUT_RETRY_COST: what a retry after a timeout takes. */
const TIMEOUT_RETRY_COST = 10
/** NO_RETRY_INCREMENT: what a call that succeeds at once gives. */
const FIRST_TRY_GAIN = 1

export class AwsQuota implements Budget {
  private available = CAPACITY
  /** Calls whose latest attempt ran into its time limit. */
  private readonly timedOut = new CallSet()

  get tokens(): number {
    return this.available
  }

  allowAttempt(request: BudgetRequest): Decision {
    if (isFirstLaunch(request)) return ALLOWED
    const cost = this.timedOut.take(request) ? TIMEOUT_RETRY_COST : RETRY_COST
    if (this.available < cost) return DENIED
    this.available -= cost
    return { ...ALLOWED, release: (outcome) => this.ended(request, outcome, cost) }
  }

  /** The end of a first attempt: a retry has its own `release`, which knows its cost. */
  settle(request: BudgetRequest, outcome: AttemptOutcome): void {
    this.ended(request, outcome, FIRST_TRY_GAIN)
  }

  private ended(request: BudgetRequest, { result, now }: AttemptOutcome, gain: number): void {
    if (result === 'success') {
      this.available = Math.min(CAPACITY, this.available + gain)
    } else if (result === 'timeout') {
      this.timedOut.forgetUntil(now)
      this.timedOut.add(request)
    }
  }
}
