/**
 * The fields of a policy as a reference lists them: for documentation and tests, never for parsing.
 * A nested field has the dotted name that a problem's path gives it. Imports nothing.
 */

interface PolicyField {
  readonly yaml: string
  readonly typescript: string
  readonly meaning: string
  readonly default: string
}

type Row = readonly [yaml: string, typescript: string, meaning: string, defaultText: string]

const ROWS: readonly Row[] = [
  ['attempts', 'attempts', 'The first execution and its retries, 1 to 1000; 1 is no retry. Hedges come on top.', '3'],
  [
    'backoff',
    'backoff',
    'How delays grow: `fixed`, `linear`, `exponential`, `fibonacci` or `custom`.',
    '`exponential`',
  ],
  ['backoff.increment', 'backoff.increment', 'What `linear` adds after each failure.', 'the initial delay'],
  ['backoff.base', 'backoff.base', 'What `exponential` multiplies with after each failure.', '2'],
  ['backoff.delays', 'backoff.delays', 'The delays of `custom`, one by one; then the maximum.', 'none'],
  [
    'backoff.formula',
    'backoff.formula',
    'The delay of `custom` in milliseconds: arithmetic over `attempt`, `initial`, `max`, `previous`.',
    'none',
  ],
  ['initial_delay', 'initialDelay', 'The first delay.', '1s'],
  ['max_delay', 'maxDelay', 'Cap of a delay before jitter.', '30s'],
  [
    'jitter',
    'jitter',
    '`false`, `true` (= `proportional`), `full`, `equal` or `decorrelated`.',
    '`false`; where no policy is given at all, `full`',
  ],
  ['jitter_factor', 'jitterFactor', 'Width of `proportional`, 0 to 1: half of it on each side.', '0.3'],
  [
    'retry_on',
    'retryOn',
    'Which failures are retried: any that one of the matchers fits; empty is every failure.',
    '[]',
  ],
  ['retry_budget', 'retryBudget', 'Cap on the sum of all delays.', 'none'],
  ['attempt_timeout', 'attemptTimeout', 'Limit of one attempt; its expiry is a retryable `timeout`.', 'none'],
  ['timeout', 'timeout', 'Limit of the whole call, waits included; its expiry is final.', 'none'],
  ['max_retry_after', 'maxRetryAfter', 'The longest `Retry-After` obeyed; a longer one stops the call.', '60s'],
  ['budget', 'budget', 'A shared budget to ask before each attempt: its name, or `{name, cost}`.', 'none'],
  ['budget.name', 'budget.name', 'Name of the budget; blank is none.', 'none'],
  ['budget.cost', 'budget.cost', 'What an attempt costs, 1 or more.', '1'],
  ['breaker', 'breaker', 'A circuit breaker.', 'none'],
  [
    'breaker.key',
    'breaker.key',
    'Calls with the same key share the breaker.',
    'the key of the call; with `retry()` each policy object has its own breaker',
  ],
  ['breaker.failure_threshold', 'breaker.failureThreshold', 'Failures in a row that open it.', '5'],
  ['breaker.recovery_timeout', 'breaker.recoveryTimeout', 'How long it stays open before it probes.', '30s'],
  ['breaker.half_open_max_calls', 'breaker.halfOpenMaxCalls', 'Probes at a time, and successes that close it.', '1'],
  ['hedge', 'hedge', 'Copies of a slow attempt beside it. In the process only.', 'none'],
  ['hedge.delay', 'hedge.delay', 'When each copy starts; this or a percentile.', 'none'],
  ['hedge.percentile', 'hedge.percentile', 'The same as a percentile of past latencies, between 0 and 100.', 'none'],
  ['hedge.max_hedges', 'hedge.maxHedges', 'Copies beside one attempt, 1 to 3.', '1'],
  [
    'hedge.cancel_on_first_terminal',
    'hedge.cancelOnFirstTerminal',
    'Whether the first failure that is not retryable ends the others.',
    'false',
  ],
  [
    'hedge.budget',
    'hedge.budget',
    "A budget of the hedges' own; `share` for the retry's, `{name, share: true}` for both.",
    'none',
  ],
]

export const POLICY_FIELDS: readonly PolicyField[] = /* @__PURE__ */ ROWS.map(
  ([yaml, typescript, meaning, defaultText]) => ({ yaml, typescript, meaning, default: defaultText }),
)
