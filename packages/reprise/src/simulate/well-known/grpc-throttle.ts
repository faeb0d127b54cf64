/**
 * The retry throttling of gRPC, for comparison: failures of any attempt take tokens, successes give some back, and
 * nothing is retried while half of them are gone. Written from the published rule; the constants are those of the
 * example in gRFC A6, `"retryThrottling": { "maxTokens": 10, "tokenRatio": 0.1 }`.
 *
 * Invariants: between 0 and the maximum; first attempts are free; an attempt that was called off says nothing. Counted
 * in thousandths, since A6 supports three decimal places and the threshold has to be met exactly. Imports core only.
 */
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../../core/budget.js'
import { ALLOWED, DENIED, isFirstLaunch } from '../../core/gate.js'

const WHOLE = 1000
/** maxTokens */
const MAX_TOKENS = 10 * WHOLE
/** tokenRatio: what a success gives. */
const TOKEN_RATIO = 0.1 * WHOLE
/** maxTokens / 2: at this or less nothing is retried. */
const THRESHOLD = MAX_TOKENS / 2

export class GrpcThrottle implements Budget {
  private count = MAX_TOKENS

  get tokens(): number {
    return this.count / WHOLE
  }

  allowAttempt(request: BudgetRequest): Decision {
    return isFirstLaunch(request) || this.count > THRESHOLD ? ALLOWED : DENIED
  }

  settle(_request: BudgetRequest, { result }: AttemptOutcome): void {
    if (result === 'success') this.count = Math.min(MAX_TOKENS, this.count + TOKEN_RATIO)
    else if (result === 'failure' || result === 'timeout') this.count = Math.max(0, this.count - WHOLE)
  }
}
