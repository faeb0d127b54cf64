/** The entry `reprise/simulate`: re-exports only. Imports its own layer. */
export { SERVICE_SHAPES, type ServiceShape } from './chance.js'
export type { Report } from './report.js'
export {
  FAULT_KINDS,
  type FaultKind,
  type ScenarioInput,
} from './scenario.js'
export { simulate } from './simulate.js'
export type { BudgetMaker, Subject } from './subject.js'
export { type Limits, wellKnown } from './well-known/index.js'
