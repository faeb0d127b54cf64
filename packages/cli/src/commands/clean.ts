/** `reprise clean`: forgets runs that have ended, with their logs, and working trees that a crash has left. Imports the workflow package and the state directory. */
import { createInterface } from 'node:readline/promises'
import {
  cleanableRuns,
  cleanTrees,
  findEndedRun,
  ifKept,
  plural,
  planToEnd,
  removeRuns,
  StateDirectory,
  stateDirectoryOf,
} from '@reprise/workflow/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { UsageError } from '../failures.js'
import { writeJson } from '../output/json.js'
import { displayFor } from '../output/display.js'
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
  const { io, settings } = context
  // A run that is named is removed however recently it ended.
  const olderThanMs = durationOf(options.olderThan ?? (values.runs.length === 0 ? '7d' : '0s'), '--older-than')
  const code = await ifKept(settings.store, async (ledger) => {
    const nowMs = await ledger.now()
    const ids: string[] = []
    for (const named of values.runs) ids.push(await findEndedRun(ledger, named))
    const isDry = options.dryRun === true
    const state = StateDirectory.at(stateDirectoryOf(settings.store))
    const left = ids.length > 0 ? NO_TREES : await cleanTrees(ledger, state, isDry)
    tellTrees(left, isDry, context)
    const runs = await cleanableRuns(ledger, nowMs - olderThanMs, ids)
    if (runs.length === 0) return nothing(context, left)
    if (!settings.json && !settings.quiet)
      io.stderr.write(`${runsTable(runs, nowMs, displayFor(io, settings, io.stderr)).join('\n')}\n`)
    if (!isDry && options.yes !== true) await expectYes(runs.length, context)
    const gone = isDry ? [] : await removeRuns(ledger, state, runs, planToEnd)
    if (settings.json) writeJson(io.stdout, { removed: gone.map(({ id }) => id), runs, ...left })
    else if (!isDry && !settings.quiet)
      io.stderr.write(`${gone.length === 1 ? '1 run is' : `${gone.length} runs are`} gone.\n`)
    return EXIT.done
  })
  return code ?? nothing(context)
}

const NO_TREES: Awaited<ReturnType<typeof cleanTrees>> = { trees: [], branches: [] }

/** Nothing is lost with a tree: what was done in it is in a commit by then. */
function tellTrees({ trees, branches }: typeof NO_TREES, isDry: boolean, { io, settings }: CommandContext): void {
  if (trees.length === 0 || settings.json || settings.quiet) return
  const what = plural(trees.length, 'working tree')
  const end = isDry ? 'would be removed' : trees.length === 1 ? 'is removed' : 'are removed'
  io.stderr.write(`${what} of processes that are gone ${end}.\n`)
  for (const branch of branches) io.stderr.write(`Work that was not merged is on branch ${branch}.\n`)
}

function nothing({ io, settings }: CommandContext, left = NO_TREES): ExitCode {
  if (settings.json) writeJson(io.stdout, { removed: [], runs: [], ...left })
  else if (!settings.quiet) io.stderr.write('No run has ended long enough ago to be removed.\n')
  return EXIT.done
}

async function expectYes(count: number, { io, settings }: CommandContext): Promise<void> {
  const hint = 'add --yes, or --dry-run to see which'
  if (settings.json || !settings.input || io.stdin.isTTY !== true)
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
