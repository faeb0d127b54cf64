/** `reprise breakers list|reset|trip`: the breakers that runs share. Imports the library, the workflow package and output. */
import { breakerViews, ifKept, withLedger } from '@reprise/workflow/internal'
import { resetBreaker, tripBreaker } from 'reprise/durable'
import type { CommandModule, ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { breakersTable } from '../output/runs/gates.js'
import { writeJson } from '../output/json.js'
import { noStoreLines } from '../output/no-store.js'
import { lookFor } from '../output/look.js'
import { refuseOptions } from '../input/refused-options.js'
import { writePage } from '../output/github-commands.js'
import { NO_REASON } from '../runs/actor.js'

type Given = ParsedArguments<{ readonly name: string }, { readonly reason?: string }>

export const list: CommandModule = {
  async run(_given, context) {
    const { world, settings } = context
    const found = await ifKept(settings.store, async (ledger) => {
      const nowMs = await ledger.now()
      return [await breakerViews(ledger, nowMs), nowMs] as const
    })
    const [breakers, now] = found ?? [[], Date.now()]
    if (settings.json) writeJson(world.stdout, { breakers })
    else {
      const lines = found ? breakersTable(breakers, now, lookFor(world, settings)) : noStoreLines(settings.store)
      writePage(world, `${lines.join('\n')}\n`)
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
  const { world, settings } = context
  const reason = options.reason ?? NO_REASON
  const after = await withLedger(settings.store, (ledger) =>
    (action === 'reset' ? resetBreaker(ledger, name, { reason }) : tripBreaker(ledger, name, { reason })).catch(
      (error) => refuseOptions(error),
    ),
  )
  if (settings.json) writeJson(world.stdout, { breaker: name, action, change: after })
  else if (!settings.quiet)
    world.stderr.write(action === 'reset' ? `Breaker ${name} is closed.\n` : `Breaker ${name} is open.\n`)
}
