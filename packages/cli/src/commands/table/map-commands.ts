/** Commands that change a map while it runs. Imports types only. */
import type { CommandEntry, CommandOption } from '../../command.js'

const RUN: NonNullable<CommandEntry['values']> = [
  ['<run>', 'an id, the beginning of one, a workflow for its last run, or latest'],
]
const MAP: CommandOption = { flags: '--map <id>', text: 'the map (default: the only one that runs)' }
const REASON: CommandOption = { flags: '--reason <text>', text: 'why; it is recorded' }

export const MAP_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'map',
    summary: 'change a map while it runs: its limits, a pause',
    examples: [
      ['map set import-7 --max-parallel 2 --reason "the database is slow"', ''],
      ['map set import-7 --rate 5/s', ''],
      ['map pause import-7', 'nothing further begins'],
      ['map continue import-7', ''],
    ],
    more: `A change holds for every process that runs items of the map, within about a
second, and is recorded as an event with who and why. It stays when the run is
resumed.`,
    subcommands: [
      {
        name: 'set',
        summary: 'change how many items run at a time, how many start in a second, or how many may fail',
        values: RUN,
        options: [
          MAP,
          { flags: '--max-parallel <n>', text: 'items at a time, over all processes' },
          { flags: '--rate <rate>', text: 'items that start in a time: 20/s, 100/m, 5/500ms; none for no limit' },
          { flags: '--max-failures <n>', text: 'the failed item that stops the map' },
          REASON,
        ],
        examples: [
          ['map set import-7 --max-parallel 2', ''],
          ['map set import-7 --rate 20/s --max-failures 100 --reason "night"', ''],
        ],
        load: async () => (await import('../map.js')).set,
      },
      {
        name: 'pause',
        summary: 'let the items that run end, and begin no other',
        values: RUN,
        options: [MAP, REASON],
        examples: [['map pause import-7 --reason "maintenance"', '']],
        load: async () => (await import('../map.js')).pause,
      },
      {
        name: 'continue',
        summary: 'end a pause',
        values: RUN,
        options: [MAP, REASON],
        examples: [['map continue import-7', '']],
        more: 'A map that was stopped by its failures is continued with `reprise resume`.',
        load: async () => (await import('../map.js')).goOn,
      },
    ],
  },
]
