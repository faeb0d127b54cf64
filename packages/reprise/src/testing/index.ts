/** The published test kit: re-exports only. Imports its own layer, and types of the ledger that its signatures name. */
export { seededRandom } from '../core/seeded-random.js'
export type {
  Changes,
  Creation,
  Decided,
  DueRequest,
  Keys,
  Ledger,
  NewTask,
  QueueRef,
  TaskFilter,
  View,
} from '../ledger/ledger.js'
export type {
  AttemptRow,
  DeadLetter,
  GateRecord,
  Json,
  LedgerEvent,
  OwnerRecord,
  PolicyRecord,
  StoredEvent,
  TaskKey,
  TaskProgress,
  TaskRecord,
  TaskStatus,
} from '../ledger/records.js'
export {
  faultyLedger,
  type FaultPlan,
  type FaultyLedger,
  type LedgerFault,
  type LedgerOperation,
  type LedgerVerb,
} from './faulty-ledger.js'
export { ledgerContract, type ContractCase, type LedgerUnderTest } from './ledger-contract.js'
export { virtualClock, type VirtualClock } from './virtual-clock.js'
