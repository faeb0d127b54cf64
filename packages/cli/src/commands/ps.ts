/** `reprise ps`: runs, or what waits now. Imports the workflow package and output. */
import { type RunState, viewRuns } from '@reprise/workflow'
import { hasTasks, ifKept, viewRetrying } from '@reprise/workflow/internal'
import { parseDuration } from 'reprise'
import { JOB_KIND } from 'reprise/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { UsageError } from '../failures.js'
import { writeJson } from '../output/json.js'
import { noStoreLines } from '../output/no-store.js'
import { displayFor } from '../output/display.js'
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
  const { io, settings } = context
  const lastMs = options.last === undefined ? undefined : durationOf(options.last)
  const isBounded = options.state !== undefined || lastMs !== undefined || options.retrying === true
  const limit = options.limit === undefined ? (isBounded ? Infinity : USUAL_LIMIT) : limitOf(options.limit)
  const display = displayFor(io, settings)
  // Ages are by the ledger's clock, as what is recorded: that of another machine may be another one.
  const print = (lines: readonly string[]): unknown => writePage(io, `${lines.join('\n')}\n`)
  if (options.retrying === true) {
    const found = await ifKept(
      settings.store,
      async (ledger) => [await viewRetrying(ledger, limit), await ledger.now()] as const,
    )
    const [retrying, nowMs] = found ?? [[], Date.now()]
    if (settings.json) writeJson(io.stdout, { retrying })
    else if (found === undefined) print(noStoreLines(settings.store))
    else print(retryingTable(retrying, nowMs, display))
    return
  }
  const found = await ifKept(settings.store, async (ledger) => {
    const nowMs = await ledger.now()
    const selection = {
      ...(options.state !== undefined && { state: options.state }),
      ...(lastMs !== undefined && { sinceMs: nowMs - lastMs }),
      ...(limit !== Infinity && { limit }),
    }
    const [job] = await ledger.runs({ kind: JOB_KIND, limit: 1 })
    return [await viewRuns(ledger, selection), nowMs, await hasTasks(ledger), job !== undefined] as const
  })
  const [runs, nowMs, areTasksThere, areJobsThere] = found ?? [[], Date.now(), false, false]
  const command = commandWords(settings, io.env)
  if (settings.json) writeJson(io.stdout, { runs, hasTasks: areTasksThere })
  else if (found === undefined) print(noStoreLines(settings.store))
  else {
    const tasks = `Programs have durable tasks here as well: ${command(['tasks', 'list'])}`
    const jobs = `Jobs are listed by their own command: ${command(['job', 'list'])}`
    const others = settings.quiet ? [] : [...(areTasksThere ? [tasks] : []), ...(areJobsThere ? [jobs] : [])]
    print([...runsTable(runs, nowMs, display, command), ...others])
  }
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
