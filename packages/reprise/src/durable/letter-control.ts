/**
 * Dead letters by hand: another input for a task that failed, a letter that is closed without a retry, and the removal of
 * letters that have been closed for long. Needs no definition: none of it changes the class of a task, so groups and tallies
 * have nothing to hear. Imports core's options, the ledger's port and its own layer.
 *
 * Invariants: each change is one transaction with an event that says who asked and why. The old input is in the event. A
 * task keeps what makes two submissions the same: the original input, sent again, still finds it.
 */
import { expectOptions } from '../core/options.js'
import { numberCheck } from '../core/budgets/numbers.js'
import type { Changes, Ledger } from '../ledger/ledger.js'
import { type Json, keyOf, type TaskKey, type TaskRecord, wordsOf } from '../ledger/records.js'
import { type Actor, ACTOR, actorOf } from './actor.js'
import { TaskRefusedError } from './errors.js'
import { expectJson } from './json.js'
import type { LetterRef } from './redrive.js'
import { closedLetters } from './task-rows.js'
import { eventOf } from './transitions.js'

/** Options of `editInput`. */
export interface EditOptions extends Actor {
  /** What the function of the task is given from now on: JSON. */
  readonly input: unknown
}

/**
 * Gives a task that failed or is undecided another input; nothing runs before it is redriven. Answers with the old input.
 * Rejects with a `TaskRefusedError` if there is no such task or it is in another state.
 */
export async function editInput(ledger: Ledger, key: TaskKey, options: EditOptions): Promise<Json> {
  expectOptions('editInput', options, { ...ACTOR, input: [() => true, 'JSON'] }, { required: ['reason', 'input'] })
  const input = JSON.parse(JSON.stringify(expectJson(options.input, 'input'))) as Json
  return ledger.transact<Json>({ tasks: [key] }, (view) => {
    const task = expectFailed(view.task(key), key, 'its input can be changed once it has failed')
    const detail = { generation: task.generation, before: task.input, ...actorOf(options) }
    const tasks = [{ ...task, updatedAtMs: view.now }]
    const inputs = [{ ...keyOf(key), input }]
    return { tasks, inputs, events: [eventOf('input_changed', task, view.now, detail)], result: task.input }
  })
}

/**
 * Closes the open letter of a failed task without a retry. False if it was closed before. Rejects with a
 * `TaskRefusedError` if there is no such task, or it is undecided: a person decides that with `decide`.
 */
export async function acknowledgeLetter(ledger: Ledger, letter: LetterRef, options: Actor): Promise<boolean> {
  expectOptions('acknowledgeLetter', options, ACTOR, { required: ['reason'] })
  return ledger.transact<boolean>({ tasks: [letter] }, (view) => {
    const task = view.task(letter)
    if (task === undefined) throw notFound(letter)
    const isOpen = task.generation === letter.generation && task.status === 'failed' && !task.progress.acknowledged
    if (isOpen) return { ...acknowledged(task, options, view.now), result: true }
    if (task.status !== 'undecided') return { result: false }
    const cure = "say whether it happened: decide(id, 'done') or decide(id, 'rerun')"
    throw new TaskRefusedError('not_failed', `${capital(wordsOf(letter))} is undecided, not failed: ${cure}`)
  })
}

function acknowledged(task: TaskRecord, actor: Actor, now: number): Changes {
  const next = { ...task, progress: { ...task.progress, acknowledged: true }, updatedAtMs: now }
  const detail = { generation: task.generation, ...actorOf(actor) }
  return {
    tasks: [next],
    events: [eventOf('acknowledged', task, now, detail)],
    ...closedLetters(task, 'acknowledged', now),
  }
}

/** Options of `purgeLetters`. */
export interface PurgeOptions {
  /** Letters that were closed before this time: milliseconds since the epoch. */
  readonly untilMs: number
  /** Letters in one transaction. @default 500 */
  readonly batch?: number
}

/** Removes closed letters; their tasks stay. Answers with how many are gone. */
export async function purgeLetters(ledger: Ledger, options: PurgeOptions): Promise<number> {
  const checks = {
    untilMs: numberCheck(1767225600000, 'a finite number'),
    batch: numberCheck(500, 'a whole number of 1 or more'),
  }
  expectOptions('purgeLetters', options, checks, { required: ['untilMs'] })
  const { untilMs: lettersBeforeMs, batch: limit = 500 } = options
  for (let removed = 0; ; ) {
    const { deadLetters } = await ledger.compact({ lettersBeforeMs, limit })
    removed += deadLetters
    if (deadLetters < limit) return removed
  }
}

function expectFailed(task: TaskRecord | undefined, key: TaskKey, cure: string): TaskRecord {
  if (task === undefined) throw notFound(key)
  if (task.status === 'failed' || task.status === 'undecided') return task
  throw new TaskRefusedError('not_failed', `${capital(wordsOf(key))} is ${task.status}: ${cure}`)
}

function notFound(key: TaskKey): TaskRefusedError {
  return new TaskRefusedError('not_found', `There is no ${wordsOf(key)}`)
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
