/**
 * The options of an executor: what they are, and that they are what they should be. A misspelt option that is silently
 * ignored is a policy that silently does not apply. Imports core and the system clock.
 */
import type { Budget } from '../core/budget.js'
import { BudgetRegistry } from '../core/budget-registry.js'
import { PolicyError, type PolicyProblem } from '../core/errors.js'
import type { Observer } from '../core/event.js'
import type { BudgetLookup, MissingBudgetMode } from '../core/gate.js'
import { type NormalizedPolicy, type NormalizeOptions, normalizePolicy } from '../core/normalize.js'
import type { Policy, PolicyInput } from '../core/policy.js'
import { nearest } from '../core/suggest.js'
import type { Clock, Random } from '../core/time.js'
import { Environment } from './environment.js'
import { systemClock } from './system-clock.js'

export interface ExecutorOptions {
  /** Policies by key. */
  readonly policies?: Readonly<Record<string, PolicyInput | Policy>>
  /** For keys without a policy, when `missingPolicyMode` is `fallback`. Default: 3 attempts, exponential, full jitter. */
  readonly defaultPolicy?: PolicyInput | Policy
  /** A key without a policy: use the default (`fallback`), run once (`allow`), or reject with `no_policy` (`deny`). */
  readonly missingPolicyMode?: MissingPolicyMode
  readonly budgets?: BudgetRegistry | Readonly<Record<string, Budget>>
  /** A policy that names a budget nobody registered: go on (`allow`, the default) or refuse. */
  readonly missingBudgetMode?: MissingBudgetMode
  /** Budgets and predicates that throw: count as a denial, and as not retryable. Otherwise their error is the call's. */
  readonly recoverHookErrors?: boolean
  readonly observers?: readonly Observer[]
  readonly clock?: Clock
  readonly random?: Random
}

export type MissingPolicyMode = 'fallback' | 'allow' | 'deny'

const isFunction = (value: unknown): boolean => typeof value === 'function'
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null
const has = (value: unknown, ...methods: string[]): boolean =>
  isObject(value) && methods.every((method) => isFunction((value as Record<string, unknown>)[method]))

/** What each option must be, and the words for it. `signal` is an option of calls, which `retry` takes together with these. */
const CHECKS: Readonly<Record<keyof ExecutorOptions | 'signal', readonly [(value: unknown) => boolean, string]>> = {
  policies: [isObject, 'an object with a policy for each key'],
  defaultPolicy: [(value) => isObject(value) || typeof value === 'number' || value === false, 'a policy'],
  missingPolicyMode: [
    (value) => ['fallback', 'allow', 'deny'].includes(value as string),
    "'fallback', 'allow' or 'deny'",
  ],
  budgets: [isObject, 'a BudgetRegistry, or an object with a budget for each name'],
  missingBudgetMode: [(value) => value === 'allow' || value === 'deny', "'allow' or 'deny'"],
  recoverHookErrors: [(value) => typeof value === 'boolean', 'true or false'],
  observers: [
    (value) => Array.isArray(value) && value.every((one) => has(one, 'onEvent')),
    'a list of observers, each with an onEvent method',
  ],
  clock: [(value) => has(value, 'wallMs', 'monotonicMs', 'schedule', 'cancel'), 'a clock such as virtualClock()'],
  random: [isFunction, 'a function that gives numbers from 0 up to 1'],
  signal: [() => true, ''],
}

function checkOptions(options: ExecutorOptions): void {
  if (!isObject(options)) throw new TypeError('The options of an executor must be an object')
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name as keyof ExecutorOptions] : undefined
    if (check === undefined) {
      const near = nearest(name, Object.keys(CHECKS))
      throw new TypeError(`Unknown option ${name}${near === undefined ? '' : `: did you mean ${near}?`}`)
    }
    if (value !== undefined && !check[0](value)) throw new TypeError(`The option ${name} must be ${check[1]}`)
  }
}

export function environmentOf(options: ExecutorOptions): Environment {
  checkOptions(options)
  return new Environment({
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    budgets: registryOf(options.budgets),
    missingBudgetMode: options.missingBudgetMode ?? 'allow',
    recoverHookErrors: options.recoverHookErrors ?? false,
    observers: options.observers ?? [],
  })
}

/** A registry of another copy of the library is one all the same. */
function registryOf(budgets: ExecutorOptions['budgets']): BudgetLookup | undefined {
  if (budgets === undefined) return undefined
  if (has(budgets, 'get', 'register')) return budgets as BudgetRegistry
  const registry = new BudgetRegistry()
  for (const [name, budget] of Object.entries(budgets)) registry.register(name, budget as Budget)
  return registry
}

export interface GivenPolicies {
  readonly byKey: ReadonlyMap<string, NormalizedPolicy>
  /** For other keys; undefined: a call without a policy is refused. */
  readonly fallback: NormalizedPolicy | undefined
}

/** Every problem of every policy at once, each with the key it belongs to. */
export function policiesOf(options: ExecutorOptions): GivenPolicies {
  const problems: PolicyProblem[] = []
  const read = (input: unknown, place: string, how?: NormalizeOptions): NormalizedPolicy | undefined => {
    try {
      return normalizePolicy(input, how)
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error
      for (const problem of error.problems) {
        problems.push({ ...problem, path: problem.path === '' ? place : `${place}.${problem.path}` })
      }
      return undefined
    }
  }
  const byKey = new Map<string, NormalizedPolicy>()
  for (const [key, input] of Object.entries(options.policies ?? {})) {
    const policy = read(input, `policies.${key}`)
    if (policy !== undefined) byKey.set(key, policy)
  }
  const given = options.defaultPolicy
  const usual = given === undefined ? read({}, '', { defaultJitter: 'full' }) : read(given, 'defaultPolicy')
  if (problems.length > 0) throw new PolicyError(problems)
  const mode = options.missingPolicyMode ?? 'fallback'
  return { byKey, fallback: { fallback: usual, allow: oneAttempt(), deny: undefined }[mode] }
}

export function oneAttempt(): NormalizedPolicy {
  return normalizePolicy({ attempts: 1 })
}
