/** Rows that are written with a change of a task: its attempt, its dead letter. Pure. Imports the ledger's types. */
import type { AttemptResult, StopReason } from '../core/words.js'
import {
  type AttemptRow,
  type ClosedLetter,
  type DeadLetter,
  type LetterClosing,
  type FailureRecord,
  keyOf,
  type TaskRecord,
} from '../ledger/records.js'
import { signatureOf } from '../ledger/signature.js'

/** Of a task that failed or is undecided, and does not stay so; nothing if a person has closed it before. */
export function closedLetters(
  { status, generation, ...task }: TaskRecord,
  by: LetterClosing,
  atMs: number,
): { closedLetters?: readonly ClosedLetter[] } {
  const isOpen = (status === 'failed' && task.progress?.acknowledged !== true) || status === 'undecided'
  return isOpen ? { closedLetters: [{ ...keyOf(task), generation, atMs, by }] } : {}
}

/** Of a task that fails, or becomes undecided. */
export function deadLetterOf(task: TaskRecord, now: number): DeadLetter {
  const failure = task.progress.lastFailure
  return {
    ...keyOf(task),
    generation: task.generation,
    atMs: now,
    signature: signatureOf(failure),
    stopReason: task.stopReason as StopReason,
    failure,
  }
}

export function attemptRow(
  task: TaskRecord,
  outcome: AttemptResult,
  failure: FailureRecord | null,
  now: number,
): AttemptRow {
  const { current, retry } = task.progress
  // Field by field: there is a row for every attempt, and a spread takes longer than the rest of the function.
  return {
    scopeKind: task.scopeKind,
    scope: task.scope,
    id: task.id,
    generation: task.generation,
    attempt: current?.attempt ?? retry.launched,
    execution: current?.execution ?? 1,
    startedAtMs: current?.startedAtMs ?? now,
    endedAtMs: now,
    outcome,
    delayBeforeMs: retry.lastDelayMs,
    failure,
    signature: failure === null ? null : signatureOf(failure),
    owner: task.owner ?? '',
  }
}
