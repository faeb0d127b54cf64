/**
 * Reprise as built, set up for each row. `reprise` is undefined while `packages/reprise/dist` does not exist.
 */
import { existsSync } from 'node:fs'

/** @typedef {import('./harness.mjs').Call} Call */

export const entry = new URL('../packages/reprise/dist/index.js', import.meta.url)
/** @type {any} */
export const reprise = existsSync(entry) ? await import(entry.href) : undefined

const KEY = 'service'
const breaker = { failureThreshold: 5, recoveryTimeout: '1h' }
/** A bucket that never runs dry. */
const bucket = () => ({ bucket: reprise.tokenBucket({ capacity: 1e9, refillPerSecond: 1e9 }) })

/** @param {object} policy @param {object} [options] */
export const executorOf = (policy, options) => reprise.createExecutor({ policies: { [KEY]: policy }, ...options })

/** @param {object} policy @param {object} [options] @returns {Call} */
function runOf(policy, options) {
  const executor = executorOf(policy, options)
  return (op, signal) => (signal ? executor.run(KEY, op, { signal }) : executor.run(KEY, op))
}

/** Without Reprise built there is nothing to measure. @template T @param {() => T} make @returns {T | {}} */
const ifBuilt = (make) => (reprise ? make() : {})

/** @param {{ retries?: number, delayMs?: number }} [options] */
const fixed = ({ retries = 2, delayMs = 0 } = {}) => ({
  attempts: retries + 1,
  backoff: 'fixed',
  initialDelay: delayMs,
})

/** @param {{ retries?: number, delayMs?: number }} [options] @returns {Record<string, Call>} */
export const retrying = (options) =>
  ifBuilt(() => {
    const policy = fixed(options)
    return {
      'reprise: executor.run': runOf(policy),
      'reprise: retry': (op, signal) => reprise.retry(op, policy, signal && { signal }),
    }
  })

/** @returns {Record<string, Call>} */
export const breaking = () =>
  ifBuilt(() => ({ 'reprise: executor.run': runOf({ ...fixed(), breaker, budget: 'bucket' }, { budgets: bucket() }) }))

/** @returns {Record<string, Call>} */
export const timingOut = (timeoutMs = 1000) =>
  ifBuilt(() => ({
    'reprise: executor.run': runOf(
      { ...fixed(), breaker, budget: 'bucket', attemptTimeout: timeoutMs },
      { budgets: bucket() },
    ),
  }))

/** @returns {Record<string, Call>} */
export const everything = () =>
  ifBuilt(() => {
    const policy = {
      ...fixed(),
      breaker,
      budget: 'bucket',
      attemptTimeout: 1000,
      timeout: '30s',
      maxTotalDelay: '10s',
      retryOn: ['network', 'timeout', 'server_error'],
    }
    const plain = executorOf(policy, { budgets: bucket() })
    return {
      'reprise: run, turn clock': (op) => plain.run(KEY, op),
      'reprise: inspect, exact times': (op) => plain.inspect(KEY, op),
      'reprise: run with an observer, exact times': runOf(policy, { budgets: bucket(), observers: [{ onEvent() {} }] }),
      'reprise: run with a hedge too': runOf({ ...policy, hedge: { delay: 500 } }, { budgets: bucket() }),
    }
  })

/** @param {() => any} fail @returns {Promise<Record<string, Call>>} */
export async function refusing(fail) {
  if (!reprise) return {}
  const open = runOf({ ...fixed(), breaker: { ...breaker, failureThreshold: 1 } })
  await open(fail).catch(() => {})
  const budgets = { bucket: reprise.tokenBucket({ capacity: 1, refillPerSecond: 1 }) }
  return {
    'reprise: breaker': open,
    'reprise: budget': runOf({ ...fixed(), budget: { name: 'bucket', cost: 2 } }, { budgets }),
  }
}

/** @returns {Record<string, () => Call>} */
export const windows = () =>
  ifBuilt(() => ({
    reprise: () =>
      runOf(
        { ...fixed({ retries: 1 }), breaker: { ...breaker, failureThreshold: 1_000_000 }, budget: 'ratio' },
        { budgets: { ratio: reprise.ratioBudget({ ratio: 0.1, minPerSecond: 1000, window: '1h' }) } },
      ),
  }))

/** The recommended policy with no budget, one adaptive budget, and one for each key; the first two without time limits too. @returns {Record<string, Call>} */
export const adapting = () =>
  ifBuilt(() => {
    const { defaultPolicy: policy, budgets } = reprise.recommended()
    const unlimited = { attemptTimeout: undefined, timeout: undefined }
    const adaptive = () => ({ [policy.budget]: reprise.adaptiveBudget({ bulkhead: true }) })
    return {
      'reprise: no budget': runOf({ ...policy, budget: undefined }),
      'reprise: adaptive': runOf(policy, { budgets: adaptive() }),
      'reprise: adaptive, per key': runOf(policy, { budgets }),
      'reprise: no budget, no time limits': runOf({ ...policy, ...unlimited, budget: undefined }),
      'reprise: adaptive, no time limits': runOf({ ...policy, ...unlimited }, { budgets: adaptive() }),
    }
  })
