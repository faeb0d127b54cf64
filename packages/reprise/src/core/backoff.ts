/**
 * How long to wait after the n-th failure. Pure: chance is an argument.
 *
 * Invariants: the delay is capped first and jittered second; one draw per retry, none without jitter; the result is
 * finite and never negative, whatever n. Only `proportional` may exceed the cap, by half its factor. Imports core only.
 */
import { compileFormula, type Formula, type FormulaProblem } from './formula.js'
import { normalizePolicy } from './normalize.js'
import type { Backoff, Policy, PolicyArgument } from './policy.js'
import type { Draw, Random } from './time.js'

/** Beyond this many failures `delayAfter` says no more; ten times what a policy may attempt. */
const MAX_FAILURES = 10_000

type FormulaBackoff = Backoff & { readonly formula: string }

const compiled = /* @__PURE__ */ new WeakMap<Backoff, Formula | FormulaProblem>()

/** The delay after failure number `failures`, when the one before it was `previousMs` (0 for the first). */
export type BackoffDelay = (policy: Policy, failures: number, previousMs: number, draw: Draw) => number

/** For every policy. */
export const backoffDelay: BackoffDelay = (policy, failures, previousMs, draw) =>
  jitteredDelay(policy, failures, previousMs, draw, formulaOf)

/** For policies without a formula: a bundle then has no parser of formulas. */
export const plainBackoffDelay: BackoffDelay = (policy, failures, previousMs, draw) =>
  jitteredDelay(policy, failures, previousMs, draw, withoutFormulas)

type FormulaSource = (backoff: FormulaBackoff) => Formula

function jitteredDelay(
  policy: Policy,
  failures: number,
  previousMs: number,
  draw: Draw,
  formulas: FormulaSource,
): number {
  const { jitter } = policy
  if (jitter === 'decorrelated') return decorrelated(policy, previousMs, chanceOf(draw(failures)))
  const delayMs = cappedDelay(policy, failures, previousMs, formulas)
  if (jitter === 'none') return delayMs
  const chance = chanceOf(draw(failures))
  if (jitter === 'full') return delayMs * chance
  return jitter === 'equal' ? (delayMs / 2) * (1 + chance) : delayMs * (1 + policy.jitterFactor * (chance - 0.5))
}

/** A draw that is no chance at all counts as none: a delay is a number whatever a caller's generator does. */
function chanceOf(draw: number): number {
  return draw > 0 ? Math.min(draw, 1) : 0
}

/**
 * The delay in milliseconds after failure number `failures`, from 1. Without `random` the delay before jitter, and of
 * `decorrelated` the longest.
 * @example delayAfter({ initialDelay: '1s' }, 3) // 4000
 */
export function delayAfter(policy: PolicyArgument, failures: number, random?: Random): number {
  const normal = normalizePolicy(policy).policy
  const last = Math.min(Math.floor(failures), MAX_FAILURES)
  const isDecorrelated = normal.jitter === 'decorrelated'
  const isChained = isDecorrelated || 'formula' in normal.backoff
  let delayMs = 0
  for (let n = isChained ? 1 : Math.max(1, last); n <= last; n++) {
    if (random !== undefined) delayMs = backoffDelay(normal, n, delayMs, random)
    else if (isDecorrelated) delayMs = decorrelated(normal, delayMs, 1)
    else delayMs = cappedDelay(normal, n, delayMs, formulaOf)
  }
  return delayMs
}

/** Uniform between the initial delay and three times the one before, whatever the strategy. */
function decorrelated(policy: Policy, previousMs: number, chance: number): number {
  const low = policy.initialDelayMs
  const high = Math.max(low, 3 * (previousMs || low))
  return Math.min(low + (high - low) * chance, policy.maxDelayMs)
}

function cappedDelay(policy: Policy, failures: number, previousMs: number, formulas: FormulaSource): number {
  const delayMs = strategyDelay(policy, failures, previousMs, formulas)
  if (Number.isNaN(delayMs)) return policy.maxDelayMs
  return Math.max(0, Math.min(delayMs, policy.maxDelayMs))
}

function strategyDelay(policy: Policy, failures: number, previousMs: number, formulas: FormulaSource): number {
  const { backoff, initialDelayMs: initial, maxDelayMs: max } = policy
  switch (backoff.type) {
    case 'fixed':
      return initial
    case 'linear':
      return initial + backoff.incrementMs * (failures - 1)
    case 'exponential':
      // An infinite power times a zero delay would not be a number.
      return initial * Math.min(backoff.base ** (failures - 1), Number.MAX_VALUE)
    case 'fibonacci':
      return fibonacci(initial, failures, max)
    case 'custom':
      if ('delaysMs' in backoff) return backoff.delaysMs[failures - 1] ?? max
      return formulas(backoff)({ attempt: failures, initial, max, previous: previousMs || initial })
  }
}

/** initial · F(n), summed up no further than the cap. */
function fibonacci(initial: number, failures: number, max: number): number {
  let delayMs = initial
  let next = initial
  for (let n = 1; n < failures && delayMs < max; n++) [delayMs, next] = [next, delayMs + next]
  return delayMs
}

/** A formula that was never validated and does not parse means the longest delay. */
function formulaOf(backoff: FormulaBackoff): Formula {
  let formula = compiled.get(backoff)
  if (formula === undefined) {
    formula = compileFormula(backoff.formula)
    compiled.set(backoff, formula)
  }
  return typeof formula === 'function' ? formula : withoutFormulas()
}

function withoutFormulas(): Formula {
  return () => Number.NaN
}
