/** Commands about breakers and budgets, which runs share. Imports types only. */
import type { CommandEntry, CommandOption } from '../../command.js'

const REASON: CommandOption = { flags: '--reason <text>', text: 'why; it is recorded' }

export const GATE_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'breakers',
    summary: 'see and switch the breakers that runs share',
    examples: [
      ['breakers list', 'their states'],
      ['breakers reset warehouse --reason "it is back"', ''],
    ],
    subcommands: [
      {
        name: 'list',
        summary: 'every breaker with its state, its failures, and when it tries again',
        examples: [['breakers list', '']],
        load: async () => (await import('../breakers.js')).list,
      },
      {
        name: 'reset',
        summary: 'close a breaker: attempts are let through',
        values: [['<name>', 'the breaker']],
        options: [REASON],
        examples: [['breakers reset warehouse --reason "it is back"', '']],
        load: async () => (await import('../breakers.js')).reset,
      },
      {
        name: 'trip',
        summary: 'open a breaker: attempts are refused until its recovery time has passed',
        values: [['<name>', 'the breaker']],
        options: [REASON],
        examples: [['breakers trip warehouse --reason "maintenance"', '']],
        load: async () => (await import('../breakers.js')).trip,
      },
    ],
  },
  {
    name: 'budgets',
    summary: 'see and refill the budgets that runs share',
    examples: [
      ['budgets list', 'their figures'],
      ['budgets grant api --amount 20 --reason "backlog"', ''],
    ],
    subcommands: [
      {
        name: 'list',
        summary: 'every budget with its type and figures',
        examples: [['budgets list', '']],
        load: async () => (await import('../budgets.js')).list,
      },
      {
        name: 'grant',
        summary: 'give a budget more to spend',
        values: [['<name>', 'the budget']],
        options: [{ flags: '--amount <n>', text: 'how much' }, REASON],
        examples: [['budgets grant api --amount 20 --reason "backlog"', '']],
        load: async () => (await import('../budgets.js')).grant,
      },
      {
        name: 'reset',
        summary: 'forget what a budget has used: it is as it was made, also if its record is damaged',
        values: [['<name>', 'the budget']],
        options: [REASON],
        examples: [['budgets reset api --reason "its record was damaged"', '']],
        load: async () => (await import('../budgets.js')).reset,
      },
    ],
  },
]
