/** `reprise clean`: forgets runs that have ended, with their logs. Imports the workflow package and the state directory. */
import { createInterface } from 'node:readline/promises'
import { cleanableRuns, removeRuns, StateDirectory } from '@reprise/workflow'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { UsageError } from '../failures.js'
import { writeJson } from '../output/json.js'
import { lookFor } from '../output/look.js'
import { runsTable } from '../output/runs/runs-table.js'
import { durationOf } from './ps.js'
import { recordedPlan } from '../runs/load-plan.js'
import { ifKept, stateDirectoryOf } from '../runs/store.js'

type Options = {
  readonly olderThan?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
}

export async function run({ options }: ParsedArguments<object, Options>, context: CommandContext): Promise<ExitCode> {
  const { world, settings } = context
  const olderThanMs = durationOf(options.olderThan ?? '7d', '--older-than')
  const code = await ifKept(context, async (ledger) => {
    const nowMs = await ledger.now()
    const runs = await cleanableRuns(ledger, nowMs - olderThanMs)
    if (runs.length === 0) return nothing(context)
    const isDry = options.dryRun === true
    if (!settings.json && !settings.quiet)
      world.stderr.write(`${runsTable(runs, nowMs, lookFor(world, settings, world.stderr)).join('\n')}\n`)
    if (!isDry && options.yes !== true) await expectYes(runs.length, context)
    const state = StateDirectory.at(stateDirectoryOf(settings.store))
    const gone = isDry ? [] : await removeRuns(ledger, state, runs, recordedPlan)
    if (settings.json) writeJson(world.stdout, { removed: gone.map(({ id }) => id), runs })
    else if (!isDry && !settings.quiet)
      world.stderr.write(`${gone.length === 1 ? '1 run is' : `${gone.length} runs are`} gone.\n`)
    return EXIT.done
  })
  return code ?? nothing(context)
}

function nothing({ world, settings }: CommandContext): ExitCode {
  if (settings.json) writeJson(world.stdout, { removed: [], runs: [] })
  else if (!settings.quiet) world.stderr.write('There is nothing to remove.\n')
  return EXIT.done
}

async function expectYes(count: number, { world, settings }: CommandContext): Promise<void> {
  const hint = 'add --yes, or --dry-run to see which'
  if (settings.json || !settings.input || world.stdin.isTTY !== true)
    throw new UsageError(`${count} runs would be removed, and nobody may be asked`, hint)
  const questions = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await questions.question(
      `Remove ${count === 1 ? 'this run' : `these ${count} runs`} with their logs? [y/N] `,
    )
    if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('nothing was removed')
  } finally {
    questions.close()
  }
}
