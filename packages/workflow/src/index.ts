/** What the package exports. Re-exports only. */
export * from './plan/plan.js'
export * from './run/run-event.js'
export { breakerViews, budgetViews } from './view/gates.js'
export * from './view/views.js'
