/** `reprise budgets list|grant|reset`: the budgets that runs share. Imports the library, the workflow package and output. */
import { budgetViews, ifKept, withLedger } from '@reprise/workflow/internal'
import { grantBudget, resetBudget } from 'reprise/durable'
import type { CommandModule, ParsedArguments } from '../command.js'
import { UsageError } from '../failures.js'
import { budgetsTable } from '../output/runs/gates.js'
import { writeJson } from '../output/json.js'
import { noStoreLines } from '../output/no-store.js'
import { displayFor } from '../output/display.js'
import { NO_REASON } from '../runs/actor.js'
import { refuseOptions } from '../input/refused-options.js'
import { writePage } from '../output/github-commands.js'

type Given = ParsedArguments<{ readonly name: string }, { readonly amount?: string; readonly reason?: string }>

export const list: CommandModule = {
  async run(_given, context) {
    const { io, settings } = context
    const budgets = await ifKept(settings.store, (ledger) => budgetViews(ledger))
    if (settings.json) writeJson(io.stdout, { budgets: budgets ?? [] })
    else {
      const lines = budgets ? budgetsTable(budgets, displayFor(io, settings)) : noStoreLines(settings.store)
      writePage(io, `${lines.join('\n')}\n`)
    }
  },
}

export const grant: CommandModule = {
  async run(given, context) {
    const {
      values: { name },
      options: { amount, reason = NO_REASON },
    } = given as unknown as Given
    const { io, settings } = context
    const count = amountOf(amount)
    const change = await withLedger(settings.store, (ledger) =>
      grantBudget(ledger, name, { amount: count, reason }).catch((error) => refuseOptions(error)),
    )
    if (settings.json) writeJson(io.stdout, { budget: name, amount: count, change })
    else if (!settings.quiet) io.stderr.write(`Budget ${name} has ${count} more to spend.\n`)
  },
}

export const reset: CommandModule = {
  async run(given, context) {
    const {
      values: { name },
      options: { reason = NO_REASON },
    } = given as unknown as Given
    const { io, settings } = context
    const change = await withLedger(settings.store, (ledger) =>
      resetBudget(ledger, name, { reason }).catch((error) => refuseOptions(error)),
    )
    if (settings.json) writeJson(io.stdout, { budget: name, action: 'reset', change })
    else if (!settings.quiet) io.stderr.write(`Budget ${name} is as it was made.\n`)
  },
}

function amountOf(text: string | undefined): number {
  const amount = Number(text)
  if (text !== undefined && Number.isFinite(amount) && amount > 0) return amount
  throw new UsageError(
    text === undefined ? 'how much is not said' : `--amount ${text} is no number above 0`,
    'such as --amount 20',
  )
}
