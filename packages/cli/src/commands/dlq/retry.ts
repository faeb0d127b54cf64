/**
 * `reprise dlq retry`: grants dead letters a fresh set of attempts. Items and steps of runs are run here, one run after the
 * other; tasks of programs by their own workers. Imports the library, the workflow package and output.
 */
import {
  type ChosenLetters,
  type ChosenRun,
  ifKept,
  plural,
  readMapRate,
  type RedriveChoices,
} from '@reprise/workflow/internal'
import type { CommandModule, ParsedArguments } from '../../command.js'
import type { CommandContext } from '../../command-context.js'
import { UsageError } from '../../failures.js'
import { countOf } from '../../input/count-flag.js'
import type { WhichOptions } from '../../input/letter-selection.js'
import { actorOf } from '../../runs/actor.js'
import type { ShownOptions } from '../../runs/conduct.js'
import {
  chosenLetters,
  leftLines,
  type NamedLetters,
  NO_TASKS,
  redriveChosen,
  type Redriven,
  runLines,
  taskLines,
  writeOutcome,
} from './redrive.js'

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
type Given = ParsedArguments<NamedLetters, Options>

export const retry: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const choices = choicesOf(options)
    const choice = options.undecided === true ? 'all' : 'dead'
    const chosen = await ifKept(context.settings.store, (ledger) => chosenLetters(ledger, values, options, choice))
    const isNone = chosen === undefined || (chosen.runs.length === 0 && chosen.tasks.length === 0)
    if (isNone || options.dryRun === true) return tellChosen(chosen, options.dryRun === true, context)
    expectRunnable(chosen, choices)
    const redriven = await redriveChosen(chosen, choices, options, context)
    tellEnd(chosen, redriven, context)
    return redriven.code
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

/** The program that defines a task executes it, at its own pace. */
function expectRunnable({ tasks, runs }: ChosenLetters, { canary, parallel, rate, reduce }: RedriveChoices): void {
  if (tasks.length === 0) return
  const flags = { '--canary': canary, '--parallel': parallel, '--rate': rate, '--reduce': reduce || undefined }
  const [flag] = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (flag === undefined) return
  const cure = runs.length > 0 ? 'name a run with --run' : `leave ${flag} out`
  throw new UsageError(`${flag} does not reach tasks of programs, which their own workers execute`, cure)
}

function tellChosen(chosen: ChosenLetters | undefined, isDry: boolean, context: CommandContext): void {
  const { io, settings } = context
  const { runs = [], tasks = [] } = chosen ?? {}
  const views = runs.map(({ run, steps, maps, left }) => ({ run, steps, items: sumItems(maps), left }))
  const undecided = chosen === undefined ? 0 : undecidedIn(chosen)
  const none = { redrive: null, runs: [], tasks: NO_TASKS, undecided }
  if (writeOutcome(context, 'redriven', isDry ? { chosen: views, tasks: tasks.length, undecided } : none)) return
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
  const output = isDry ? io.stdout : io.stderr
  output.write(`${[...all, ...leftLines(chosen ?? {}, context)].join('\n')}\n`)
}

function undecidedIn({ undecided, undecidedSteps }: ChosenLetters): number {
  return undecided + undecidedSteps.length
}

function sumItems(maps: ChosenRun['maps']): number {
  return [...maps.values()].reduce((sum, count) => sum + count, 0)
}

function tellEnd(chosen: ChosenLetters, { runs, tasks }: Redriven, context: CommandContext): void {
  const { io, settings } = context
  const { redriveId } = chosen
  if (writeOutcome(context, 'redriven', { redrive: redriveId, runs, tasks, undecided: undecidedIn(chosen) })) return
  if (settings.quiet) return
  const started = `${plural(tasks.redriven, 'task')} redriven: the workers of their program execute them.`
  const all = [
    ...runLines(runs, context),
    ...(tasks.redriven > 0 ? [started] : []),
    ...taskLines(tasks),
    ...leftLines(chosen, context),
  ]
  if (all.length > 0) io.stderr.write(`${all.join('\n')}\n`)
}
