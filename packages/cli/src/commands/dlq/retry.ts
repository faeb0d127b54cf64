/**
 * `reprise dlq retry`: grants dead letters a fresh set of attempts. Items and steps of runs are run here, one run after the
 * other; tasks of programs by their own workers. Imports the library, the workflow package and output.
 */
import {
  chooseLetters,
  type ChosenLetters,
  type ChosenRun,
  expectSecrets,
  findLetter,
  ifKept,
  OperationError,
  plural,
  prepareRedrive,
  readMapRate,
  type RedriveChoices,
  type RedriveOutcome,
  redriveRun,
  withLedger,
} from '@reprise/workflow/internal'
import type { RunEnd } from '@reprise/workflow'
import type { Ledger } from 'reprise/durable'
import { redriveLetters } from 'reprise/internal'
import type { CommandModule, ParsedArguments } from '../../command.js'
import type { CommandContext } from '../../command-context.js'
import { EXIT, type ProgramExitCode } from '../../exit-codes.js'
import { UsageError } from '../../failures.js'
import { actorOf } from '../../runs/actor.js'
import { countOf } from '../../input/count-flag.js'
import { selectionOf, type WhichOptions } from '../../input/letter-selection.js'
import { writeJson } from '../../output/json.js'
import { commandWords } from '../../output/next-commands.js'
import { conductRun, type ShownOptions } from '../../runs/conduct.js'

type Options = WhichOptions &
  ShownOptions & {
    readonly canary?: string
    readonly parallel?: string
    readonly rate?: string
    readonly reduce?: boolean
    readonly undecided?: boolean
    readonly acceptChanges?: boolean
    readonly dryRun?: boolean
    readonly reason?: string
  }
type Given = ParsedArguments<{ readonly of?: string; readonly key?: string }, Options>

/** What became of the letters of a run. */
interface RedrivenRun extends Omit<RedriveOutcome, 'mapRun'> {
  readonly run: string
  readonly state: RunEnd['state']
  readonly steps: readonly string[]
}

interface RedrivenTasks {
  readonly redriven: number
  readonly doneBefore: number
  readonly needProgram: number
}

export const retry: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const choices = choicesOf(options)
    const { store } = context.settings
    const chosen = await ifKept(store, (ledger) => choose(ledger, values, options))
    const isNone = chosen === undefined || (chosen.runs.length === 0 && chosen.tasks.length === 0)
    if (isNone || options.dryRun === true) return tellChosen(chosen, options.dryRun === true, context)
    expectRunnable(chosen, choices)
    const runs: RedrivenRun[] = []
    let code: ProgramExitCode = EXIT.done
    for (const run of chosen.runs) {
      const ended = await redriveOne(run, chosen, choices, options, context)
      if (ended.redriven !== undefined) runs.push(ended.redriven)
      code = worse(code, ended.code)
      if (ended.code === EXIT.interrupted || ended.code === EXIT.terminated) break
    }
    const tasks = await redriveTasks(chosen, choices, context)
    tellEnd(chosen, runs, tasks, context)
    return tasks.needProgram > 0 ? worse(code, EXIT.completedWithFailures) : code
  },
}

function choicesOf(options: Options): RedriveChoices {
  const { undecided = false, reduce = false, acceptChanges = false } = options
  const [canary, parallel] = [countOf('--canary', options.canary), countOf('--parallel', options.parallel)]
  const rate = options.rate === undefined ? undefined : readMapRate(options.rate)
  if (options.rate !== undefined && rate === undefined)
    throw new UsageError(`--rate ${options.rate} is no rate`, 'such as 20/s, 100/m or 5/500ms')
  return {
    ...actorOf(options.reason),
    ...{ undecided, reduce, acceptChanges },
    ...(canary !== undefined && { canary }),
    ...(parallel !== undefined && { parallel }),
    ...(rate !== undefined && { rate }),
  }
}

/** Of what was typed: one letter, or all that fit. */
async function choose(ledger: Ledger, { of, key }: Given['values'], options: Options): Promise<ChosenLetters> {
  const isUndecidedToo = options.undecided === true
  if (of !== undefined && key === undefined) {
    try {
      return await chooseLetters(ledger, await selectionOf(ledger, of, options), isUndecidedToo)
    } catch (error) {
      if (!(error instanceof OperationError) || error.kind !== 'not_found' || options.group !== undefined) throw error
    }
  }
  if (of === undefined) return chooseLetters(ledger, await selectionOf(ledger, undefined, options), isUndecidedToo)
  const { letter, task } = await findLetter(ledger, of, key, options.run)
  const { scopeKind, scope, id } = letter
  const selection = { scopes: [{ scopeKind, scope }] }
  // It waits for its attempts: an interrupted redrive is finished.
  const isGoing = letter.closed !== undefined && task?.queue === `${scope}/redrive` && task.status !== 'succeeded'
  return chooseLetters(
    ledger,
    isGoing ? selection : { ...selection, names: new Set([`${scope}/${id}`]) },
    isUndecidedToo,
  )
}

/** The program that defines a task executes it, at its own pace. */
function expectRunnable({ tasks, runs }: ChosenLetters, { canary, parallel, rate, reduce }: RedriveChoices): void {
  if (tasks.length === 0) return
  const flags = { '--canary': canary, '--parallel': parallel, '--rate': rate, '--reduce': reduce || undefined }
  const [flag] = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (flag === undefined) return
  const cure = runs.length > 0 ? 'name a run with --run' : `leave ${flag} out`
  throw new UsageError(`${flag} does not reach tasks of programs, which their own workers execute`, cure)
}

async function redriveOne(
  chosen: ChosenRun,
  letters: ChosenLetters,
  choices: RedriveChoices,
  options: Options,
  context: CommandContext,
): Promise<{ code: ProgramExitCode; redriven?: RedrivenRun }> {
  const { world, settings } = context
  const prepared = await withLedger(settings.store, (ledger) =>
    prepareRedrive(ledger, chosen, letters, choices, (file) => {
      if (!settings.quiet) world.stderr.write(`${file} is gone: going on with what was recorded of it.\n`)
    }),
  )
  const { plan, record } = prepared
  expectSecrets(plan, world.env)
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
  const shown = { ...(options.output && { output: options.output }) }
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
  { reason, by, undecided }: RedriveChoices,
  { settings }: CommandContext,
): Promise<RedrivenTasks> {
  if (tasks.length === 0) return { redriven: 0, doneBefore: 0, needProgram: 0 }
  const options = { reason, redriveId, undecided, ...(by !== undefined && { by }) }
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

function tellChosen(chosen: ChosenLetters | undefined, isDry: boolean, { world, settings }: CommandContext): void {
  const { runs = [], tasks = [], undecided = 0 } = chosen ?? {}
  const views = runs.map(({ run, steps, maps, left }) => ({ run, steps, items: sumItems(maps), left }))
  if (settings.json) {
    return writeJson(world.stdout, isDry ? { chosen: views, tasks: tasks.length, undecided } : noneRedriven(undecided))
  }
  if (settings.quiet && !isDry) return
  const lines = views.map(({ run, steps, items, left }) => {
    const words = [
      ...(steps.length > 0 ? [`${plural(steps.length, 'step')} (${steps.join(', ')})`] : []),
      ...(items > 0 ? [plural(items, 'item')] : []),
      ...(left > 0 ? [`${plural(left, 'item')} that an interrupted redrive left`] : []),
    ]
    return `run ${run}: ${words.join(', ')}`
  })
  const told = [...lines, ...(tasks.length > 0 ? [`${plural(tasks.length, 'task')} of programs`] : [])]
  const all =
    told.length === 0 ? ['No open dead letter fits.'] : ['These would be redriven:', ...told.map((line) => `  ${line}`)]
  const output = isDry ? world.stdout : world.stderr
  output.write(`${[...all, ...leftLines(chosen ?? {})].join('\n')}\n`)
}

function noneRedriven(undecided: number): object {
  return { redrive: null, runs: [], tasks: { redriven: 0, doneBefore: 0, needProgram: 0 }, undecided }
}

function sumItems(maps: ChosenRun['maps']): number {
  return [...maps.values()].reduce((sum, count) => sum + count, 0)
}

function leftLines({ undecided = 0, others = 0 }: Partial<ChosenLetters>): string[] {
  const unknown = `${plural(undecided, 'undecided letter')} left alone: find out whether they took effect, then add --undecided.`
  const beside = `${plural(others, 'letter')} of on_item_error left alone: redrive the items instead, or close the letters with ack.`
  return [...(undecided > 0 ? [unknown] : []), ...(others > 0 ? [beside] : [])]
}

function tellEnd(
  chosen: ChosenLetters,
  runs: readonly RedrivenRun[],
  tasks: RedrivenTasks,
  { world, settings }: CommandContext,
): void {
  const { redriveId, undecided } = chosen
  if (settings.json) return writeJson(world.stdout, { redrive: redriveId, runs, tasks, undecided })
  if (settings.quiet || settings.ndjson) return
  const words = commandWords(settings, world.env)
  const lines = runs.flatMap(({ run, state, redriven, succeeded, failed, left, isCanaryFailed }) => [
    ...(redriven > 0
      ? [
          `Redriven of ${run}: ${plural(redriven, 'item')}, ${succeeded} succeeded, ${failed} failed again${left > 0 ? `, ${left} left` : ''}.`,
        ]
      : []),
    ...(isCanaryFailed ? ['The others were left alone, since one of the first failed.'] : []),
    ...(state === 'interrupted' ? [`next: ${words(['resume', run])}`] : []),
    ...(failed > 0 ? [`next: ${words(['dlq', 'groups', run])}`] : []),
  ])
  if (tasks.redriven > 0)
    lines.push(`${plural(tasks.redriven, 'task')} redriven: the workers of their program execute them.`)
  if (tasks.needProgram > 0)
    lines.push(
      `${plural(tasks.needProgram, 'task')} left alone: only their program can redrive tasks that have a group.`,
    )
  const all = [...lines, ...leftLines(chosen)]
  if (all.length > 0) world.stderr.write(`${all.join('\n')}\n`)
}
