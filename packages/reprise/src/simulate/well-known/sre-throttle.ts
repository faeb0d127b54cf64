/**
 * What clients do about overload in the Google SRE book, chapter "Handling Overload", for comparison: *adaptive
 * throttling*, where a client that asks much more often than it is accepted refuses a part of its own requests by
 * chance, and a *per-client retry budget* of a tenth of its requests. The third rule, at most three attempts for a
 * request, is the policy's. The chapter gives the three together, so they are together here. Written from its text.
 *
 * Invariants: a request counts whether it is refused here or sent, as the book says, and the chance of being sent is
 * never 0. Retries are requests like any other. An accept is a success: a server that does not answer has accepted
 * nothing. The book names no window for its retry ratio: it is the same one. Imports core only.
 */
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../../core/budget.js'
import { ALLOWED, DENIED, isFirstLaunch } from '../../core/gate.js'
import type { Random } from '../../core/time.js'
import { RollingCount } from './rolling-count.js'

/** The book keeps both numbers for the last two minutes. */
const WINDOW_SECONDS = 120
/** K in the book, which prefers 2 to less. */
const MULTIPLIER = 2
/** The book retries only while retries are below 10 % of the requests. */
const RETRY_SHARE = 0.1

const THROTTLED: Decision = Object.freeze({ allowed: false, reason: 'throttled' })

export class SreThrottle implements Budget {
  private readonly random: Random
  private readonly requests = new RollingCount(WINDOW_SECONDS)
  private readonly accepts = new RollingCount(WINDOW_SECONDS)
  private readonly retries = new RollingCount(WINDOW_SECONDS)

  constructor(random: Random) {
    this.random = random
  }

  /** The chance that the next request is refused here: the book's equation of that name. */
  rejectionProbability(now: number): number {
    const requests = this.requests.total(now)
    return Math.max(0, (requests - MULTIPLIER * this.accepts.total(now)) / (requests + 1))
  }

  allowAttempt(request: BudgetRequest): Decision {
    const { now } = request
    if (!isFirstLaunch(request)) {
      if (this.retries.total(now) >= RETRY_SHARE * this.requests.total(now)) return DENIED
      this.retries.add(now)
    }
    const probability = this.rejectionProbability(now)
    this.requests.add(now)
    return probability > 0 && this.random() < probability ? THROTTLED : ALLOWED
  }

  settle(_request: BudgetRequest, outcome: AttemptOutcome): void {
    if (outcome.result === 'success') this.accepts.add(outcome.now)
  }
}
