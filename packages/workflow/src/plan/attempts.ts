/** How often a step may be tried: what its policy says, or what a policy is when it says nothing. Imports the library. */
import { normalizePolicy } from 'reprise'
import type { StepPlan } from './plan.js'

export function attemptsOf({ policy }: Pick<StepPlan, 'policy'>): number {
  return policy.attempts ?? normalizePolicy(policy).policy.attempts
}
