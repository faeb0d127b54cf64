/**
 * The smallest driver of `decide` and `admit`: a loop that runs the operation, asks what follows, and waits.
 *
 * Invariants: before an attempt `admit` is asked, after one `decide`; nothing else decides. What cuts an attempt or a
 * wait short only leads back to `admit`, which says why the call ends. Once the promise has settled, no timer and no
 * listener is left. Imports core and the files beside it.
 */
import { plainBackoffDelay } from '../core/backoff.js'
import { isRetryableBy } from '../core/classify.js'
import { admit, advance, decideBy, type LaunchGates, type RetryGates, type Verdict } from '../core/decide.js'
import { AttemptTimeoutError, CallTimeoutError, RetryBudgetExhaustedError } from '../core/errors.js'
import { ALLOWED } from '../core/gate.js'
import type { Policy } from '../core/policy.js'
import { retryAfterBy } from '../core/retry-after.js'
import { initialState, type RetryState } from '../core/state.js'
import type { Clock, Random } from '../core/time.js'
import type { StopReason } from '../core/words.js'
import { firstOf } from './first-of.js'
import { hostClock } from './host-clock.js'
import { judgeByFields } from './judge.js'
import { readPolicy, type SlimPolicyInput } from './slim-policy.js'

/** What an operation is handed. */
export interface SlimContext {
  /** 1..attempts of the policy. */
  readonly attempt: number
  /** Aborts when the attempt times out, or the call ends before it. */
  readonly signal: AbortSignal
}

/** Options of one call. */
export interface SlimOptions {
  /**
   * Ends the call when it aborts: the running attempt is told, and the call rejects with the signal's reason.
   * @default none
   * @example { signal: AbortSignal.timeout(5000) }
   */
  readonly signal?: AbortSignal | undefined
  /** Where times and timers come from; for tests. @default the host's timers @example { clock } */
  readonly clock?: Clock
  /** Gives numbers from 0 up to 1, for jitter. @default `Math.random` @example { random: () => 0.5 } */
  readonly random?: Random
}

/** Of a call: what its parts look at. */
interface Call {
  readonly policy: Policy
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  readonly state: RetryState
}

/** How an attempt ended; undefined: it was cut short by the caller, or by the end of the call's time. */
type End<T> = { readonly value: T } | Failure | undefined

/** What an attempt failed with, in the form in which errors keep it. */
interface Failure {
  readonly cause: unknown
}

/** What may follow from a failure. */
type Onward = Exclude<Verdict, { readonly type: 'succeed' }>

/** In messages, as `retry` of `reprise` calls it. */
const KEY = 'retry'

/**
 * Runs the operation until it succeeds or the policy says stop. Rejects with the operation's own last error, or with a
 * `RepriseError`. What the policy does not say: 3 attempts, exponential waits, full jitter.
 * @example const price = await retry(({ signal }) => fetchPrice('tea', signal), { attempts: 5, timeout: '10s' })
 */
export async function retry<T>(
  operation: (context: SlimContext) => T | PromiseLike<T>,
  policy: SlimPolicyInput | number | false = {},
  options: SlimOptions = {},
): Promise<T> {
  const { signal, clock = hostClock, random = Math.random, ...others } = options
  if (typeof operation !== 'function') throw new TypeError('The operation must be a function')
  for (const name in others) throw new TypeError(`${name}: unknown option: there are signal, clock, random`)
  const normal = readPolicy(policy)
  const { timeoutMs } = normal
  const state = initialState(timeoutMs === undefined ? null : clock.monotonicMs() + timeoutMs)
  const call = { policy: normal, clock, signal, state }
  let failure: Failure | undefined

  for (;;) {
    const gates: LaunchGates & RetryGates = {
      aborted: signal?.aborted === true,
      now: clock.monotonicMs(),
      breaker: undefined,
      ask: () => ALLOWED,
      parks: false,
    }
    const admission = admit(state, gates)
    if (admission.type === 'stop') throw rejectionFor(admission.reason, call, failure)

    const attempt = state.failures + 1
    const end = await run(operation, attempt, call, failure)
    if (!end) continue
    if ('value' in end) return end.value

    failure = end
    const { cause: error } = failure
    const retryable = isRetryableBy(judgeByFields, normal, error, { key: KEY, attempt, launch: attempt, kind: 'retry' })
    const outcome = { type: 'failure', retryable, retryAfterMs: retryAfterBy(readDate, error, clock.wallMs()) } as const
    const verdict = decideBy(plainBackoffDelay, normal, state, outcome, clock.monotonicMs(), random, gates) as Onward
    if (verdict.type === 'stop') throw rejectionFor(verdict.reason, call, failure)
    advance(state, verdict)
    if (verdict.delayMs > 0) await firstOf(call, verdict.dueAtMs, nothing, nothing, nothing)
  }
}

function nothing(): undefined {}

/** One attempt, until it ends or its limit, the limit of the call or the caller cuts it short. */
function run<T>(
  operation: (context: SlimContext) => T | PromiseLike<T>,
  attempt: number,
  call: Call,
  failure: Failure | undefined,
): Promise<End<T>> {
  const { policy, clock, state } = call
  const { attemptTimeoutMs = Infinity } = policy
  const controller = new AbortController()
  const cut = (reason: unknown): undefined => {
    controller.abort(reason)
  }
  const limitAtMs = clock.monotonicMs() + attemptTimeoutMs
  const deadlineAtMs = state.deadlineAtMs ?? Infinity
  return firstOf<End<T>>(
    call,
    Math.min(limitAtMs, deadlineAtMs),
    () => {
      if (deadlineAtMs <= limitAtMs) return cut(rejectionFor('timeout', call, failure))
      const cause = new AttemptTimeoutError(KEY, attempt, attemptTimeoutMs)
      cut(cause)
      return { cause }
    },
    cut,
    async (end) => {
      try {
        end({ value: await operation({ attempt, signal: controller.signal }) })
      } catch (cause) {
        end({ cause })
      }
    },
  )
}

/** What the call rejects with. `failure`: that of its last attempt, if one was made. */
function rejectionFor(reason: StopReason, { policy, signal, state }: Call, failure: Failure | undefined): unknown {
  if (reason === 'aborted') return signal?.reason
  if (reason === 'timeout') return new CallTimeoutError(KEY, policy.timeoutMs as number, failure)
  if (reason !== 'retry_budget_exhausted') return failure?.cause
  return new RetryBudgetExhaustedError(KEY, state.totalDelayMs, policy.retryBudgetMs as number, failure?.cause)
}

/** The one form of dates that HTTP still sends; NaN for anything else. */
function readDate(text: string): number {
  return Date.parse(text.endsWith('GMT') ? text : '')
}
