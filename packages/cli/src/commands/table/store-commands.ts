/** Commands about the store itself. Imports types only. */
import type { CommandEntry } from '../../command.js'

export const STORE_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'store',
    summary: 'look after the store: its state, its schema, copies of it',
    examples: [
      ['store status', 'what is in it, who uses it, what to do'],
      ['store backup monday.db', 'a copy, while others write'],
      ['store migrate --store postgres://app@db.example/orders', 'make or update its tables'],
    ],
    subcommands: [
      {
        name: 'status',
        summary: 'its version, schema, sizes, tasks, the processes that use it, and what to do',
        examples: [
          ['store status', ''],
          ['store status --json --store postgres://app@db.example/orders', 'for programs'],
        ],
        load: async () => (await import('../store-status.js')).showStatus,
      },
      {
        name: 'migrate',
        summary: 'make its tables, or bring them up to date',
        options: [{ flags: '--dry-run', text: 'print the SQL, and change nothing' }],
        examples: [
          ['store migrate', 'says from which version to which'],
          ['store migrate --dry-run > migrate.sql', 'for somebody with more rights'],
        ],
        more: 'The first run does it as well, if its user may. It only goes forward, and two at\nonce do no harm.',
        load: async () => (await import('../store.js')).migrate,
      },
      {
        name: 'backup',
        summary: 'copy it into a SQLite file, as of one moment, while others write',
        values: [['<file>', 'where to; it must not be there yet']],
        examples: [['store backup monday.db', '']],
        more: [
          'Every command can look at a copy: reprise ps --store sqlite:monday.db',
          'Logs are not in it: they are in the state directory. What makes a store of it',
          'again is `reprise store restore`.',
        ].join('\n'),
        load: async () => (await import('../store.js')).backup,
      },
      {
        name: 'restore',
        summary: 'fill an empty store with what is in a copy',
        values: [['<file>', 'what `store backup` wrote, or any SQLite ledger']],
        examples: [['store restore monday.db --store postgres://app@db.example/orders', '']],
        more: [
          'Refused where there is anything already. End what uses the old store before: two',
          'that go on with the same runs do the work twice.',
        ].join('\n'),
        load: async () => (await import('../store.js')).restore,
      },
    ],
  },
]
