/**
 * The plans of an executor: those of configured keys, those of other keys as they come, and those of policies that are
 * given at a call; with the breakers and latencies that plans share. All maps are bounded. Imports core and the plan.
 */
import { Breaker } from '../core/breaker.js'
import { LatencyHistogram } from '../core/latency.js'
import { IN_CODE, type NormalizedPolicy, normalizePolicy } from '../core/normalize.js'
import type { BreakerPolicy, Policy, PolicyArgument } from '../core/policy.js'
import { BoundedMap } from '../core/bounded-map.js'
import type { Environment } from './environment.js'
import { type GivenPolicies, missingBudgets } from './executor-options.js'
import { warn } from './hook-errors.js'
import { Plan } from './plan.js'

/** Of keys that have no policy of their own. */
const MAX_PLANS = 1000
const MAX_BREAKERS = 10_000
/** So many policy objects with breakers of their own are not constants of a program: they are written in place. */
const MANY_KEYLESS = 10
const KEYLESS =
  'A breaker of retry() without `key` belongs to its policy object: one that is written in place never opens.'

/** Breakers without a key that calls of `retry` have made, in whatever options. */
let keyless = 0

/** Breakers of configured policies are kept whatever happens. */
interface KeptBreaker {
  readonly breaker: Breaker
  readonly pinned: boolean
}

export class PlanBook {
  readonly #environment: Environment
  readonly #anonymous: boolean
  readonly #fallback: NormalizedPolicy | undefined
  readonly #isStrict: boolean
  private readonly plans: BoundedMap<Plan>
  readonly #plansOfPolicies = new WeakMap<object, BoundedMap<Plan>>()
  private readonly breakers: BoundedMap<KeptBreaker>
  /** By key: calls that bring their policy along share what they have seen. */
  private readonly latencies = new BoundedMap<LatencyHistogram>(MAX_PLANS, () => true)
  /** Most often a call is given the policy of the call before. */
  #lastGiven: { readonly input: PolicyArgument; readonly plan: Plan } | undefined = undefined

  /** `anonymous`: keys say nothing, so a breaker without a key of its own belongs to its policy object. */
  constructor(environment: Environment, policies: GivenPolicies, anonymous: boolean) {
    const { byKey, fallback, isStrict } = policies
    this.#environment = environment
    this.#anonymous = anonymous
    this.#fallback = fallback
    this.#isStrict = isStrict
    this.plans = new BoundedMap(byKey.size + MAX_PLANS, (plan) => !byKey.has(plan.key))
    this.breakers = new BoundedMap(byKey.size + MAX_BREAKERS, ({ breaker, pinned }) => breaker.idle && !pinned)
    for (const [key, policy] of byKey) this.plans.set(key, this.makePlan(key, policy, true))
  }

  /** The plan of a key that has been seen before. */
  known(key: string): Plan | undefined {
    return this.plans.get(key)
  }

  /** Undefined: there is none, and a call without one is refused. Throws if the given policy is invalid. */
  find(key: string, given: PolicyArgument | undefined): Plan | undefined {
    if (given !== undefined) {
      const isRefused = this.#isStrict && this.plans.get(key) === undefined
      return isRefused ? undefined : this.#planOfPolicy(key, given)
    }
    const known = this.plans.get(key)
    if (known !== undefined || this.#fallback === undefined) return known
    const plan = this.makePlan(key, this.#fallback, false)
    this.plans.set(key, plan)
    return plan
  }

  breaker(key: string): Breaker | undefined {
    return this.breakers.get(key)?.breaker
  }

  #planOfPolicy(key: string, input: PolicyArgument): Plan {
    const lastGiven = this.#lastGiven
    if (lastGiven !== undefined && lastGiven.input === input && lastGiven.plan.key === key) return lastGiven.plan
    const plan = this.#findPlanOfPolicy(key, input)
    this.#lastGiven = { input, plan }
    return plan
  }

  #findPlanOfPolicy(key: string, input: PolicyArgument): Plan {
    if (typeof input !== 'object') return this.makePlan(key, normalizePolicy(input, IN_CODE), false)
    let plans = this.#plansOfPolicies.get(input)
    const known = plans?.get(key)
    if (known !== undefined) return known
    const plan = this.makePlan(key, normalizePolicy(input, IN_CODE), false)
    plans ??= new BoundedMap(MAX_PLANS, () => true)
    plans.set(key, plan)
    this.#plansOfPolicies.set(input, plans)
    return plan
  }

  /** `pinned`: its breaker is kept whatever happens. */
  makePlan(key: string, { policy, notes }: NormalizedPolicy, pinned: boolean): Plan {
    const settings = policy.breaker
    const latency = policy.hedge?.percentile === undefined ? undefined : this.#latencyOf(key)
    const breaker = settings === undefined ? undefined : this.#breakerFor(key, settings, pinned)
    const all = [...notes, ...this.#budgetNotes(policy)]
    if (this.#isKeyless(settings)) all.push(KEYLESS)
    if (settings !== undefined && breaker?.hasSettings(settings) === false) {
      all.push(`Breaker ${breaker.key} keeps the settings of the policy that used it first.`)
    }
    return new Plan(key, policy, all, this.#environment, breaker, latency)
  }

  /** A name that nobody has registered is allowed, but most often a mistake. */
  #budgetNotes(policy: Policy): string[] {
    const { budgets } = this.#environment
    return missingBudgets(policy, budgets).map(({ name, suggestion }) => {
      const hint = suggestion === undefined ? '' : `: ${suggestion}`
      return `Budget ${name} was not registered when the policy was read${hint}`
    })
  }

  #breakerFor(key: string, settings: BreakerPolicy, pinned: boolean): Breaker {
    if (this.#isKeyless(settings)) {
      if (++keyless === MANY_KEYLESS) warn(`reprise: ${KEYLESS}`)
      return this.#makeBreaker(key, settings)
    }
    const name = settings.key ?? key
    const known = this.breakers.get(name)
    if (known !== undefined) return known.breaker
    const breaker = this.#makeBreaker(name, settings)
    this.breakers.set(name, { breaker, pinned })
    return breaker
  }

  #isKeyless(settings: BreakerPolicy | undefined): boolean {
    return this.#anonymous && settings !== undefined && settings.key === undefined
  }

  #makeBreaker(key: string, settings: BreakerPolicy): Breaker {
    const breaker: Breaker = new Breaker(key, settings, (from, to) =>
      this.#environment.breakerChanged(breaker, from, to),
    )
    return breaker
  }

  #latencyOf(key: string): LatencyHistogram {
    let latency = this.latencies.get(key)
    if (latency === undefined) {
      latency = new LatencyHistogram()
      this.latencies.set(key, latency)
    }
    return latency
  }
}
