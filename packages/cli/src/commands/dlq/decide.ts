/**
 * `reprise dlq decide`: says whether the interrupted attempts of undecided items and tasks took effect. Items that run
 * again run here; tasks of programs by their own workers. Imports the library, the workflow package and output.
 */
import { type ChosenLetters, expectLetterData, ifKept, plural, type RedriveChoices } from '@reprise/workflow/internal'
import type { LetterDecision } from 'reprise/internal'
import type { CommandModule, ParsedArguments } from '../../command.js'
import type { CommandContext } from '../../command-context.js'
import { UsageError } from '../../failures.js'
import { decisionOf } from '../../runs/decision-flags.js'
import type { WhichOptions } from '../../input/letter-selection.js'
import { actorOf } from '../../runs/actor.js'
import type { ShownOptions } from '../../runs/conduct.js'
import {
  chosenLetters,
  leftLines,
  NO_TASKS,
  redriveChosen,
  type Redriven,
  runLines,
  taskLines,
  writeOutcome,
} from './redrive.js'

type Options = WhichOptions &
  ShownOptions & {
    readonly done?: boolean
    readonly rerun?: boolean
    readonly result?: string
    readonly reduce?: boolean
    readonly reason?: string
  }
type Given = ParsedArguments<{ readonly of: string; readonly key?: string }, Options>

export const decide: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const decision = decisionOf(options)
    if (decision.answer === 'done') expectLetterData(decision.result, '--result')
    const chosen = await ifKept(context.settings.store, (ledger) => chosenLetters(ledger, values, options, 'undecided'))
    if (chosen === undefined || (chosen.runs.length === 0 && chosen.tasks.length === 0)) {
      tellEnd(decision, chosen ?? {}, { runs: [], tasks: NO_TASKS }, context)
      return
    }
    if (options.reduce === true && chosen.runs.length === 0)
      throw new UsageError('--reduce does not reach tasks of programs', 'leave --reduce out')
    const choices: RedriveChoices = {
      ...actorOf(options.reason),
      ...{ decision, undecided: true, reduce: options.reduce === true, acceptChanges: false },
    }
    const redriven = await redriveChosen(chosen, choices, options, context)
    tellEnd(decision, chosen, redriven, context)
    return redriven.code
  },
}

function tellEnd(
  { answer }: LetterDecision,
  chosen: Partial<ChosenLetters>,
  { runs, tasks }: Pick<Redriven, 'runs' | 'tasks'>,
  context: CommandContext,
): void {
  if (writeOutcome(context, 'decided', { answer, redrive: chosen.redriveId ?? null, runs, tasks })) return
  if (context.settings.quiet) return
  const count = runs.reduce((sum, { redriven }) => sum + redriven, 0) + tasks.redriven
  const what = answer === 'done' ? 'decided: counted as succeeded' : 'decided: run again'
  const lines = [
    count === 0 ? 'No undecided item or task fits.' : `${plural(count, 'letter')} ${what}.`,
    ...(tasks.redriven > 0 && answer === 'rerun' ? ['The workers of their program run the tasks.'] : []),
    ...runLines(answer === 'rerun' ? runs : runs.map((run) => ({ ...run, redriven: 0 })), context),
    ...taskLines(tasks),
    ...leftLines(chosen, context),
  ]
  context.io.stderr.write(`${lines.join('\n')}\n`)
}
