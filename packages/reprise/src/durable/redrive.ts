/**
 * Redrives: a new generation for tasks whose dead letters are open, or what a person has decided about an undecided task;
 * one transaction each. Imports core's options, the ledger's port and its own layer.
 *
 * Invariant: a letter is redriven once. It names the generation that failed, and a task that is in a later one by now is
 * left alone: of two redrives at once one grants the generation, whatever has become of it meanwhile. A decision applies
 * only while the task is undecided. So a redrive that was killed is simply repeated.
 */
import { randomInt } from 'node:crypto'
import { expectOptions, FLAG } from '../core/options.js'
import type { Ledger } from '../ledger/ledger.js'
import { type DeadLetter, type Json, keyOf, type TaskKey, type TaskRecord } from '../ledger/records.js'
import type { Definition } from './definition.js'
import { TaskRefusedError } from './errors.js'
import { type Actor, ACTOR, actorOf } from './actor.js'
import { reset, resolve, type Settled } from './transitions.js'

/** The dead letter of a task: of the generation that failed. */
export type LetterRef = Pick<DeadLetter, 'scopeKind' | 'scope' | 'id' | 'generation'>

/** How tasks are redriven. */
export interface RedriveOptions extends Actor {
  /** Joins the events of one redrive, however many calls it takes. @default none */
  readonly redriveId?: string
  /** Retries of the new generation are charged to the allotment of the task, as before. @default false */
  readonly charged?: boolean
  /** Tasks that are undecided are redriven too: whoever asks knows that they may have happened. @default false */
  readonly undecided?: boolean
  /** Instead of a new generation: whether the interrupted attempt happened. Failed tasks are left alone. @default none */
  readonly decision?: LetterDecision
  /** Moves the tasks to this queue, whose definition must be registered. @default where they were */
  readonly queue?: string
}

/** `done`: the attempt took effect, and the task succeeds with this result. `rerun`: the same attempt runs again. */
export type LetterDecision = { readonly answer: 'done'; readonly result: Json } | { readonly answer: 'rerun' }

/**
 * `redriven`: it has a new generation, or is decided. `done_before`: it has had one since, or is not failed any more. `undecided`: only a
 * person can say whether it happened. `not_found`: there is no such task. `needs_program`: it has a group, and no process
 * that defines the group was asked.
 */
export type RedriveAnswer = 'redriven' | 'done_before' | 'undecided' | 'not_found' | 'needs_program'

/** What became of one letter. */
export interface Redriven extends TaskKey {
  readonly answer: RedriveAnswer
}

/** What a process with definitions adds to the ledger. */
export interface RedriveProgram {
  definitionOf(queue: string): Definition | undefined
  redrive(definition: Definition, letter: LetterRef, options: RedriveOptions): Promise<RedriveAnswer>
  /** Tasks are due. */
  wake(): void
}

/** At most this many transactions at once. */
const AT_ONCE = 100

/** Answers in the order of the letters. Without a program, tasks that have a group are left alone. */
export async function redriveLetters(
  ledger: Ledger,
  letters: readonly LetterRef[],
  options: RedriveOptions,
  program?: RedriveProgram,
): Promise<readonly Redriven[]> {
  expectOptions(
    'redriveLetters',
    options,
    { ...ACTOR, redriveId: TEXT, charged: FLAG, undecided: FLAG, decision: DECISION, queue: TEXT },
    REQUIRED,
  )
  if (options.queue !== undefined && program?.definitionOf(options.queue) === undefined) {
    const cure = 'register the task that the letters are to be redriven with, then call this again'
    throw new TaskRefusedError('not_found', `No task with the queue ${options.queue} is registered here: ${cure}`)
  }
  const answers: Redriven[] = []
  for (let first = 0; first < letters.length; first += AT_ONCE) {
    const some = letters.slice(first, first + AT_ONCE)
    const one = async (letter: LetterRef): Promise<Redriven> => {
      return { ...keyOf(letter), answer: await redriveOne(ledger, letter, options, program) }
    }
    answers.push(...(await Promise.all(some.map(one))))
    program?.wake()
  }
  return answers
}

const TEXT = [(value: unknown) => typeof value === 'string' && value !== '', 'a text'] as const
const DECISION = [
  (value: unknown) => {
    const { answer, result } = (value ?? {}) as { readonly answer?: unknown; readonly result?: unknown }
    return answer === 'rerun' || (answer === 'done' && result !== undefined)
  },
  "{ answer: 'rerun' } or { answer: 'done', result }",
] as const
const REQUIRED = { required: ['reason'] }

async function redriveOne(
  ledger: Ledger,
  letter: LetterRef,
  options: RedriveOptions,
  program: RedriveProgram | undefined,
): Promise<RedriveAnswer> {
  const found = await ledger.get(letter)
  if (found === undefined) return 'not_found'
  const early = answerTo(found, letter, options)
  if (early !== 'redriven') return early
  const definition = program?.definitionOf(options.queue ?? found.queue)
  try {
    if (program !== undefined && definition !== undefined) return await program.redrive(definition, letter, options)
    return await redriveRecorded(ledger, letter, options)
  } catch (error) {
    // It was removed meanwhile.
    if (error instanceof TaskRefusedError && error.kind === 'not_found') return 'not_found'
    throw error
  }
}

/** By its recorded policy, for whichever program serves its queue. */
function redriveRecorded(ledger: Ledger, letter: LetterRef, options: RedriveOptions): Promise<RedriveAnswer> {
  const seed = randomInt(2 ** 32)
  return ledger.transact<RedriveAnswer>({ tasks: [letter] }, (view) => {
    const task = view.task(letter)
    if (task === undefined) return { result: 'not_found' }
    const answer = answerTo(task, letter, options)
    if (answer !== 'redriven') return { result: answer }
    if (task.progress.grouped) return { result: 'needs_program' }
    const changes = redriven(task, options, { policyHash: task.policyHash, queue: undefined, seed }, view.now)
    return { ...changesOf(changes), result: answer }
  })
}

function changesOf<T extends { readonly task: TaskRecord }>({ task: _task, ...changes }: T): Omit<T, 'task'> {
  return changes
}

/** What the task as it is answers to the redrive of one of its letters. */
export function answerTo(
  { generation, status }: TaskRecord,
  letter: LetterRef,
  { undecided = false, decision }: RedriveOptions,
): RedriveAnswer {
  if (generation !== letter.generation) return 'done_before'
  if (decision !== undefined) return status === 'undecided' ? 'redriven' : 'done_before'
  if (status === 'undecided') return undecided ? 'redriven' : 'undecided'
  return status === 'failed' ? 'redriven' : 'done_before'
}

/** What a redriven task runs with. */
interface RedrivenWith {
  readonly policyHash: string
  /** Where it waits from now on; undefined: where it waited before. */
  readonly queue: string | undefined
  readonly seed: number
}

/** The task with a new generation, or as it was decided. */
export function redriven(
  task: TaskRecord,
  options: RedriveOptions,
  { policyHash, queue, seed }: RedrivenWith,
  now: number,
): Settled {
  const { redriveId, charged = false, decision } = options
  const detail: Record<string, Json> = { ...actorOf(options) }
  if (redriveId !== undefined) detail['redriveId'] = redriveId
  if (decision === undefined) return reset(task, policyHash, seed, now, { uncharged: !charged, queue, detail })
  if (decision.answer === 'done') return resolve(task, 'done', decision.result, now, detail)
  return resolve({ ...task, policyHash, queue: queue ?? task.queue }, 'rerun', null, now, detail)
}
