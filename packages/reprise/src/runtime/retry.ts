/**
 * `retry`: a call without an executor of one's own. Of executors it has what is needed for one key, so that a bundle of it
 * does not hold the rest. Imports core and the runtime's parts.
 */
import { IN_CODE, normalizePolicy } from '../core/normalize.js'
import type { PolicyArgument } from '../core/policy.js'
import type { Operation } from './context.js'
import type { CallOptions } from './executor.js'
import { environmentOf, type ExecutorOptions, type GivenPolicies } from './executor-options.js'
import { runBare } from './first.js'
import type { Plan } from './plan.js'
import { PlanBook } from './plan-book.js'
import { expectCall, startCall } from './start-call.js'

/** Options of one call by `retry`: its signal, and what an executor has. */
export type RetryOptions = Omit<CallOptions, 'policy'> &
  Omit<ExecutorOptions, 'policies' | 'defaultPolicy' | 'missingPolicyMode' | 'strictKeys'>

const KEY = 'retry'
const IN_POLICY = 'it belongs to the policy: `retry(operation, policy, options)`'

/** There are no keys, so there are no policies by key: what a policy does not say is the default. */
const policies = (): GivenPolicies => ({
  byKey: new Map(),
  fallback: normalizePolicy({}, IN_CODE),
  isStrict: false,
})

/** Made at the first use, so that importing the library does nothing. */
let shared: PlanBook | undefined
/** One book of plans per options object, so that a constant one is read once. */
const books = new WeakMap<RetryOptions, PlanBook>()
/** Most often a call is given the policy of the call before, and no options: its plan, if it is a bare one. */
let lastBare: Plan | undefined
let lastPolicy: PolicyArgument | undefined

/**
 * Runs the operation until it succeeds or the policy says stop. Rejects with the operation's own last error, or with a
 * `RepriseError`. What the policy does not say: 3 attempts, exponential waits, full jitter.
 * @example const price = await retry(({ signal }) => fetchPrice('tea', signal), { attempts: 5, timeout: '10s' })
 */
export function retry<T>(
  operation: Operation<T>,
  policy?: PolicyArgument<NoInfer<T>>,
  options?: RetryOptions,
): Promise<T> {
  const isPlain = options === undefined
  if (isPlain && policy === lastPolicy && lastBare !== undefined && typeof operation === 'function') {
    return runBare(lastBare, operation) as Promise<T>
  }
  try {
    const book = isPlain ? sharedBook() : bookFor(options)
    expectCall(operation, options?.signal)
    // A fallback is there, so a plan is always found.
    const plan = book.find(KEY, policy) as Plan
    if (isPlain) {
      lastBare = plan.bare ? plan : undefined
      lastPolicy = policy
    }
    return startCall(plan, operation, options?.signal, null) as Promise<T>
  } catch (error) {
    return Promise.reject(error)
  }
}

function sharedBook(): PlanBook {
  shared ??= makeBook({})
  return shared
}

function bookFor(options: RetryOptions): PlanBook {
  if (Object.keys(options).every((name) => name === 'signal')) return sharedBook()
  let book = books.get(options)
  if (book === undefined) {
    book = makeBook(options)
    books.set(options, book)
  }
  return book
}

/** The key says nothing, so a breaker without a key of its own belongs to its policy object. */
function makeBook(options: RetryOptions): PlanBook {
  return new PlanBook(environmentOf(options, 'retry', IN_POLICY), policies(), true)
}
