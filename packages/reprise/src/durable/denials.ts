/**
 * What is recorded of an attempt that a gate did not let start: a row in the history, and the gate with its own word in
 * the task's last failure, which its dead letter keeps. Pure. Imports core's and the ledger's types and the rows.
 *
 * Invariant: a denied attempt was not begun, so `launched` does not count it.
 */
import type { Decision } from '../core/budget.js'
import type { RetryGates } from '../core/decide.js'
import { BudgetPanic } from '../core/gate.js'
import type { StopReason } from '../core/words.js'
import { type AttemptRow, type FailureRecord, keyOf, type TaskRecord } from '../ledger/records.js'
import { failureOf } from './failure-record.js'

/** The gate that did not let an attempt start. */
export type GateDenial = NonNullable<FailureRecord['denial']>

/** What `decide` is given for a durable task; it also says which of the gates denied the retry. */
export interface TaskRetryGates extends RetryGates {
  /** Undefined if no gate stops the task for this reason. `budgetReason`: the word of the allotment, if it is that. */
  denial?(reason: StopReason, budgetReason: string | undefined): GateDenial | undefined
}

/** The names of what may deny a retry; of the allotment the key of its gate. */
interface RetryGateNames {
  readonly breaker: string | undefined
  readonly budget: string | undefined
  readonly allotment: string | undefined
}

/**
 * The gate that stops a retry for this reason; undefined if none does. `budgetReason`: the word of the allotment, if it is
 * that. `peeked`: what the budget would have answered once the wait was over.
 */
export function retryDenial(
  { breaker, budget, allotment }: RetryGateNames,
  reason: StopReason,
  budgetReason: string | undefined,
  peeked: Decision,
): GateDenial | undefined {
  if (reason === 'breaker_open') return breaker === undefined ? undefined : breakerDenial(breaker)
  if (reason !== 'budget_denied') return undefined
  if (budgetReason !== undefined) return { gate: allotment ?? '', reason: budgetReason }
  return budget === undefined ? undefined : budgetDenial(budget, peeked)
}

export function breakerDenial(key: string): GateDenial {
  return { gate: `breaker:${key}`, reason: 'breaker_open' }
}

/** `decision`: what the budget answered, or what it threw instead. */
export function budgetDenial(name: string, decision: Decision): GateDenial {
  const { reason } = decision
  if (!(decision instanceof BudgetPanic)) return { gate: `budget:${name}`, reason }
  return { gate: `budget:${name}`, reason, message: failureOf(decision.error).message }
}

/** With the denial in its last failure. Without a failure of its own the denial is its failure. */
export function withDenial(task: TaskRecord, denial: GateDenial): TaskRecord {
  const { lastFailure } = task.progress
  const failure = lastFailure === null ? failureOfDenial(task, denial) : { ...lastFailure, denial }
  const budgetReason = denial.gate.startsWith('budget:') ? { budgetReason: denial.reason } : {}
  return { ...task, progress: { ...task.progress, lastFailure: failure, ...budgetReason } }
}

/** The row of the attempt that did not start. An interrupted attempt keeps its number. `owner`: the process that asked. */
export function deniedRow(task: TaskRecord, denial: GateDenial, owner: string, now: number): AttemptRow {
  const { current, retry } = task.progress
  return {
    ...keyOf(task),
    generation: task.generation,
    attempt: attemptOf(task),
    execution: (current?.execution ?? 0) + 1,
    startedAtMs: now,
    endedAtMs: now,
    outcome: 'denied',
    delayBeforeMs: retry.lastDelayMs,
    failure: failureOfDenial(task, denial),
    // Not counted among failures: the operation did not run.
    signature: null,
    owner,
  }
}

function failureOfDenial(task: TaskRecord, denial: GateDenial): FailureRecord {
  const { gate, reason, message } = denial
  const [kind, name] = [gate.slice(0, gate.indexOf(':')), gate.slice(gate.indexOf(':') + 1)]
  const attempt = `attempt ${attemptOf(task)}`
  if (kind === 'breaker')
    return { ...BREAKER_OPEN, message: `Breaker ${name} is open: ${attempt} was not started`, denial }
  const thrown = message === undefined ? '' : `: ${message}`
  return { ...BUDGET_DENIED, message: `Budget ${name} denied ${attempt}: ${reason}${thrown}`, denial }
}

/** Named like the errors of a call in the process. */
const BREAKER_OPEN = { name: 'BreakerOpenError', code: 'breaker_open' }
const BUDGET_DENIED = { name: 'BudgetDeniedError', code: 'budget_denied' }

function attemptOf({ progress }: TaskRecord): number {
  return progress.current?.attempt ?? progress.retry.launched + 1
}
