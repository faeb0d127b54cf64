/**
 * Which results of steps that have ended can still be asked for: a resume reads those and no others. Pure. Imports the plan.
 *
 * Invariant: a result that a text could refer to is named. A name that stands in a text by chance is named too, which costs a
 * read and nothing else.
 */
import type { PhasePlan, Plan, StepPlan } from '../plan/plan.js'

/** `steps.ID` and `steps["ID"]` are references to one step; anything else may be to any of them. */
const WHOLE_STEPS = /\bsteps\b(?!\s*\.\s*\w|\s*\[\s*\\?["'][^"'\\]*\\?["']\s*\])/

/** `left`: phases of which something may still run. Undefined: all results may be needed. */
export function neededResults(
  ended: readonly StepPlan[],
  left: readonly PhasePlan[],
  { env, outputs }: Pick<Plan, 'env' | 'outputs'>,
): StepPlan[] | undefined {
  // Outputs are filled in when all phases have ended.
  const text = JSON.stringify([left, env, outputs])
  // A script is handed all values.
  if (text.includes('"kind":"script"') || WHOLE_STEPS.test(text)) return undefined
  const words = new Set(text.match(/\w+/g))
  const isNamed = (name: string): boolean => name.split(/\W+/).every((part) => part === '' || words.has(part))
  const areSteps = words.has('steps')
  return ended.filter(({ id, capture }) => (areSteps && isNamed(id)) || (capture !== null && isNamed(capture.name)))
}
