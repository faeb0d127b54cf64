/** Commands about durable tasks of programs. Imports types only. */
import type { CommandEntry, CommandOption } from '../../command.js'

const TASK: readonly [string, string] = ['<task>', 'NAME/ID, or the name before the id']
const ID: readonly [string, string] = ['[id]', 'the id of the task, after its name']
const REASON: CommandOption = { flags: '--reason <text>', text: 'why; it is recorded' }

export const TASK_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'tasks',
    summary: 'durable tasks of programs: look at them, and mend them',
    examples: [
      ['tasks list --state failed', 'what has failed for good'],
      ['tasks show charge/order-42', 'one task, with every attempt'],
    ],
    subcommands: [
      {
        name: 'list',
        ndjson: true,
        summary: 'tasks in the order of their names and ids',
        options: [
          { flags: '--name <name>', text: 'tasks of this name' },
          {
            flags: '--state <state>',
            text: 'tasks in this state',
            choices: ['waiting', 'running', 'parked', 'undecided', 'succeeded', 'failed', 'cancelled'],
          },
          { flags: '--limit <n>', text: 'at most this many (default: 50)' },
          {
            flags: '--after <cursor>',
            text: 'continue a list: its last line has the cursor, and --json has it as next',
          },
        ],
        examples: [
          ['tasks list', 'all of them, page by page'],
          ['tasks list --name charge --state waiting', 'what waits of one kind'],
        ],
        load: async () => (await import('../tasks/read.js')).list,
      },
      {
        name: 'show',
        ndjson: true,
        summary: 'one task: its data, its result, and every attempt of every generation',
        values: [TASK, ID],
        examples: [
          ['tasks show charge/order-42', ''],
          ['tasks show charge "order 42/a"', 'the id as a word of its own'],
        ],
        load: async () => (await import('../tasks/read.js')).show,
      },
      {
        name: 'retry-now',
        ndjson: true,
        summary: 'end the wait of a task: its next attempt starts at once',
        values: [TASK, ID],
        options: [REASON],
        examples: [['tasks retry-now charge/order-42 --reason "the bank is back"', '']],
        more: 'A process of the program begins the attempt. Attempts and budgets count as\nbefore. A task that has failed is granted a fresh set with `dlq retry`.',
        load: async () => (await import('../tasks/change.js')).retryNow,
      },
      {
        name: 'cancel',
        ndjson: true,
        summary: 'end a task: a running attempt is aborted, and none is started any more',
        values: [TASK, ID],
        options: [REASON],
        examples: [['tasks cancel charge/order-42 --reason "the order was withdrawn"', '']],
        more: 'A task that belongs to a group, or whose attempt a budget has granted, can only\nbe cancelled by its program (exit code 4).',
        load: async () => (await import('../tasks/change.js')).cancel,
      },
      {
        name: 'decide',
        ndjson: true,
        summary: 'say whether the interrupted attempt of an undecided task took effect',
        values: [TASK, ID],
        options: [
          { flags: '--done', text: 'it took effect: the task counts as succeeded' },
          { flags: '--result <json>', text: 'with --done: its result, as JSON or @file (default: null)' },
          { flags: '--rerun', text: 'it did not take effect: the same attempt runs again' },
          REASON,
        ],
        examples: [
          ['tasks decide charge/order-42 --done --result \'"receipt-7"\'', ''],
          ['tasks decide charge/order-42 --rerun', 'a process of the program runs it'],
        ],
        load: async () => (await import('../tasks/change.js')).decide,
      },
    ],
  },
]
