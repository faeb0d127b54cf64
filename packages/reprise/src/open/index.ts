/**
 * `reprise/durable`: calls whose retry state is kept in a ledger, so that a process killed anywhere goes on exactly
 * there. Re-exports only.
 */
export type { RefusedTask, SkippedTask } from '../durable/adoption.js'
export type { JsonOf, Recordable, TaskFunction, VerifyAnswer, VerifyFunction } from '../durable/definition.js'
export type { Durable, ResumeOptions, Resumption } from '../durable/durable.js'
export {
  GateRefusedError,
  type GateRefusal,
  RecordedFailureError,
  type RefusalKind,
  TaskRefusedError,
} from '../durable/errors.js'
export type { Checkpoint } from '../durable/checkpoints.js'
export type { DurableContext } from '../durable/execution.js'
export {
  type GateChange,
  grantBudget,
  type GrantOptions,
  listGates,
  resetBreaker,
  resetBudget,
  type ResetOptions,
  type StoredBreaker,
  type StoredBudget,
  type StoredGates,
  type TripOptions,
  tripBreaker,
} from '../durable/gate-control.js'
export type { Allotment } from '../durable/allotment.js'
export type { TaskGroup } from '../durable/group.js'
export type { RetentionInput, Swept } from '../durable/retention.js'
export type { TaskOptions } from '../durable/task-options.js'
export type { StartInput, StartOptions, TaskHandle, TaskStartOptions, TaskState } from '../durable/tasks.js'
export type {
  AnalyticsFilter,
  DelaySpent,
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
  AttemptCounts,
  Compacted,
  CompactRequest,
  Creation,
  Decided,
  DueRequest,
  Seat,
  Forgotten,
  ForgetRequest,
  Keys,
  Ledger,
  NewTask,
  QueueRef,
  RunFilter,
  RunRemoval,
  StatusCounts,
  TaskFilter,
  TaskResult,
  StoreAvailability,
  ThreadHeartbeat,
  TransactionClient,
  View,
} from '../ledger/ledger.js'
export type { NamedTally, Tally, TallyFilter } from '../ledger/tally.js'
export { MemoryLedger, type MemoryLedgerOptions } from '../ledger/memory-ledger.js'
export type {
  AttemptRow,
  CheckpointChange,
  ClosedLetter,
  DeadLetter,
  EventScope,
  FailureRecord,
  GateRecord,
  Json,
  LetterClosing,
  OwnerIdentity,
  OwnerRecord,
  PolicyRecord,
  RunRecord,
  Scope,
  StoredEvent,
  TaskKey,
  TaskRecord,
  TaskStatus,
} from '../ledger/records.js'
export { type DurableOptions, type LedgerOptions, openDurable, openLedger } from './open-durable.js'
