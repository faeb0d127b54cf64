/**
 * `reprise/internal`: what `@reprise/workflow` and `@reprise/cli` need of the library and nobody else should use. No
 * promise of stability: a name here may change or go in any release. Re-exports only.
 */
export { durationCheck, expectOptions, type OptionCheck } from '../core/options.js'
export { nearest } from '../core/suggest.js'
export type { ConductOptions, DurableRun, StepHandle } from '../durable/durable-run.js'
export { failureOf } from '../durable/failure-record.js'
export { classOf, type GroupChange, type TaskClass } from '../durable/group.js'
export { faultsOfTasks } from '../durable/inspection.js'
export { checkLedger, type FaultPlace, type LedgerCheck, type LedgerFault } from '../durable/ledger-check.js'
export { lastHeardOf, livingOwners, type OtherOwner } from '../durable/other-owners.js'
export { fingerprint } from '../durable/policy-record.js'
export type { Changes } from '../ledger/ledger.js'
export type { CopiedCounts, CopiedRows } from '../ledger/copied-tables.js'
export { ENDED_RUN_STATUSES, type RunStatus } from '../ledger/records.js'
export type { LostRows } from '../ledger/row-check.js'
export type { ConnectionFacts, SchemaState, StoreCheck, StoreFacts, TableFacts } from '../ledger/store-facts.js'
export { describeError, plainText } from '../observe/plain-text.js'
export { sharedLedger } from './shared-ledger.js'
