/** `reprise ps`: runs, or what waits now. Imports the workflow package and output. */
import { type RunState, viewRetrying, viewRuns } from '@reprise/workflow'
import { parseDuration } from 'reprise'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { UsageError } from '../failures.js'
import { writeJson } from '../output/json.js'
import { lookFor } from '../output/look.js'
import { retryingTable } from '../output/runs/retrying-table.js'
import { runsTable } from '../output/runs/runs-table.js'
import { ifKept } from '../runs/store.js'

type Options = {
  readonly retrying?: boolean
  readonly state?: RunState
  readonly last?: string
}

/** More than anybody reads; `--last` and `--state` look further. */
const MAX_RUNS = 50

export async function run({ options }: ParsedArguments<object, Options>, context: CommandContext): Promise<void> {
  const { world, settings } = context
  const filter = filterOf(options, Date.now())
  const look = lookFor(world, settings)
  const print = (lines: readonly string[]): unknown => world.stdout.write(`${lines.join('\n')}\n`)
  if (options.retrying === true) {
    const found = await ifKept(context, async (ledger) => [await viewRetrying(ledger), await ledger.now()] as const)
    // By the ledger's clock: of another machine that may be another one.
    const [retrying, nowMs] = found ?? [[], Date.now()]
    if (settings.json) writeJson(world.stdout, { retrying })
    else print(retryingTable(retrying, nowMs, look))
    return
  }
  const runs = (await ifKept(context, (ledger) => viewRuns(ledger, filter))) ?? []
  // Whether one is interrupted is known only when its process has been looked for.
  const shown = runs.filter(({ state }) => options.state === undefined || state === options.state)
  if (settings.json) writeJson(world.stdout, { runs: shown })
  else print(runsTable(shown, Date.now(), look))
}

function filterOf({ state, last }: Options, nowMs: number): Parameters<typeof viewRuns>[1] {
  const sinceMs = last === undefined ? undefined : nowMs - durationOf(last)
  const isBounded = state !== undefined || last !== undefined
  const statuses =
    state === undefined ? undefined : state === 'interrupted' ? (['running', 'interrupted'] as const) : [state]
  return {
    ...(statuses !== undefined && { statuses }),
    ...(sinceMs !== undefined && { sinceMs }),
    ...(!isBounded && { limit: MAX_RUNS }),
  }
}

export function durationOf(text: string, flag = '--last'): number {
  try {
    return parseDuration(text)
  } catch {
    throw new UsageError(`${flag} ${text} is no duration`, 'such as 30m, 24h or 7d')
  }
}
