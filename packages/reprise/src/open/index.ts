/**
 * `reprise/durable`: calls whose retry state is kept in a ledger, so that a process killed anywhere goes on exactly
 * there. Re-exports only.
 */
export type { RefusedTask, SkippedTask } from '../durable/adoption.js'
export type { TaskFunction, VerifyAnswer, VerifyFunction } from '../durable/definition.js'
export type { Durable, ResumeOptions, Resumption, TaskOptions } from '../durable/durable.js'
export type { DurableRun, RunChangeInput, StepHandle, StepOptions } from '../durable/durable-run.js'
export {
  GateRefusedError,
  type GateRefusal,
  RecordedFailureError,
  type RefusalKind,
  TaskRefusedError,
} from '../durable/errors.js'
export type { DurableContext } from '../durable/execution.js'
export { type FaultyTask, faultsOfTasks } from '../durable/inspection.js'
export {
  checkLedger,
  type FaultPlace,
  type FaultRule,
  type LedgerCheck,
  type LedgerFault,
} from '../durable/ledger-check.js'
export { failureOf } from '../durable/failure-record.js'
export { lastHeardOf, livingOwners, type OtherOwner } from '../durable/ownership.js'
export { type FieldChange, fingerprint } from '../durable/policy-record.js'
export {
  type BreakerSettings,
  type GateAction,
  type GateChange,
  grantBudget,
  listGates,
  resetBreaker,
  type StoredBreaker,
  type StoredBudget,
  type StoredGates,
  type TripOptions,
  tripBreaker,
} from '../durable/gate-control.js'
export type { RetentionInput, Swept } from '../durable/retention.js'
export type { NewRun, Runs, TakeOptions } from '../durable/runs.js'
export type { RunOptions, StartInput, TaskHandle, TaskState } from '../durable/tasks.js'
export type {
  AnalyticsFilter,
  DelaySpent,
  FailureExample,
  FailurePattern,
  LedgerAnalytics,
  PatternFilter,
  RecoveryFilter,
  RecoveryRate,
  ResumeStats,
  TaskHistory,
  Totals,
} from '../ledger/analytics.js'
export { LedgerError, type LedgerProblem } from '../ledger/errors.js'
export type {
  Changes,
  Compacted,
  CompactRequest,
  Creation,
  Decided,
  DueRequest,
  Forgotten,
  ForgetRequest,
  Keys,
  Ledger,
  NewTask,
  QueueRef,
  RunChange,
  RunFilter,
  RunRemoval,
  StatusCounts,
  Tally,
  TaskFilter,
  TaskResult,
  View,
} from '../ledger/ledger.js'
export type { CopiedCounts, CopiedRows } from '../ledger/copied-tables.js'
export type { LostRows } from '../ledger/row-check.js'
export type {
  ConnectionFacts,
  SchemaState,
  StoreCheck,
  StoreContent,
  StoreDamage,
  StoreFacts,
  TableFacts,
} from '../ledger/store-facts.js'
export { MemoryLedger } from '../ledger/memory-ledger.js'
export { ENDED_RUN_STATUSES } from '../ledger/records.js'
export type {
  AttemptRow,
  Compaction,
  CurrentAttempt,
  DeadLetter,
  FailureRecord,
  FinishedStatus,
  GateRecord,
  Json,
  LedgerEvent,
  OwnerRecord,
  PolicyRecord,
  RunRecord,
  RunStatus,
  StoredEvent,
  TaskKey,
  TaskProgress,
  TaskRecord,
  TaskStatus,
} from '../ledger/records.js'
export { type DurableOptions, type LedgerOptions, openDurable, openLedger } from './open-durable.js'
