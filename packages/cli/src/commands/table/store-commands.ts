/** Commands about the store itself. Imports types only. */
import type { CommandEntry } from '../../command.js'

export const STORE_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'store',
    summary: 'inspect, migrate and copy the store',
    examples: [
      ['store status', 'its contents, the processes that use it, and what to do'],
      ['store backup monday.db', 'a copy, while others write'],
      ['store migrate --store postgres://app@db.example/orders', 'make or update its tables'],
    ],
    subcommands: [
      {
        name: 'status',
        summary: 'show its version, schema, sizes, tasks, the processes that use it, and hints',
        examples: [
          ['store status', ''],
          ['store status --json --store postgres://app@db.example/orders', 'for programs'],
        ],
        load: async () => (await import('../store-status.js')).showStatus,
      },
      {
        name: 'migrate',
        summary: 'create its tables, or update them',
        options: [{ flags: '--dry-run', text: 'print the SQL, and change nothing' }],
        examples: [
          ['store migrate', 'says from which version to which'],
          ['store migrate --dry-run > migrate.sql', 'for an administrator to run'],
        ],
        more: 'The first run does it too, if its user has the rights. Migrations only go\nforward, and two at once do no harm.',
        load: async () => (await import('../store.js')).migrate,
      },
      {
        name: 'backup',
        summary: 'copy it into a SQLite file, as of one moment, while it is in use',
        values: [['<file>', 'the new file; it must not exist yet']],
        examples: [['store backup monday.db', '']],
        more: [
          'Every command can look at a copy: reprise ps --store sqlite:monday.db',
          'Logs are not part of it: they are in the state directory. `reprise store restore`',
          'makes a store of the copy again.',
        ].join('\n'),
        load: async () => (await import('../store.js')).backup,
      },
      {
        name: 'restore',
        summary: 'fill an empty store with what is in a copy',
        values: [['<file>', 'what `store backup` wrote, or any SQLite ledger']],
        examples: [['store restore monday.db --store postgres://app@db.example/orders', '']],
        more: [
          'Refused if the store already has anything in it. Stop every process that uses the',
          'old store first: two stores that continue the same runs do the work twice.',
        ].join('\n'),
        load: async () => (await import('../store.js')).restore,
      },
    ],
  },
]
