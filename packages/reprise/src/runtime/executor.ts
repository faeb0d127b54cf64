/**
 * The executor: runs operations under the policy of their key. Imports core and the runtime's parts.
 */
import type { Breaker } from '../core/breaker.js'
import type { BudgetLookup } from '../core/gate.js'
import type { PolicyArgument } from '../core/policy.js'
import { didYouMean } from '../core/problems.js'
import { Call } from './call.js'
import type { Operation } from './context.js'
import {
  executorEnvironment,
  expectCallOptions,
  type ExecutorOptions,
  oneAttempt,
  policiesOf,
  type StrictOptions,
} from './executor-options.js'
import { runBare, runFirst } from './first.js'
import type { Inspection, Inspector } from './inspection.js'
import { INSPECTOR } from './inspector.js'
import type { Plan } from './plan.js'
import { PlanBook } from './plan-book.js'
import { expectCall, notAFunction, startCall } from './start-call.js'
import { expectStrict } from './strict-keys.js'

/** Options of one call. `T`: what the operation gives. */
export interface CallOptions<T = unknown> {
  /**
   * Ends the call when it aborts: the running attempt is told, and the call rejects with the signal's reason.
   * @default none
   * @example { signal: AbortSignal.timeout(5000) }
   */
  readonly signal?: AbortSignal | undefined
  /**
   * Used instead of the policy of the key. Read once per object: do not change it afterwards.
   * @default the policy of the key
   * @example { policy: { attempts: 5 } }
   */
  readonly policy?: PolicyArgument<T> | undefined
}

/** What `createExecutor` gives. `Key`: the keys that calls may have. */
export interface Executor<Key extends string = string> {
  /**
   * Runs the operation under the policy of the key. Rejects with the operation's own last error, or with a
   * `RepriseError`.
   * @example const price = await executor.run('price', ({ signal }) => fetchPrice('tea', signal))
   */
  run<T>(key: Key, operation: Operation<T>, options?: CallOptions<NoInfer<T>>): Promise<T>
  /**
   * Runs the operation and tells how it went, success or not. Rejects only for a wrong use.
   * @example
   * const { ok, timeline } = await executor.inspect('price', () => fetchPrice('tea'))
   * console.log(ok, timeline.attempts.length)
   */
  inspect<T>(key: Key, operation: Operation<T>, options?: CallOptions<NoInfer<T>>): Promise<Inspection<T>>
  /**
   * The function with the policy of the key around it: same arguments, same result, as a promise.
   * @example
   * const safely = executor.wrap('price', fetchPrice)
   * const price = await safely('tea')
   */
  wrap<This, A extends unknown[], T>(
    key: Key,
    fn: (this: This, ...args: A) => T | PromiseLike<T>,
  ): (this: This, ...args: A) => Promise<T>
  /**
   * The breaker with this key: to look at, open or close it by hand, snapshot or restore it. Undefined while no policy
   * in use has it: those of `policies` count from the start, others from their first call.
   * @example executor.breaker('mail')?.reset()
   */
  breaker(key: string): Breaker | undefined
}

class PolicyExecutor implements Executor {
  private readonly book: PlanBook
  readonly #keys: readonly string[]
  readonly budgets: BudgetLookup | undefined

  constructor(options: ExecutorOptions = {}) {
    const environment = executorEnvironment(options)
    const policies = policiesOf(options)
    this.budgets = environment.budgets
    this.book = new PlanBook(environment, policies, false)
    this.#keys = [...policies.byKey.keys()]
  }

  run<T>(key: string, operation: Operation<T>, options?: CallOptions): Promise<T> {
    const known = options === undefined ? this.book.known(key) : undefined
    if (known?.light && typeof operation === 'function') {
      return (known.bare ? runBare(known, operation) : runFirst(known, operation, null)) as Promise<T>
    }
    return this.#startWith(key, operation, options, null) as Promise<T>
  }

  inspect<T>(key: string, operation: Operation<T>, options?: CallOptions): Promise<Inspection<T>> {
    const known = options === undefined ? this.book.known(key) : undefined
    if (known?.light && typeof operation === 'function') {
      return runFirst(known, operation, INSPECTOR) as Promise<Inspection<T>>
    }
    return this.#startWith(key, operation, options, INSPECTOR) as Promise<Inspection<T>>
  }

  wrap<This, A extends unknown[], T>(
    key: string,
    fn: (this: This, ...args: A) => T | PromiseLike<T>,
  ): (this: This, ...args: A) => Promise<T> {
    if (typeof fn !== 'function') throw notAFunction(fn, key)
    const executor = this
    return function wrapped(this: This, ...args: A): Promise<T> {
      return executor.run(key, () => fn.apply(this, args))
    }
  }

  breaker(key: string): Breaker | undefined {
    return this.book.breaker(key)
  }

  #startWith(
    key: string,
    operation: Operation<unknown>,
    options: CallOptions | undefined,
    inspector: Inspector | null,
  ): Promise<unknown> {
    const signal = options?.signal
    let plan: Plan | undefined
    try {
      expectCallOptions(options)
      expectCall(operation, signal, key)
      plan = this.book.find(key, options?.policy)
    } catch (error) {
      return Promise.reject(error)
    }
    if (plan !== undefined) return startCall(plan, operation, signal, inspector)
    return Call.open(this.#refusedPlan(key), operation, signal, inspector, (call) => call.begin('no_policy'))
  }

  /** For a call that is refused for want of a policy. */
  #refusedPlan(key: string): Plan {
    const near = didYouMean(key, this.#keys)?.replace('did', 'Did')
    return this.book.makePlan(key, { ...oneAttempt(), notes: near === undefined ? [] : [near] }, false)
  }
}

/**
 * Makes an executor with `strictKeys`: a key that `policies` does not have is an error of the compiler as well.
 * @example
 * const strict = createExecutor({ strictKeys: true, policies: { price: { attempts: 5 }, mail: 3 } })
 * await strict.run('price', () => fetchPrice('tea'))
 */
export function createExecutor<Key extends string>(options: StrictOptions<Key>): Executor<Key>
/**
 * Makes an executor: policies, budgets, breakers and observers for the calls of a program. Throws an `OptionsError` or
 * a `PolicyError` that names every problem.
 * @example
 * const api = createExecutor({ policies: { price: { attempts: 5, timeout: '10s' } } })
 * const price = await api.run('price', ({ signal }) => fetchPrice('tea', signal))
 */
export function createExecutor(options?: ExecutorOptions): Executor
export function createExecutor(options?: ExecutorOptions): Executor {
  const executor = new PolicyExecutor(options)
  if (options?.strictKeys === true) expectStrict(options, executor.budgets)
  return executor
}
