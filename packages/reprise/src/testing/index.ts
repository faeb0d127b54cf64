/** The published test kit: re-exports only. The types of a ledger are those of `reprise/durable`. Imports its own layer. */
export { seededRandom } from '../core/seeded-random.js'
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
