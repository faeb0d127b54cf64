/**
 * `reprise/internal`: what `@reprise/workflow` and `@reprise/cli` need of the library and nobody else should use. No
 * promise of stability: a name here may change or go in any release. Re-exports only.
 */
export { readDuration } from '../core/duration.js'
export { durationCheck, expectOptions, type OptionCheck } from '../core/options.js'
export { didYouMean, isNot, Place } from '../core/problems.js'
export { nearest } from '../core/suggest.js'
export type { ConductOptions, DurableRun, StepHandle } from '../durable/durable-run.js'
export type { BatchContext, BatchMember } from '../durable/batch.js'
export type { ItemQueue, NewItem } from '../durable/item-queue.js'
export type { JoinedRun, JoinOptions } from '../durable/joined-run.js'
export { isTransient } from '../durable/persistence.js'
export { laneName } from '../durable/item-queue.js'
export { childId, whileHeld } from '../durable/runs.js'
export { queueKey, type QueueState } from '../ledger/queue-limit.js'
export { failureOf } from '../durable/failure-record.js'
export type { GroupChange } from '../durable/group.js'
export type { AllotmentRule, Charge, ChargeRequest } from '../durable/allotment.js'
export type { ClaimedTaskFunction, Definition } from '../durable/definition.js'
export type { Delivery, HeldAttempt, HeldEnd } from '../durable/delivery.js'
export { defineQueue, type QueueInput, queueTask, type QueueTask } from '../durable/serve-queue.js'
export {
  cancel as cancelledTask,
  ended as endedTask,
  reset as resetTask,
  type Settled,
  sinceSetBack,
} from '../durable/transitions.js'
export type { Actor } from '../durable/actor.js'
export { checkedReads, expectSoundTask } from '../durable/checked-reads.js'
export { changeGate, expectSoundGates } from '../durable/gate-control.js'
export { gateFaults } from '../durable/gate-check.js'
export { faultsOfTasks } from '../durable/inspection.js'
export { checkLedger, type FaultPlace, type LedgerCheck, type LedgerFault } from '../durable/ledger-check.js'
export {
  acknowledgeLetter,
  editInput,
  type EditOptions,
  purgeLetters,
  type PurgeOptions,
} from '../durable/letter-control.js'
export { cancelTask, startTaskEarly, type TaskControl } from '../durable/task-control.js'
export { lastHeardOf, livingOwners, type OtherOwner } from '../durable/other-owners.js'
export { isProcessGone, ownIdentity } from '../durable/identity.js'
export { retryWhileBusy } from '../durable/persistence.js'
export { expectJson } from '../durable/json.js'
export { fingerprint } from '../durable/policy-record.js'
export {
  continueQueue,
  listQueues,
  pauseQueue,
  setQueueMost,
  setQueueRate,
  type StoredQueue,
} from '../durable/queue-control.js'
export {
  type LetterDecision,
  type LetterRef,
  type RedriveAnswer,
  redriveLetters,
  type Redriven,
  type RedriveOptions,
} from '../durable/redrive.js'
export type { Changes, LetterFilter } from '../ledger/ledger.js'
export type { LetterCountFilter, LetterPattern, LetterTotals, TaskCount, TimeSpan } from '../ledger/figures.js'
export {
  ANY_JSON,
  COUNT,
  fields,
  FLAG,
  isJsonObject,
  type JsonShape,
  mapOf,
  NUMBER,
  oneOf,
  orNull,
  shapeFaults,
  shownJson,
  listOf,
  TEXT,
} from '../ledger/json-shape.js'
export { FAILURE } from '../durable/task-shape.js'
export type { CopiedCounts, CopiedRows } from '../ledger/copied-tables.js'
export { DATACENTER_KIND, ENDED_RUN_STATUSES, JOB_KIND, type RunStatus, scopeOfRun } from '../ledger/records.js'
export type { LostRows } from '../ledger/row-check.js'
export { classOf, type TaskClass } from '../ledger/tally.js'
export type { ConnectionFacts, SchemaState, StoreCheck, StoreFacts, TableFacts } from '../ledger/store-facts.js'
export { storeAwayLine, storeBackLine } from '../observe/log-line.js'
export { describeError, plainText } from '../observe/plain-text.js'
export { redriveWith } from './redrive.js'
export { deliverHeld, serveQueue, wakeQueues } from './serve-queue.js'
export { addressOf, holderOf, ownerOf, sharedLedger } from './shared-ledger.js'
