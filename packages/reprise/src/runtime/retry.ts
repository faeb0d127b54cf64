/**
 * `retry`: a call without an executor of one's own. Imports the executor.
 */
import type { PolicyArgument } from '../core/policy.js'
import type { Operation } from './context.js'
import { type CallOptions, PolicyExecutor } from './executor.js'
import type { ExecutorOptions } from './executor-options.js'

/** Options of one call by `retry`: its signal, and what an executor has. */
export type RetryOptions = Omit<CallOptions, 'policy'> &
  Omit<ExecutorOptions, 'policies' | 'defaultPolicy' | 'missingPolicyMode' | 'strictKeys'>

const KEY = 'retry'

/** Made at the first use, so that importing the library does nothing. */
let shared: PolicyExecutor | undefined
/** One executor per options object, so that a constant one is read once. */
const executors = new WeakMap<RetryOptions, PolicyExecutor>()

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
  try {
    const executor = options === undefined ? anonymous() : executorFor(options)
    return executor.runWith(KEY, operation, policy, options?.signal)
  } catch (error) {
    return Promise.reject(error)
  }
}

function anonymous(): PolicyExecutor {
  shared ??= new PolicyExecutor({}, true)
  return shared
}

function executorFor(options: RetryOptions): PolicyExecutor {
  if (Object.keys(options).every((name) => name === 'signal')) return anonymous()
  let executor = executors.get(options)
  if (executor === undefined) {
    executor = new PolicyExecutor(options, true)
    executors.set(options, executor)
  }
  return executor
}
