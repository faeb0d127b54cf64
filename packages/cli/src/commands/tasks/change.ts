/** `reprise tasks retry-now|cancel|decide`: changes one durable task of a program. Imports the workflow package and output. */
import {
  cancelDurableTask,
  decideDurableTask,
  expectLetterData,
  findTask,
  retryTaskNow,
  withLedger,
} from '@reprise/workflow/internal'
import type { Ledger, TaskRecord } from 'reprise/durable'
import type { CommandModule, ParsedArguments } from '../../command.js'
import type { CommandContext } from '../../command-context.js'
import { decisionOf } from '../../runs/decision-flags.js'
import { writeData } from '../../output/json.js'
import { actorOf } from '../../runs/actor.js'

type Options = {
  readonly reason?: string
  readonly done?: boolean
  readonly rerun?: boolean
  readonly result?: string
}
type Given = ParsedArguments<{ readonly task: string; readonly id?: string }, Options>

export const retryNow: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const task = await onTask(values, context, (ledger, found) => retryTaskNow(ledger, found, actorOf(options.reason)))
    tell(
      context,
      { task: task.name, startEarly: true },
      `The next attempt of durable task ${task.name} is due now: a process of its program starts it.`,
    )
  },
}

export const cancel: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const { name, answer: cancelled } = await onTask(values, context, (ledger, found) =>
      cancelDurableTask(ledger, found, actorOf(options.reason)),
    )
    const said = cancelled ? `Durable task ${name} is cancelled.` : `Durable task ${name} was cancelled before.`
    tell(context, { task: name, cancelled }, said)
  },
}

export const decide: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const decision = decisionOf(options)
    if (decision.answer === 'done') expectLetterData(decision.result, '--result')
    const { name } = await onTask(values, context, (ledger, found) =>
      decideDurableTask(ledger, found, decision, actorOf(options.reason)),
    )
    const said = decision.answer === 'done' ? 'counts as succeeded' : 'runs again: a process of its program runs it'
    tell(context, { task: name, answer: decision.answer }, `Durable task ${name} ${said}.`)
  },
}

async function onTask<T>(
  { task, id }: Given['values'],
  { settings }: CommandContext,
  act: (ledger: Ledger, found: TaskRecord) => Promise<T>,
): Promise<{ name: string; answer: T }> {
  return withLedger(settings.store, async (ledger) => {
    const found = await findTask(ledger, task, id)
    return { name: `${found.scope}/${found.id}`, answer: await act(ledger, found) }
  })
}

function tell(context: CommandContext, data: object, line: string): void {
  if (!writeData(context, data) && !context.settings.quiet) context.io.stderr.write(`${line}\n`)
}
