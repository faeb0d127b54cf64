/** What the package exports. Re-exports only. */
export {
  type BudgetDefinition,
  type BudgetDefinitions,
  BUDGETS_KEY,
  readBudgetFlag,
  readBudgetSection,
} from './document/budget-section.js'
export { pickOnly, pickStep } from './document/pick-step.js'
export { type FoundPolicy, type PolicyFile, readPolicies } from './document/policy-file.js'
export { byPlace, InputError, type Problem, readTogether, ReportedError } from './document/problem.js'
export { readText, STDIN } from './document/read-text.js'
export { parseSource, type Source } from './document/source.js'
export { camelCase, kebabCase, snakeCase } from './document/spelling.js'
export * from './plan/plan.js'
export * from './run/run-event.js'
export * from './view/views.js'
