/**
 * The options of an executor: what they are, and that they are what they should be. A misspelt option that is silently
 * ignored is a policy that silently does not apply. Imports core and the system clock.
 */
import type { Budget } from '../core/budget.js'
import { BudgetRegistry } from '../core/budget-registry.js'
import { type OptionProblem, PolicyError } from '../core/errors.js'
import type { Observer } from '../core/event.js'
import { type BudgetLookup, isBudget, type MissingBudgetMode } from '../core/gate.js'
import { IN_CODE, type NormalizedPolicy, isPolicyField, normalizePolicy } from '../core/normalize.js'
import {
  CLOCK,
  expectNone,
  FLAG,
  hasMethods,
  type OptionCheck,
  optionProblems,
  UNKNOWN_OPTION,
} from '../core/options.js'
import type { Policy, PolicyArgument } from '../core/policy.js'
import { didYouMean, isNot } from '../core/problems.js'
import type { Clock, Random } from '../core/time.js'
import { Environment } from './environment.js'
import { systemClock } from './system-clock.js'

/** Options of `createExecutor`. An option that is misspelt or of the wrong type is refused. */
export interface ExecutorOptions {
  /**
   * Policies by key.
   * @default none: every key uses `defaultPolicy`
   * @example { policies: { price: { attempts: 5 }, mail: 3 } }
   */
  readonly policies?: Readonly<Record<string, PolicyArgument>>
  /**
   * For keys without a policy, when `missingPolicyMode` is `fallback`.
   * @default 3 attempts, exponential, full jitter
   * @example { defaultPolicy: { attempts: 5, timeout: '10s' } }
   */
  readonly defaultPolicy?: PolicyArgument
  /**
   * A key without a policy: use the default (`fallback`), run once (`allow`), or reject with `no_policy` (`deny`).
   * @default 'fallback'; with `strictKeys` 'deny'
   * @example { missingPolicyMode: 'deny' }
   */
  readonly missingPolicyMode?: MissingPolicyMode
  /**
   * Calls may have only the keys of `policies`, whatever policy they bring along, and policies may name only budgets
   * that are registered: a misspelt name is refused instead of taking the default policy or no budget.
   * @default false
   * @example { strictKeys: true }
   */
  readonly strictKeys?: boolean
  /** Budgets by the names that policies use. @default none @example { budgets: { api: ratioBudget() } } */
  readonly budgets?: BudgetRegistry | Readonly<Record<string, Budget>>
  /**
   * A policy that names a budget that is not registered: go on without (`allow`) or refuse (`deny`).
   * @default 'allow'; with `strictKeys` 'deny'
   * @example { missingBudgetMode: 'deny' }
   */
  readonly missingBudgetMode?: MissingBudgetMode
  /**
   * Budgets and predicates that throw: count as a denial, and as not retryable, and their errors are reported as warnings.
   * Otherwise the call rejects: with a `BudgetError` whose `cause` is the budget's error, or with the predicate's error.
   * @default false
   * @example { recoverHookErrors: true }
   */
  readonly recoverHookErrors?: boolean
  /**
   * Told what happens, in this order.
   * @default none
   * @example { observers: [{ onEvent: (event) => console.log(event.type) }] }
   */
  readonly observers?: readonly Observer[]
  /** Where times and timers come from; for tests. @default `systemClock` @example { clock: systemClock } */
  readonly clock?: Clock
  /** Gives numbers from 0 up to 1, for jitter and probes. @default `Math.random` @example { random: () => 0.5 } */
  readonly random?: Random
}

/** Options that say which keys calls may have. */
export interface StrictOptions<Key extends string> extends ExecutorOptions {
  readonly strictKeys: true
  readonly policies: Readonly<Record<Key, PolicyArgument>>
}

type MissingPolicyMode = 'fallback' | 'allow' | 'deny'

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

type Checks = Readonly<Record<string, OptionCheck>>

/** What each option must be, and the words for it. `signal` is an option of calls, which `retry` takes together with these. */
const SHARED_CHECKS: Checks = {
  budgets: [isObject, 'a BudgetRegistry, or an object with a budget for each name'],
  missingBudgetMode: [(value) => value === 'allow' || value === 'deny', "'allow' or 'deny'"],
  recoverHookErrors: FLAG,
  observers: [
    (value) => Array.isArray(value) && value.every((one) => hasMethods(one, 'onEvent')),
    'a list of observers that each have an onEvent method',
  ],
  clock: CLOCK,
  random: [(value) => typeof value === 'function', 'a function that gives numbers from 0 up to 1'],
  signal: [() => true, ''],
}

/** With those that only executors have. A function, so that a bundle of `retry` has none of them. */
function executorChecks(): Checks {
  return {
    policies: [isObject, 'an object with a policy for each key'],
    defaultPolicy: [(value) => isObject(value) || typeof value === 'number' || value === false, 'a policy'],
    missingPolicyMode: [
      (value) => ['fallback', 'allow', 'deny'].includes(value as string),
      "'fallback', 'allow' or 'deny'",
    ],
    strictKeys: FLAG,
    ...SHARED_CHECKS,
  }
}

/** Of options that executors share with other functions. */
export function sharedProblems(options: ExecutorOptions, checks = SHARED_CHECKS): OptionProblem[] {
  return [...optionProblems(options, checks), ...budgetProblems(options?.budgets)]
}

export function executorEnvironment(options: ExecutorOptions): Environment {
  return environmentOf(options, 'createExecutor', 'it belongs to `policies` or `defaultPolicy`', executorChecks())
}

/** `cure`: where a field of a policy belongs that stands among the options. */
export function environmentOf(options: ExecutorOptions, subject = '', cure?: string, checks?: Checks): Environment {
  expectNone(subject, placed(sharedProblems(options, checks), cure))
  const isStrict = options.strictKeys === true
  return new Environment({
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    budgets: registryOf(options.budgets ?? (isStrict ? {} : undefined)),
    missingBudgetMode: options.missingBudgetMode ?? (isStrict ? 'deny' : 'allow'),
    recoverHookErrors: options.recoverHookErrors ?? false,
    observers: options.observers ?? [],
  })
}

function placed(problems: readonly OptionProblem[], suggestion: string | undefined): readonly OptionProblem[] {
  if (suggestion === undefined) return problems
  return problems.map((problem) => {
    const isPolicy = problem.path === 'policy' || isPolicyField(problem.path)
    return isPolicy && problem.message === UNKNOWN_OPTION ? { ...problem, suggestion } : problem
  })
}

/** Calls are many, and most have nothing but these two: only other options are looked at. */
export function expectCallOptions(options: object | undefined): void {
  for (const name in options) {
    if (name === 'signal' || name === 'policy') continue
    const problems = optionProblems(options, {}, { others: ['signal', 'policy'] })
    expectNone('a call', placed(problems, 'it belongs to `policy`'))
  }
}

/** A registry of another copy of the library is one all the same. */
function isRegistry(budgets: unknown): budgets is BudgetRegistry {
  return hasMethods(budgets, 'get', 'register')
}

/** Of budgets by name: a registry has checked its own. */
function budgetProblems(budgets: unknown): OptionProblem[] {
  if (!isObject(budgets) || isRegistry(budgets)) return []
  return Object.entries(budgets as object)
    .filter(([name, budget]) => name.trim() === '' || !isBudget(budget))
    .map(([name, budget]) => ({
      path: `budgets.${name}`,
      message: isNot(budget, 'a budget with a name and an allowAttempt method'),
    }))
}

function registryOf(budgets: ExecutorOptions['budgets']): BudgetLookup | undefined {
  if (budgets === undefined) return undefined
  if (isRegistry(budgets)) return budgets
  const registry = new BudgetRegistry()
  for (const [name, budget] of Object.entries(budgets)) registry.register(name, budget)
  return registry
}

export interface GivenPolicies {
  readonly byKey: ReadonlyMap<string, NormalizedPolicy>
  /** For other keys; undefined: a call without a policy is refused. */
  readonly fallback: NormalizedPolicy | undefined
  /** Calls may have no other keys, whatever policy they bring along. */
  readonly isStrict: boolean
}

/** Every problem of every policy at once, each with the key it belongs to. */
export function policiesOf(options: ExecutorOptions): GivenPolicies {
  const problems: OptionProblem[] = []
  const isStrict = options.strictKeys === true
  const read = (input: unknown, place: string): NormalizedPolicy | undefined => {
    try {
      return normalizePolicy(input, IN_CODE)
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
  const usual = read(options.defaultPolicy ?? {}, 'defaultPolicy')
  if (problems.length > 0) throw new PolicyError(problems)
  const mode = options.missingPolicyMode ?? (isStrict ? 'deny' : 'fallback')
  return { byKey, fallback: { fallback: usual, allow: oneAttempt(), deny: undefined }[mode], isStrict }
}

/** The budgets that a policy names and nobody has registered, with a name that is registered and similar. */
export function missingBudgets(
  policy: Policy,
  budgets: BudgetLookup | undefined,
): { readonly path: string; readonly name: string; readonly suggestion: string | undefined }[] {
  const named = { budget: policy.budget?.name, 'hedge.budget': policy.hedge?.budget?.name }
  return Object.entries(named).flatMap(([path, name]) => {
    if (name === undefined || budgets?.get(name) !== undefined) return []
    return [{ path, name, suggestion: didYouMean(name, budgets?.names?.() ?? []) }]
  })
}

export function oneAttempt(): NormalizedPolicy {
  return normalizePolicy({ attempts: 1 })
}
