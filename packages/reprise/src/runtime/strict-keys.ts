/**
 * What `strictKeys` asks of options that are valid otherwise. Apart from them, since `retry` has no keys and a bundle of it
 * can do without. Imports core and the options.
 */
import { type OptionProblem, OptionsError, PolicyError } from '../core/errors.js'
import type { BudgetLookup } from '../core/gate.js'
import type { Policy } from '../core/policy.js'
import { type ExecutorOptions, missingBudgets, policiesOf } from './executor-options.js'

/** `budgets`: those that are registered. */
export function expectStrict(options: ExecutorOptions, budgets: BudgetLookup | undefined): void {
  const contradictions = strictProblems(options)
  if (contradictions.length > 0) throw new OptionsError('createExecutor', contradictions)
  const policies = [...policiesOf(options).byKey]
  const problems = policies.flatMap(([key, { policy }]) => unregistered(policy, `policies.${key}`, budgets))
  if (problems.length > 0) throw new PolicyError(problems)
}

/** What `strictKeys` decides cannot be said otherwise beside it. */
function strictProblems(options: ExecutorOptions): OptionProblem[] {
  const said = (path: keyof ExecutorOptions, message: string): OptionProblem[] => [
    { path, message, suggestion: 'leave out one of the two' },
  ]
  const noKeys = { path: 'policies', message: 'is missing: its keys are those that `strictKeys` allows' }
  return [
    ...(options.policies === undefined ? [noKeys] : []),
    ...(options.defaultPolicy === undefined ? [] : said('defaultPolicy', '`strictKeys` refuses keys without a policy')),
    ...((options.missingPolicyMode ?? 'deny') === 'deny' ? [] : said('missingPolicyMode', '`strictKeys` means `deny`')),
    ...((options.missingBudgetMode ?? 'deny') === 'deny' ? [] : said('missingBudgetMode', '`strictKeys` means `deny`')),
  ]
}

function unregistered(policy: Policy, place: string, budgets: BudgetLookup | undefined): OptionProblem[] {
  return missingBudgets(policy, budgets).map(({ path, name, suggestion }) => ({
    path: `${place}.${path}`,
    message: `no budget ${JSON.stringify(name)} is registered`,
    ...(suggestion !== undefined && { suggestion }),
  }))
}
