/** `reprise clean`: forgets runs that have ended, with their logs. Imports the workflow package and the state directory. */
import { createInterface } from 'node:readline/promises'
import {
  cleanableRuns,
  findEndedRun,
  ifKept,
  plural,
  recordedPlan,
  removeRuns,
  StateDirectory,
  stateDirectoryOf,
} from '@reprise/workflow/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { UsageError } from '../failures.js'
import { writeJson } from '../output/json.js'
import { lookFor } from '../output/look.js'
import { runsTable } from '../output/runs/runs-table.js'
import { durationOf } from './ps.js'

type Options = {
  readonly olderThan?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
}

export async function run(
  { values, options }: ParsedArguments<{ readonly runs: readonly string[] }, Options>,
  context: CommandContext,
): Promise<ExitCode> {
  const { world, settings } = context
  // A run that is named is removed however recently it ended.
  const olderThanMs = durationOf(options.olderThan ?? (values.runs.length === 0 ? '7d' : '0s'), '--older-than')
  const code = await ifKept(settings.store, async (ledger) => {
    const nowMs = await ledger.now()
    const ids: string[] = []
    for (const named of values.runs) ids.push(await findEndedRun(ledger, named))
    const runs = await cleanableRuns(ledger, nowMs - olderThanMs, ids)
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
  else if (!settings.quiet) world.stderr.write('No run has ended long enough ago to be removed.\n')
  return EXIT.done
}

async function expectYes(count: number, { world, settings }: CommandContext): Promise<void> {
  const hint = 'add --yes, or --dry-run to see which'
  if (settings.json || !settings.input || world.stdin.isTTY !== true)
    throw new UsageError(`${plural(count, 'run')} would be removed, and there is no terminal to confirm it`, hint)
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
