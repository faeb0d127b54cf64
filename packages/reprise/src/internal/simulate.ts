/**
 * `reprise/internal/simulate`: scenarios with their defaults filled in, for what `@reprise/workflow` says about a
 * simulation. No promise of stability. Re-exports only.
 */
export { completeScenario, type CompleteScenario } from '../simulate/scenario.js'
