/** Commands that change what runs and what is kept. Imports types only. */
import type { CommandEntry } from '../../command.js'

const RUN_TEXT = 'an id, the beginning of one, a workflow for its last run, or latest'

export const STEER_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'cancel',
    summary: 'end a run: its attempt is stopped, nothing more is started',
    values: [['<run>', RUN_TEXT]],
    examples: [['cancel nightly-7', '']],
    more: 'It works from any process. A cancelled run is resumed only with --reset-retries.',
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
    more: 'It is recorded. Attempts and budgets count as before.',
    load: () => import('../retry-now.js'),
  },
  {
    name: 'clean',
    summary: 'forget runs that have ended, with their logs',
    options: [
      { flags: '--older-than <time>', text: 'those that ended longer ago (default: 7d)' },
      { flags: '--dry-run', text: 'only say which' },
      { flags: '-y, --yes', text: 'do not ask' },
    ],
    examples: [
      ['clean --dry-run', 'what would go'],
      ['clean --older-than 30d --yes', ''],
    ],
    more: 'What runs, waits or can be resumed is never removed.',
    load: () => import('../clean.js'),
  },
]
