/**
 * Shared by `reprise dlq retry` and `dlq decide`: finds the letters that were named, conducts the redrive of one run,
 * redrives tasks of programs, and prints what became of them. Imports the library, the workflow package and output.
 */
import {
  chooseLetters,
  type ChosenLetters,
  type ChosenRun,
  expectSecrets,
  expectUndecided,
  findLetter,
  type LetterChoice,
  OperationError,
  plural,
  prepareRedrive,
  type RedriveChoices,
  type RedriveOutcome,
  redriveRun,
  runEnvironment,
  withLedger,
} from '@reprise/workflow/internal'
import type { RunEnd } from '@reprise/workflow'
import type { Ledger } from 'reprise/durable'
import { redriveLetters } from 'reprise/internal'
import type { CommandContext } from '../../command-context.js'
import { EXIT, type ProgramExitCode } from '../../exit-codes.js'
import { selectionOf, type WhichOptions } from '../../input/letter-selection.js'
import { writeData } from '../../output/json.js'
import { commandWords } from '../../output/next-commands.js'
import { conductRun, type ShownOptions } from '../../runs/conduct.js'

/** Letters as they were typed: `RUN`, `RUN/MAP KEY`, a letter, a name of tasks. */
export interface NamedLetters {
  readonly of?: string
  readonly key?: string
}

/** What became of the letters of a run. */
interface RedrivenRun extends Omit<RedriveOutcome, 'mapRun'> {
  readonly run: string
  readonly state: RunEnd['state']
  readonly steps: readonly string[]
}

export interface RedrivenTasks {
  readonly redriven: number
  readonly doneBefore: number
  readonly needProgram: number
}

export interface Redriven {
  readonly runs: readonly RedrivenRun[]
  readonly tasks: RedrivenTasks
  readonly code: ProgramExitCode
}

export const NO_TASKS: RedrivenTasks = { redriven: 0, doneBefore: 0, needProgram: 0 }

/** One letter if a letter was named, else every open letter that fits. */
export async function chosenLetters(
  ledger: Ledger,
  { of, key }: NamedLetters,
  options: WhichOptions,
  choice: LetterChoice,
): Promise<ChosenLetters> {
  if (of !== undefined && key === undefined) {
    try {
      return await chooseLetters(ledger, await selectionOf(ledger, of, options), choice)
    } catch (error) {
      if (!(error instanceof OperationError) || error.kind !== 'not_found' || options.group !== undefined) throw error
    }
  }
  if (of === undefined) return chooseLetters(ledger, await selectionOf(ledger, undefined, options), choice)
  const found = await findLetter(ledger, of, key, options.run)
  if (choice === 'undecided') expectUndecided(found)
  const { letter, task } = found
  const { scopeKind, scope, id } = letter
  const selection = { scopes: [{ scopeKind, scope }] }
  // It waits for its attempts: an interrupted redrive is finished.
  const isGoing = letter.closed !== undefined && task?.queue === `${scope}/redrive` && task.status !== 'succeeded'
  return chooseLetters(ledger, isGoing ? selection : { ...selection, names: new Set([`${scope}/${id}`]) }, choice)
}

/** Run after run, until one is interrupted; then the tasks of programs. */
export async function redriveChosen(
  chosen: ChosenLetters,
  choices: RedriveChoices,
  shown: ShownOptions,
  context: CommandContext,
): Promise<Redriven> {
  const runs: RedrivenRun[] = []
  let code: ProgramExitCode = EXIT.done
  for (const run of chosen.runs) {
    const ended = await redriveOne(run, chosen, choices, shown, context)
    if (ended.redriven !== undefined) runs.push(ended.redriven)
    code = worse(code, ended.code)
    if (ended.code === EXIT.interrupted || ended.code === EXIT.terminated) break
  }
  const tasks = await redriveTasks(chosen, choices, context)
  return { runs, tasks, code: tasks.needProgram > 0 ? worse(code, EXIT.completedWithFailures) : code }
}

async function redriveOne(
  chosen: ChosenRun,
  letters: ChosenLetters,
  choices: RedriveChoices,
  { output }: ShownOptions,
  context: CommandContext,
): Promise<{ code: ProgramExitCode; redriven?: RedrivenRun }> {
  const { io, settings } = context
  const prepared = await withLedger(settings.store, (ledger) =>
    prepareRedrive(ledger, chosen, letters, choices, (file) => {
      if (!settings.quiet) io.stderr.write(`${file} is gone: going on with what was recorded of it.\n`)
    }),
  )
  const { plan, record } = prepared
  expectSecrets(plan, runEnvironment(plan, record, io.env))
  const outcomes: RedriveOutcome[] = []
  let end: RunEnd | undefined
  const conduct = async (with_: Parameters<Parameters<typeof conductRun>[3]>[0]): Promise<RunEnd> => {
    end = await redriveRun(
      plan,
      record.id,
      prepared.input((outcome) => outcomes.push(outcome)),
      with_,
    )
    return end
  }
  const shown = output === undefined ? {} : { output }
  const code = await conductRun(context, record.id, plan, conduct, { shown, isDataTold: false })
  if (end === undefined) return { code }
  const { state, undecided } = end
  const redriven = sumOf(chosen, state, outcomes)
  // It waits for a resume, since nothing but the letters was asked for.
  const isLeft = state === 'interrupted' && code === EXIT.failed && undecided.length === 0
  const isWell = redriven.failed === 0 && !redriven.isCanaryFailed
  return { code: isLeft ? (isWell ? EXIT.done : EXIT.completedWithFailures) : code, redriven }
}

function sumOf({ run, steps }: ChosenRun, state: RunEnd['state'], outcomes: readonly RedriveOutcome[]): RedrivenRun {
  const sum = (name: 'redriven' | 'succeeded' | 'failed' | 'left' | 'undecided'): number =>
    outcomes.reduce((total, outcome) => total + outcome[name], 0)
  return {
    ...{ run, state, steps },
    ...{ redriven: sum('redriven'), succeeded: sum('succeeded'), failed: sum('failed'), left: sum('left') },
    undecided: sum('undecided'),
    isCanaryFailed: outcomes.some(({ isCanaryFailed }) => isCanaryFailed),
  }
}

async function redriveTasks(
  { tasks, redriveId }: ChosenLetters,
  { reason, by, undecided, decision }: RedriveChoices,
  { settings }: CommandContext,
): Promise<RedrivenTasks> {
  if (tasks.length === 0) return NO_TASKS
  const options = { reason, redriveId, undecided, ...(by !== undefined && { by }), ...(decision && { decision }) }
  const answers = await withLedger(settings.store, (ledger) => redriveLetters(ledger, tasks, options))
  const count = (wanted: string): number => answers.filter(({ answer }) => answer === wanted).length
  return { redriven: count('redriven'), doneBefore: count('done_before'), needProgram: count('needs_program') }
}

/** The command ends with the code that says more: a signal, then a failure, then failures that were continued. */
function worse(one: ProgramExitCode, other: ProgramExitCode): ProgramExitCode {
  const order = [EXIT.done, EXIT.completedWithFailures, EXIT.failed] as const
  const rank = (code: ProgramExitCode): number => (order as readonly ProgramExitCode[]).indexOf(code)
  if (rank(one) === -1) return one
  return rank(other) === -1 || rank(other) > rank(one) ? other : one
}

/** For programs; after the events of `--ndjson`, a line with a type as they have. */
export function writeOutcome(context: CommandContext, type: 'redriven' | 'decided', outcome: object): boolean {
  return writeData(context, context.settings.ndjson ? { type, ...outcome } : outcome)
}

/** What to say of the runs, and what to type next. */
export function runLines(runs: readonly RedrivenRun[], { io, settings }: CommandContext): string[] {
  const words = commandWords(settings, io.env)
  return runs.flatMap(({ run, state, redriven, succeeded, failed, left, isCanaryFailed }) => {
    const others = left > 0 ? `, ${left} left` : ''
    const sums = `${plural(redriven, 'item')}, ${succeeded} succeeded, ${failed} failed again${others}`
    return [
      ...(redriven > 0 ? [`Redriven of ${run}: ${sums}.`] : []),
      ...(isCanaryFailed ? ['The other items were left alone, since one of the first failed.'] : []),
      ...(state === 'interrupted' ? [`next: ${words(['resume', run])}`] : []),
      ...(failed > 0 ? [`next: ${words(['dlq', 'groups', run])}`] : []),
    ]
  })
}

/** Letters that were left alone, and why. */
export function leftLines(
  { undecided = 0, undecidedSteps = [], others = 0 }: Partial<ChosenLetters>,
  { io, settings }: CommandContext,
): string[] {
  const words = commandWords(settings, io.env)
  const unknown = `${plural(undecided, 'undecided letter')} left alone: find out whether they took effect, then use \`dlq decide\`.`
  const beside = `${plural(others, 'letter')} of on_item_error left alone: redrive the items instead, or close the letters with ack.`
  return [
    ...(undecided > 0 ? [unknown] : []),
    ...undecidedSteps.flatMap(({ run, step }) => [
      `Step ${step} of ${run} is undecided, and was left alone: find out whether it took effect.`,
      `next: ${words(['resume', run, '--done', step])}`,
      `next: ${words(['resume', run, '--rerun', step])}`,
    ]),
    ...(others > 0 ? [beside] : []),
  ]
}

export function taskLines(tasks: RedrivenTasks): string[] {
  const { needProgram } = tasks
  const left = `${plural(needProgram, 'task')} left alone: only their program can redrive tasks that have a group.`
  return needProgram > 0 ? [left] : []
}
