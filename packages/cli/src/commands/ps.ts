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
  const lastMs = options.last === undefined ? undefined : durationOf(options.last)
  const look = lookFor(world, settings)
  // Ages are by the ledger's clock, as what is recorded: that of another machine may be another one.
  const print = (lines: readonly string[]): unknown => world.stdout.write(`${lines.join('\n')}\n`)
  if (options.retrying === true) {
    const found = await ifKept(context, async (ledger) => [await viewRetrying(ledger), await ledger.now()] as const)
    const [retrying, nowMs] = found ?? [[], Date.now()]
    if (settings.json) writeJson(world.stdout, { retrying })
    else print(retryingTable(retrying, nowMs, look))
    return
  }
  const found = await ifKept(context, async (ledger) => {
    const nowMs = await ledger.now()
    return [await viewRuns(ledger, filterOf(options.state, lastMs, nowMs)), nowMs] as const
  })
  const [runs, nowMs] = found ?? [[], Date.now()]
  // Whether one is interrupted is known only when its process has been looked for.
  const shown = runs.filter(({ state }) => options.state === undefined || state === options.state)
  if (settings.json) writeJson(world.stdout, { runs: shown })
  else print(runsTable(shown, nowMs, look))
}

function filterOf(
  state: RunState | undefined,
  lastMs: number | undefined,
  nowMs: number,
): Parameters<typeof viewRuns>[1] {
  const sinceMs = lastMs === undefined ? undefined : nowMs - lastMs
  const isBounded = state !== undefined || lastMs !== undefined
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
