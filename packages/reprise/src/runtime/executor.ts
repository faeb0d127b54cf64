/**
 * The executor: finds the policy of a key, makes it ready once, and runs calls. Imports core and the runtime's parts.
 */
import { Breaker } from '../core/breaker.js'
import type { Budget } from '../core/budget.js'
import { BudgetRegistry } from '../core/budget-registry.js'
import type { Observer } from '../core/event.js'
import type { MissingBudgetMode } from '../core/gate.js'
import { type NormalizedPolicy, normalizePolicy } from '../core/normalize.js'
import type { BreakerPolicy, PolicyInput } from '../core/policy.js'
import type { Clock, Random } from '../core/time.js'
import { BoundedMap } from './bounded-map.js'
import { Call } from './call.js'
import type { Operation } from './context.js'
import { Environment } from './environment.js'
import { runBare, runFirst } from './first.js'
import type { Inspection } from './inspection.js'
import { Plan } from './plan.js'
import { systemClock } from './system-clock.js'

export interface ExecutorOptions {
  /** Policies by key. */
  readonly policies?: Readonly<Record<string, PolicyInput>>
  /** For keys without a policy, when `missingPolicyMode` is `fallback`. Default: 3 attempts, exponential, full jitter. */
  readonly defaultPolicy?: PolicyInput
  /** A key without a policy: use the default (`fallback`), run once (`allow`), or reject with `no_policy` (`deny`). */
  readonly missingPolicyMode?: 'fallback' | 'allow' | 'deny'
  readonly budgets?: BudgetRegistry | Readonly<Record<string, Budget>>
  /** A policy that names a budget nobody registered: go on (`allow`, the default) or refuse. */
  readonly missingBudgetMode?: MissingBudgetMode
  /** Budgets and predicates that throw: count as a denial, and as not retryable. Otherwise their error is the call's. */
  readonly recoverHookErrors?: boolean
  readonly observers?: readonly Observer[]
  readonly clock?: Clock
  readonly random?: Random
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Instead of the policy of the key. Read once per object: do not change it afterwards. */
  readonly policy?: PolicyInput | undefined
}

/** Plans of keys that have no policy of their own. */
const MAX_FALLBACK_PLANS = 1000
const MAX_BREAKERS = 10_000

export class Executor {
  private readonly environment: Environment
  /** Of the keys with a policy of their own, and of others as they come. */
  private readonly plans: BoundedMap<Plan>
  /** Of policies given at a call, by key. */
  private readonly plansOfPolicies = new WeakMap<object, BoundedMap<Plan>>()
  private readonly breakersByKey = new BoundedMap<Breaker>(MAX_BREAKERS, (breaker) => breaker.idle)
  private readonly fallback: NormalizedPolicy | undefined

  private readonly anonymous: boolean
  /** Most often a call is given the policy of the call before. */
  private lastGiven: { readonly input: PolicyInput; readonly plan: Plan } | undefined = undefined

  /** `anonymous`: the key says nothing, so a breaker without a key of its own belongs to its policy object. */
  constructor(options: ExecutorOptions = {}, anonymous = false) {
    this.anonymous = anonymous
    this.environment = new Environment({
      clock: options.clock ?? systemClock,
      random: options.random ?? Math.random,
      budgets: registryOf(options.budgets),
      missingBudgetMode: options.missingBudgetMode ?? 'allow',
      recoverHookErrors: options.recoverHookErrors ?? false,
      observers: options.observers ?? [],
    })
    this.fallback = fallbackOf(options)
    const policies = Object.entries(options.policies ?? {})
    const fallback = this.fallback?.policy
    this.plans = new BoundedMap(policies.length + MAX_FALLBACK_PLANS, (plan) => plan.policy === fallback)
    for (const [key, input] of policies) this.plans.set(key, this.makePlan(key, normalizePolicy(input)))
  }

  /** Runs the operation under the policy of the key. */
  run<T>(key: string, operation: Operation<T>, options?: CallOptions): Promise<T> {
    const known = options === undefined ? this.plans.get(key) : undefined
    if (known?.light && typeof operation === 'function') {
      return (known.bare ? runBare(known, operation) : runFirst(known, operation, false)) as Promise<T>
    }
    return this.start(known, key, operation, options?.policy, options?.signal, false) as Promise<T>
  }

  /** `run` with its options taken apart: for `retry`, which has them so. */
  runWith<T>(
    key: string,
    operation: Operation<T>,
    policy: PolicyInput | undefined,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    return this.start(undefined, key, operation, policy, signal, false) as Promise<T>
  }

  /** Runs the operation and tells how it went, success or not. Rejects only for a wrong use. */
  inspect<T>(key: string, operation: Operation<T>, options?: CallOptions): Promise<Inspection<T>> {
    return this.start(undefined, key, operation, options?.policy, options?.signal, true) as Promise<Inspection<T>>
  }

  /** The function with the policy of the key around it: same arguments, same result, as a promise. */
  wrap<This, A extends unknown[], T>(
    key: string,
    fn: (this: This, ...args: A) => T | PromiseLike<T>,
  ): (this: This, ...args: A) => Promise<T> {
    const executor = this
    return function wrapped(this: This, ...args: A): Promise<T> {
      return executor.run(key, () => fn.apply(this, args))
    }
  }

  /** The breaker with this key, once a call has used it: to look at, open or close it by hand, snapshot or restore it. */
  breaker(key: string): Breaker | undefined {
    return this.breakersByKey.get(key)
  }

  private start(
    known: Plan | undefined,
    key: string,
    operation: Operation<unknown>,
    policy: PolicyInput | undefined,
    signal: AbortSignal | undefined,
    inspecting: boolean,
  ): Promise<unknown> {
    if (typeof operation !== 'function') return Promise.reject(notAFunction(operation))
    let plan: Plan | undefined
    try {
      plan = known ?? this.planFor(key, policy)
    } catch (error) {
      return Promise.reject(error)
    }
    if (plan === undefined) return this.refuse(key, operation, inspecting)
    if (!plan.light || signal !== undefined) {
      return Call.open(plan, operation, signal, inspecting, (call) => call.begin(undefined))
    }
    return plan.bare && !inspecting ? runBare(plan, operation) : runFirst(plan, operation, inspecting)
  }

  private refuse(key: string, operation: Operation<unknown>, inspecting: boolean): Promise<unknown> {
    const plan = this.makePlan(key, oneAttempt())
    return Call.open(plan, operation, undefined, inspecting, (call) => call.begin('no_policy'))
  }

  // ── plans ──────────────────────────────────────────────────────────────────────────────────────

  /** Undefined: there is none, and a call without one is refused. Throws if the given policy is invalid. */
  private planFor(key: string, given: PolicyInput | undefined): Plan | undefined {
    if (given !== undefined) return this.planOfPolicy(key, given)
    const known = this.plans.get(key)
    if (known !== undefined || this.fallback === undefined) return known
    const plan = this.makePlan(key, this.fallback)
    this.plans.set(key, plan)
    return plan
  }

  private planOfPolicy(key: string, input: PolicyInput): Plan {
    const { lastGiven } = this
    if (lastGiven !== undefined && lastGiven.input === input && lastGiven.plan.key === key) return lastGiven.plan
    const plan = this.findPlanOfPolicy(key, input)
    this.lastGiven = { input, plan }
    return plan
  }

  private findPlanOfPolicy(key: string, input: PolicyInput): Plan {
    let plans = this.plansOfPolicies.get(input)
    const known = plans?.get(key)
    if (known !== undefined) return known
    const plan = this.makePlan(key, normalizePolicy(input))
    if (typeof input !== 'object') return plan
    plans ??= new BoundedMap(MAX_FALLBACK_PLANS, () => true)
    plans.set(key, plan)
    this.plansOfPolicies.set(input, plans)
    return plan
  }

  private makePlan(key: string, { policy, notes }: NormalizedPolicy): Plan {
    const settings = policy.breaker
    if (settings === undefined) return new Plan(key, policy, notes, this.environment)
    if (settings.key === undefined && this.anonymous) {
      return new Plan(key, policy, notes, this.environment, this.makeBreaker(key, settings))
    }
    const breakerKey = settings.key ?? key
    let breaker = this.breakersByKey.get(breakerKey)
    if (breaker === undefined) {
      breaker = this.makeBreaker(breakerKey, settings)
      this.breakersByKey.set(breakerKey, breaker)
    }
    return new Plan(key, policy, notes, this.environment, breaker)
  }

  private makeBreaker(key: string, settings: BreakerPolicy): Breaker {
    const breaker: Breaker = new Breaker(key, settings, (from, to) =>
      this.environment.breakerChanged(breaker, from, to),
    )
    return breaker
  }
}

export function createExecutor(options?: ExecutorOptions): Executor {
  return new Executor(options)
}

function oneAttempt(): NormalizedPolicy {
  return normalizePolicy({ attempts: 1 })
}

function notAFunction(operation: unknown): TypeError {
  return new TypeError(`The operation must be a function, not ${operation === null ? 'null' : typeof operation}`)
}

function registryOf(budgets: ExecutorOptions['budgets']): BudgetRegistry | undefined {
  if (budgets === undefined || budgets instanceof BudgetRegistry) return budgets
  const registry = new BudgetRegistry()
  for (const [name, budget] of Object.entries(budgets)) registry.register(name, budget)
  return registry
}

/** Undefined: a key without a policy is refused. */
function fallbackOf(options: ExecutorOptions): NormalizedPolicy | undefined {
  if (options.missingPolicyMode === 'deny') return undefined
  if (options.missingPolicyMode === 'allow') return oneAttempt()
  return normalizePolicy(
    options.defaultPolicy ?? {},
    options.defaultPolicy === undefined ? { defaultJitter: 'full' } : {},
  )
}
