/** `reprise clean`: forgets runs that have ended, with their logs. Imports the workflow package and the state directory. */
import { createInterface } from 'node:readline/promises'
import { cleanableRuns, plural, recordedPlan, removeRuns, StateDirectory } from '@reprise/workflow/internal'
import type { Ledger } from 'reprise/durable'
import { ENDED_RUN_STATUSES } from 'reprise/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { RefusedError, UsageError } from '../failures.js'
import { writeJson } from '../output/json.js'
import { lookFor } from '../output/look.js'
import { runsTable } from '../output/runs/runs-table.js'
import { durationOf } from './ps.js'
import { findRun } from '../runs/find-run.js'
import { ifKept, stateDirectoryOf } from '../runs/store.js'

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
  const code = await ifKept(context, async (ledger) => {
    const nowMs = await ledger.now()
    const ids: string[] = []
    for (const named of values.runs) ids.push(await endedRun(ledger, named))
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

/** The id of a run that may be removed. */
async function endedRun(ledger: Ledger, named: string): Promise<string> {
  const { id, status, endedAtMs } = await findRun(ledger, named)
  if (endedAtMs !== null && ENDED_RUN_STATUSES.has(status)) return id
  const message = `Run ${id} has not ended, so it is not removed.`
  throw new RefusedError({ kind: 'not_possible', message, next: [['cancel', id]] })
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
