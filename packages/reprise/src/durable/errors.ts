/** What durable tasks reject with, beside the errors of the operation. Imports core and the ledger's types. */
import { RepriseError } from '../core/errors.js'
import type { StopReason } from '../core/words.js'
import { type FailureRecord, keyOf, type TaskKey, type TaskRecord } from '../ledger/records.js'
import type { FieldChange } from './policy-record.js'

declare module '../core/error-codes.js' {
  interface ErrorByCode {
    recorded_failure: RecordedFailureError
    task_refused: TaskRefusedError
    gate_refused: GateRefusedError
  }
}

/** The task failed, in this process or another: what the ledger knows of it. */
export class RecordedFailureError extends RepriseError {
  declare readonly code: 'recorded_failure'
  /** Why the task stopped. Not the code: the fields that an error of a call has with that reason are not recorded. */
  readonly stopReason: StopReason
  /** The word of the budget that denied the next attempt, with the stop reason `budget_denied`. */
  readonly budgetReason: string | undefined
  /** Attempts that were made. */
  readonly attempts: number
  /** What the last failed attempt failed with, or a gate's denial of the first attempt; null if there is neither. */
  readonly failure: FailureRecord | null
  /** The key of the task. */
  readonly task: TaskKey

  constructor(task: TaskRecord) {
    const { lastFailure, retry, budgetReason } = task.progress
    const reason = task.stopReason ?? 'aborted'
    const said = lastFailure === null ? '' : `: ${lastFailure.name}: ${lastFailure.message}`
    const word = budgetReason === undefined ? reason : `${reason} (${budgetReason})`
    const isOpen = task.status === 'undecided'
    const ended = isOpen ? undecidedWords(task) : `ended with ${word} after ${attemptsWord(retry.launched)}${said}`
    super('recorded_failure', `Task ${task.scope}/${task.id} ${ended}`)
    this.stopReason = reason
    this.budgetReason = budgetReason
    this.attempts = retry.launched
    this.failure = lastFailure
    this.task = keyOf(task)
  }

  override get name(): string {
    return 'RecordedFailureError'
  }
}

/** A step of a run is decided by other means: with the resume of the run. */
function undecidedWords({ scopeKind, id }: TaskRecord): string {
  const cause = 'is undecided: an attempt was interrupted, and may have happened or not'
  if (scopeKind !== 'task') return cause
  const given = JSON.stringify(id)
  return `${cause}. Find out, then call decide(${given}, 'done', result) or decide(${given}, 'rerun')`
}

function attemptsWord(count: number): string {
  return count === 1 ? '1 attempt' : `${count} attempts`
}

/**
 * Why a task or run is refused: its input is another one, its policy changed, it is not there, has ended, does not
 * wait, has not failed, is inconsistent, belongs to a living process, was taken over, or this process takes no more work.
 */
export type RefusalKind =
  | 'conflict'
  | 'policy_changed'
  | 'not_found'
  | 'finished'
  | 'not_waiting'
  | 'not_failed'
  | 'state_refused'
  | 'locked'
  | 'run_lost'
  | 'task_lost'
  | 'closed'

/**
 * Why breakers and budgets are not listed or changed: there is no such gate, the budget cannot be given more, or what is
 * recorded of them cannot be.
 */
export type GateRefusal = 'not_found' | 'nothing_to_grant' | 'state_refused'

/** A change of a budget or breaker by hand is not made, and nothing was touched. */
export class GateRefusedError extends RepriseError {
  declare readonly code: 'gate_refused'
  /** Why. */
  readonly kind: GateRefusal
  /** The keys of the gates whose records cannot be, if that is why: `breaker:mail`. */
  readonly gates: readonly string[]

  constructor(kind: GateRefusal, message: string, gates: readonly string[] = []) {
    super('gate_refused', message)
    this.kind = kind
    this.gates = gates
  }

  override get name(): string {
    return 'GateRefusedError'
  }
}

/** What was asked for is not done, and nothing was touched. */
export class TaskRefusedError extends RepriseError {
  declare readonly code: 'task_refused'
  /** Why. */
  readonly kind: RefusalKind
  /** The fields of the policy that differ, if that is why. */
  readonly changes: readonly FieldChange[]

  constructor(kind: RefusalKind, message: string, changes: readonly FieldChange[] = []) {
    super('task_refused', message)
    this.kind = kind
    this.changes = changes
  }

  /** What the ledger says of the task cannot be. */
  static ofState({ scope, id }: TaskKey, faults: readonly string[]): TaskRefusedError {
    return new TaskRefusedError('state_refused', `Task ${scope}/${id} is left as it is: ${faults.join('; ')}`)
  }

  override get name(): string {
    return 'TaskRefusedError'
  }
}
