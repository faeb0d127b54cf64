/**
 * The peers, each set up once and long-lived as its documentation recommends, in the fastest configuration that does
 * what the row asks. A peer that lacks a feature has no entry; a part that it lacks stands in brackets after its name.
 */
import asyncRetry from 'async-retry'
import * as cockatiel from 'cockatiel'
import * as Effect from 'effect/Effect'
import * as Schedule from 'effect/Schedule'
import { backOff } from 'exponential-backoff'
import * as mollitia from 'mollitia'
import CircuitBreaker from 'opossum'
import pRetry from 'p-retry'
import { retry as tsRetry } from 'ts-retry-promise'

/** @typedef {import('./harness.mjs').Call} Call */

const HOUR = 3_600_000
/** @template T @param {T} value */
const same = (value) => value

/** An effect is a value made once per operation. @param {(op: any) => Effect.Effect<any, any>} build @returns {Call} */
function effectOf(build) {
  /** @type {any} */
  let of
  /** @type {any} */
  let effect
  return (op, signal) => {
    if (op !== of) effect = build((of = op))
    return Effect.runPromise(effect, signal && { signal })
  }
}
/** `catch: same` spares effect a wrapper error with a stack. @param {any} op */
const effectful = (op) => Effect.tryPromise({ try: () => op(), catch: same })

/** @param {mollitia.Module[]} modules @returns {Call} */
function circuitOf(...modules) {
  const circuit = new mollitia.Circuit({ func: (op) => op(), options: { modules } })
  return (op) => circuit.execute(op)
}

/** opossum with every statistic off that nobody reads. @param {CircuitBreaker.Options} options @returns {Call} */
function opossumOf(options) {
  const quiet = { rollingPercentilesEnabled: false, enableSnapshots: false, timeout: /** @type {const} */ (false) }
  const breaker = new CircuitBreaker((/** @type {any} */ op) => op(), { ...quiet, ...options })
  return (op) => breaker.fire(op)
}

const cockatielBreaker = () =>
  cockatiel.circuitBreaker(cockatiel.handleAll, {
    halfOpenAfter: HOUR,
    breaker: new cockatiel.ConsecutiveBreaker(5),
  })
const cockatielRetry = (/** @type {number} */ retries, /** @type {number} */ delayMs) =>
  cockatiel.retry(cockatiel.handleAll, {
    maxAttempts: retries,
    backoff: new cockatiel.ConstantBackoff(delayMs),
  })
const mollitiaBreaker = (/** @type {Partial<mollitia.SlidingWindowBreakerOptions>} */ options) =>
  new mollitia.SlidingCountBreaker({ openStateDelay: HOUR, ...options })

/**
 * Retries with a fixed delay.
 * @param {{ retries?: number, delayMs?: number }} [options] @returns {Record<string, Call>}
 */
export function retrying({ retries = 2, delayMs = 0 } = {}) {
  const policy = cockatielRetry(retries, delayMs)
  const pOptions = { retries, minTimeout: delayMs, factor: 1 }
  const asyncOptions = { retries, minTimeout: delayMs, factor: 1, randomize: false }
  const backOffOptions = { numOfAttempts: retries + 1, startingDelay: delayMs, timeMultiple: 1 }
  const tsOptions = { retries, delay: delayMs, timeout: /** @type {const} */ ('INFINITELY') }
  const recurs = Schedule.recurs(retries)
  const schedule = delayMs === 0 ? recurs : Schedule.intersect(Schedule.spaced(delayMs), recurs)
  return {
    cockatiel: (op, signal) => policy.execute(op, signal),
    'p-retry': (op, signal) => pRetry(op, signal ? { ...pOptions, signal } : pOptions),
    'async-retry': (op) => asyncRetry(op, asyncOptions),
    effect: effectOf((op) => Effect.retry(effectful(op), /** @type {Schedule.Schedule<unknown>} */ (schedule))),
    mollitia: circuitOf(new mollitia.Retry({ attempts: retries, interval: delayMs })),
    'exponential-backoff': (op) => backOff(op, backOffOptions),
    'ts-retry-promise': (op) => tsRetry(op, tsOptions),
  }
}

/** Retries under a breaker. @returns {Record<string, Call>} */
export function breaking() {
  const policy = cockatiel.wrap(cockatielRetry(2, 0), cockatielBreaker())
  return {
    'cockatiel (no budget)': (op) => policy.execute(op),
    'mollitia (no budget)': circuitOf(new mollitia.Retry({ attempts: 2 }), mollitiaBreaker({})),
    'opossum (no retry, no budget)': opossumOf({ resetTimeout: HOUR }),
  }
}

/** Retries under a breaker, each attempt with a timeout that also ends an operation that ignores its signal. */
export function timingOut(timeoutMs = 1000) {
  const policy = cockatiel.wrap(
    cockatielRetry(2, 0),
    cockatielBreaker(),
    cockatiel.timeout(timeoutMs, { strategy: cockatiel.TimeoutStrategy.Aggressive, abortOnReturn: false }),
  )
  return /** @type {Record<string, Call>} */ ({
    'opossum (no retry, no budget)': opossumOf({ timeout: timeoutMs, resetTimeout: HOUR }),
    'effect (no breaker, no budget)': effectOf((op) =>
      Effect.retry(Effect.timeout(effectful(op), timeoutMs), Schedule.recurs(2)),
    ),
    'cockatiel (no budget)': (op) => policy.execute(op),
    'mollitia (no budget)': circuitOf(
      new mollitia.Retry({ attempts: 2 }),
      mollitiaBreaker({}),
      new mollitia.Timeout({ delay: timeoutMs }),
    ),
  })
}

/** Breakers that are open and limits that are used up, without a retry around them. @param {() => any} fail */
export async function refusing(fail) {
  const open = cockatielBreaker()
  for (let i = 0; i < 5; i++) await open.execute(fail).catch(() => {})
  const full = cockatiel.bulkhead(0)
  const opossum = new CircuitBreaker((/** @type {any} */ op) => op(), {
    timeout: false,
    resetTimeout: HOUR,
    enableSnapshots: false,
  })
  opossum.open()
  const limit = circuitOf(new mollitia.Ratelimit({ limitPeriod: HOUR, limitForPeriod: 1 }))
  await limit(async () => 1)
  return /** @type {Record<string, Call>} */ ({
    'cockatiel: breaker': (op) => open.execute(op),
    'opossum: breaker': (op) => opossum.fire(op),
    'mollitia: breaker': circuitOf(mollitiaBreaker({ state: mollitia.BreakerState.OPENED })),
    'cockatiel: bulkhead': (op) => full.execute(op),
    'mollitia: rate limit': limit,
  })
}

/** Breakers that look back over a window and never open. Each entry makes a fresh one. */
export function windows(size = 100_000) {
  const opossum = (/** @type {boolean} */ percentiles) => () =>
    opossumOf({
      rollingPercentilesEnabled: percentiles,
      rollingCountTimeout: HOUR,
      errorThresholdPercentage: 100,
      volumeThreshold: 10 * size,
    })
  const sampled = (/** @type {() => cockatiel.IBreaker} */ make) => () => {
    const policy = cockatiel.circuitBreaker(cockatiel.handleAll, { halfOpenAfter: HOUR, breaker: make() })
    return /** @type {Call} */ ((op) => policy.execute(op))
  }
  return /** @type {Record<string, () => Call>} */ ({
    opossum: opossum(true),
    'opossum, percentiles off': opossum(false),
    'cockatiel, count of the last 100 000': sampled(
      () => new cockatiel.CountBreaker({ threshold: 0.999_999, size, minimumNumberOfCalls: size }),
    ),
    'cockatiel, sampled': sampled(
      () => new cockatiel.SamplingBreaker({ threshold: 0.999_999, duration: HOUR, minimumRps: size }),
    ),
  })
}

/** For bundles: the part that retries, and, of those that are more than a retry, the whole. */
export const modules = {
  cockatiel: {
    retry: "export { retry, handleAll, ExponentialBackoff } from 'cockatiel'",
    whole: "export * from 'cockatiel'",
  },
  'p-retry': { retry: "export { default } from 'p-retry'" },
  'async-retry': { retry: "export { default } from 'async-retry'" },
  opossum: { whole: "export { default } from 'opossum'" },
  effect: {
    retry: "export { retry, tryPromise, runPromise } from 'effect/Effect'",
    whole: "export { Effect, Schedule } from 'effect'",
  },
  mollitia: { retry: "export { Circuit, Retry } from 'mollitia'", whole: "export * from 'mollitia'" },
  'exponential-backoff': { retry: "export { backOff } from 'exponential-backoff'" },
  'ts-retry-promise': { retry: "export { retry } from 'ts-retry-promise'" },
}
