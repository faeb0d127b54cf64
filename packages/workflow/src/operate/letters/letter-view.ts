/**
 * What people and programs are shown of dead letters: the shapes that `--json` prints. Imports the library, names of maps
 * and the record of an item.
 */
import type { StopReason } from 'reprise'
import {
  type DeadLetter,
  type FailureRecord,
  type Json,
  type LetterClosing,
  type TaskRecord,
  TaskRefusedError,
} from 'reprise/durable'
import { ANY_JSON, fields, shapeFaults, TEXT } from 'reprise/internal'
import type { ItemInput } from '../../run/map/item-steps.js'
import { MERGE_CONFLICT } from '../../state/merge-conflict.js'
import { retryStateOf } from '../../view/retry-state.js'

/** `item` of a map, `step` of a run, `task` of a program, or the `on_item_error` of an item. */
export type LetterKind = 'item' | 'step' | 'task' | 'on_item_error'

/** Where a letter comes from. */
export interface LetterPlace {
  readonly kind: LetterKind
  /** The id of the run; null for a task of a program. */
  readonly run: string | null
  /** The id of the map; null if it is none of a map. */
  readonly map: string | null
}

/** A dead letter. */
export interface LetterView extends LetterPlace {
  /** What names it on the command line: `RUN/MAP/ITEM`, `RUN/STEP` or `NAME/ID`. */
  readonly letter: string
  /** The id of the item, the step or the task. */
  readonly id: string
  /** The key of the item; null for everything else. */
  readonly key: string | null
  /** `undecided`: interrupted, and only a person can say whether it took effect. `closed`: nothing is left to do. */
  readonly state: 'dead' | 'undecided' | 'closed'
  /** The generation that failed. */
  readonly generation: number
  /** Attempts of that generation; null if it is not the last one. */
  readonly attempts: number | null
  readonly failedAtMs: number
  readonly stopReason: StopReason
  readonly failure: FailureRecord | null
  /** The kind of failure: letters of one cause have the same. */
  readonly signature: string
  /** Whether another attempt may do better, and why. */
  readonly retry: RetryAdvice
  /** Null while it is open. */
  readonly closed: { readonly closedAtMs: number; readonly by: LetterClosing } | null
  /** Joins the events of the task; null if the task is gone. */
  readonly correlationId: string | null
}

/** Whether trying again makes sense. */
interface RetryAdvice {
  readonly makesSense: boolean
  /** Half a sentence. */
  readonly why: string
}

/** The place that the scope of a task names. */
export function placeOfScope({ scopeKind, scope }: Pick<DeadLetter, 'scopeKind' | 'scope'>): LetterPlace {
  if (scopeKind === 'task') return { kind: 'task', run: null, map: null }
  const [run = '', map, lane] = scope.split('/')
  if (map === undefined) return { kind: 'step', run, map: null }
  return { kind: lane === undefined ? 'item' : 'on_item_error', run, map }
}

/** `task`: as it is now; undefined if it is gone. */
export function letterView(letter: DeadLetter, task: TaskRecord | undefined): LetterView {
  const { scope, id, generation, atMs, stopReason, failure, signature, closed } = letter
  const place = placeOfScope(letter)
  const isLast = task?.generation === generation
  return {
    letter: `${scope}/${id}`,
    ...place,
    id,
    key: place.kind === 'item' && task !== undefined ? keyOfItem(task) : null,
    state: closed !== undefined ? 'closed' : isUndecided(letter) ? 'undecided' : 'dead',
    generation,
    attempts: isLast ? retryStateOf(task).launched : null,
    failedAtMs: atMs,
    stopReason,
    failure,
    signature,
    retry: retryAdvice(letter),
    closed: closed === undefined ? null : { closedAtMs: closed.atMs, by: closed.by },
    correlationId: task?.correlationId ?? null,
  }
}

/** Whether only a person can say what became of its last attempt. */
export function isUndecided({ stopReason }: Pick<DeadLetter, 'stopReason'>): boolean {
  return stopReason === 'interrupted'
}

/** The key that an item was read with. */
export function keyOfItem(task: TaskRecord): string {
  return inputOfItem(task).key
}

function inputOfItem(task: TaskRecord): ItemInput {
  const faults = shapeFaults(ITEM_INPUT, task.input, 'input')
  if (faults.length > 0) throw TaskRefusedError.ofState(task, faults)
  return task.input as unknown as ItemInput
}

const ITEM_INPUT = fields({ key: TEXT, value: ANY_JSON })

/** What the function of the task is given: of an item its value, without its key. */
export function dataOf(task: TaskRecord): Json {
  return placeOfScope(task).kind === 'item' ? inputOfItem(task).value : task.input
}

/** Whether the work of an item conflicted with what was merged before it. */
export function isMergeConflict(failure: Pick<FailureRecord, 'name'> | null): boolean {
  return failure?.name === MERGE_CONFLICT
}

/** By why it was not retried: the policy itself has said which failures may pass. */
export function retryAdvice({ stopReason, failure }: Pick<DeadLetter, 'stopReason' | 'failure'>): RetryAdvice {
  // Only the same work would conflict again, and a redrive does it anew.
  if (isMergeConflict(failure))
    return { makesSense: true, why: 'the item is done again on what has been merged by then, other items included' }
  if (failure?.retryable === false)
    return { makesSense: false, why: 'the error said that another attempt would fail the same way' }
  switch (stopReason) {
    case 'not_retryable':
      return { makesSense: false, why: 'the policy does not retry this failure: mend its cause or its data first' }
    case 'interrupted':
      return { makesSense: false, why: 'it may have taken effect: find out first' }
    case 'aborted':
      return { makesSense: false, why: 'it was cancelled' }
    case 'breaker_open':
    case 'budget_denied':
      return { makesSense: true, why: 'a shared gate ended it, and not its own failure' }
    default:
      return { makesSense: true, why: 'the policy retries this failure, and its attempts or its time were used up' }
  }
}
