/**
 * `retry`: a call without an executor of one's own. Imports the executor.
 */
import type { PolicyInput } from '../core/policy.js'
import type { Operation } from './context.js'
import { type CallOptions, Executor, type ExecutorOptions } from './executor.js'

export type RetryOptions = Omit<CallOptions, 'policy'> &
  Omit<ExecutorOptions, 'policies' | 'defaultPolicy' | 'missingPolicyMode'>

const KEY = 'retry'

/** Made at the first use, so that importing the library does nothing. */
let shared: Executor | undefined
/** One executor per options object, so that a constant one is read once. */
const executors = new WeakMap<RetryOptions, Executor>()

/** Runs the operation until it succeeds or the policy says stop. Default: 3 attempts, exponential, full jitter. */
export function retry<T>(operation: Operation<T>, policy?: PolicyInput, options?: RetryOptions): Promise<T> {
  const executor = options === undefined ? (shared ??= new Executor({}, true)) : executorFor(options)
  return executor.runWith(KEY, operation, policy, options?.signal)
}

function executorFor(options: RetryOptions): Executor {
  if (Object.keys(options).every((name) => name === 'signal')) return (shared ??= new Executor({}, true))
  let executor = executors.get(options)
  if (executor === undefined) {
    executor = new Executor(options, true)
    executors.set(options, executor)
  }
  return executor
}
