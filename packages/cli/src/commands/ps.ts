/** `reprise ps`: runs, or what waits now. Imports the workflow package and output. */
import { type RunState, viewRuns } from '@reprise/workflow'
import { ifKept, viewRetrying } from '@reprise/workflow/internal'
import { parseDuration } from 'reprise'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { UsageError } from '../failures.js'
import { writeJson } from '../output/json.js'
import { noStoreLines } from '../output/no-store.js'
import { lookFor } from '../output/look.js'
import { commandWords } from '../output/next-commands.js'
import { retryingTable } from '../output/runs/retrying-table.js'
import { runsTable } from '../output/runs/runs-table.js'
import { writePage } from '../output/github-commands.js'

type Options = {
  readonly retrying?: boolean
  readonly state?: RunState
  readonly last?: string
  readonly limit?: string
}

/** More than anybody reads; `--limit`, `--last` and `--state` look further. */
const USUAL_LIMIT = 50

export async function run({ options }: ParsedArguments<object, Options>, context: CommandContext): Promise<void> {
  const { world, settings } = context
  const lastMs = options.last === undefined ? undefined : durationOf(options.last)
  const isBounded = options.state !== undefined || lastMs !== undefined || options.retrying === true
  const limit = options.limit === undefined ? (isBounded ? Infinity : USUAL_LIMIT) : limitOf(options.limit)
  const look = lookFor(world, settings)
  // Ages are by the ledger's clock, as what is recorded: that of another machine may be another one.
  const print = (lines: readonly string[]): unknown => writePage(world, `${lines.join('\n')}\n`)
  if (options.retrying === true) {
    const found = await ifKept(
      settings.store,
      async (ledger) => [await viewRetrying(ledger, limit), await ledger.now()] as const,
    )
    const [retrying, nowMs] = found ?? [[], Date.now()]
    if (settings.json) writeJson(world.stdout, { retrying })
    else if (found === undefined) print(noStoreLines(settings.store))
    else print(retryingTable(retrying, nowMs, look))
    return
  }
  const found = await ifKept(settings.store, async (ledger) => {
    const nowMs = await ledger.now()
    const selection = {
      ...(options.state !== undefined && { state: options.state }),
      ...(lastMs !== undefined && { sinceMs: nowMs - lastMs }),
      ...(limit !== Infinity && { limit }),
    }
    return [await viewRuns(ledger, selection), nowMs] as const
  })
  const [runs, nowMs] = found ?? [[], Date.now()]
  if (settings.json) writeJson(world.stdout, { runs })
  else if (found === undefined) print(noStoreLines(settings.store))
  else print(runsTable(runs, nowMs, look, commandWords(settings, world.env)))
}

function limitOf(text: string): number {
  const limit = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(limit) && limit > 0) return limit
  throw new UsageError(`--limit ${text} is no number of runs`, 'a whole number of 1 or more')
}

export function durationOf(text: string, flag = '--last'): number {
  try {
    return parseDuration(text)
  } catch {
    throw new UsageError(`${flag} ${text} is no duration`, 'such as 30m, 24h or 7d')
  }
}
