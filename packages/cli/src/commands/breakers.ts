/** `reprise breakers list|reset|trip`: the breakers that runs share. Imports the library, the workflow package and output. */
import { breakerViews, ifKept, withLedger } from '@reprise/workflow/internal'
import { resetBreaker, tripBreaker } from 'reprise/durable'
import type { CommandModule, ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { breakersTable } from '../output/runs/gates.js'
import { writeJson } from '../output/json.js'
import { noStoreLines } from '../output/no-store.js'
import { displayFor } from '../output/display.js'
import { refuseOptions } from '../input/refused-options.js'
import { writePage } from '../output/github-commands.js'
import { NO_REASON } from '../runs/actor.js'

type Given = ParsedArguments<{ readonly name: string }, { readonly reason?: string }>

const SHARED = 'All runs of the store share them: one that a run has opened is open for all.'

export const list: CommandModule = {
  async run(_given, context) {
    const { io, settings } = context
    const found = await ifKept(settings.store, async (ledger) => {
      const nowMs = await ledger.now()
      return [await breakerViews(ledger, nowMs), nowMs] as const
    })
    const [breakers, now] = found ?? [[], Date.now()]
    if (settings.json) writeJson(io.stdout, { breakers })
    else {
      const table = breakersTable(breakers, now, displayFor(io, settings))
      const shared = breakers.length === 0 || settings.quiet ? [] : ['', SHARED]
      const lines = found ? [...table, ...shared] : noStoreLines(settings.store)
      writePage(io, `${lines.join('\n')}\n`)
    }
  },
}

export const reset: CommandModule = {
  run: (given, context) => change(given as unknown as Given, context, 'reset'),
}

export const trip: CommandModule = {
  run: (given, context) => change(given as unknown as Given, context, 'trip'),
}

async function change(
  { values: { name }, options }: Given,
  context: CommandContext,
  action: 'reset' | 'trip',
): Promise<void> {
  const { io, settings } = context
  const reason = options.reason ?? NO_REASON
  const after = await withLedger(settings.store, (ledger) =>
    (action === 'reset' ? resetBreaker(ledger, name, { reason }) : tripBreaker(ledger, name, { reason })).catch(
      (error) => refuseOptions(error),
    ),
  )
  if (settings.json) writeJson(io.stdout, { breaker: name, action, change: after })
  else if (!settings.quiet)
    io.stderr.write(action === 'reset' ? `Breaker ${name} is closed.\n` : `Breaker ${name} is open.\n`)
}
