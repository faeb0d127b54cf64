/** Commands that change what runs and what is kept. Imports types only. */
import type { CommandEntry } from '../../command.js'

const RUN_TEXT = 'an id, the beginning of one, a workflow for its last run, or latest'

export const STEER_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'cancel',
    summary: 'end a run: the running attempt is stopped, and nothing further is started',
    values: [['<run>', RUN_TEXT]],
    examples: [['cancel nightly-7', '']],
    more: 'It can be called from any process that uses the store. The steps of `finally` run\nin the process that conducts the run, else here; a second cancel ends them too.\nA cancelled run is resumed only with --reset-retries.',
    load: () => import('../cancel.js'),
  },
  {
    name: 'retry-now',
    summary: 'end the wait of a step: its next attempt starts at once',
    values: [
      ['<run>', RUN_TEXT],
      ['<step>', 'a step that waits'],
    ],
    examples: [['retry-now nightly-7 fetch', '']],
    more: 'The change is recorded. Attempts and budgets count as before.',
    load: () => import('../retry-now.js'),
  },
  {
    name: 'clean',
    summary: 'remove runs that have ended, with their logs',
    values: [['[runs...]', 'only these runs, however recently they ended']],
    options: [
      { flags: '--older-than <time>', text: 'only runs that ended longer ago than this (default: 7d)' },
      { flags: '--dry-run', text: 'list the runs, and remove nothing' },
      { flags: '-y, --yes', text: 'do not ask' },
    ],
    examples: [
      ['clean --dry-run', 'what would go'],
      ['clean --older-than 30d --yes', ''],
      ['clean nightly-7 --yes', 'one run'],
    ],
    more: `A run that is executed, waits or can be resumed is never removed.

Working trees are removed if the process that used them is gone, also those of
runs that stay. Work in them that was not merged is committed to its branch
first, and the branch is named and kept.`,
    load: () => import('../clean.js'),
  },
]
