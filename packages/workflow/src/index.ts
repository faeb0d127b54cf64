/** What the package exports. Re-exports only. */
export {
  type BudgetDefinition,
  type BudgetDefinitions,
  budgetOf,
  BUDGETS_KEY,
  readBudgetFlag,
  readBudgetSection,
} from './document/budget-section.js'
export { type JsonSchema, policySchema, workflowSchema } from './document/json-schema.js'
export { isWorkflow } from './document/policy-file.js'
export { byPlace, InputError, type Problem, readTogether, ReportedError } from './document/problem.js'
export { readText, STDIN } from './document/read-text.js'
export { parseSource, type Source } from './document/source.js'
export { camelCase, kebabCase, snakeCase } from './document/spelling.js'
export { fingerprintOf } from './plan/build-plan.js'
export { describeDifference } from './plan/difference-text.js'
export { type Difference, differencesOf } from './plan/differences.js'
export { type FoundPolicy, type PolicyFile, readPolicies } from './plan/found-policies.js'
export { pickOnly, pickStep } from './plan/pick-step.js'
export { planFromDocument, planOf } from './plan/plan-of.js'
export * from './plan/plan.js'
export { BLIND_READERS, type Readers, type References, type TextReader } from './plan/readers.js'
export * from './run/run-event.js'
export { breakerViews, budgetViews } from './view/gates.js'
export * from './view/views.js'
