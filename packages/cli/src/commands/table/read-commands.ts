/** Commands that show what was and is. Imports types only. */
import type { RunState } from '@reprise/workflow'
import type { ItemState } from '@reprise/workflow/internal'
import type { CommandEntry } from '../../command.js'

/** Written again rather than imported: every start would load what they are part of. */
export const STATE_CHOICES = [
  'running',
  'interrupted',
  'succeeded',
  'completed_with_failures',
  'failed',
  'cancelled',
] as const satisfies readonly RunState[]

const ITEM_CHOICES = [
  'pending',
  'running',
  'retrying',
  'succeeded',
  'skipped',
  'dead',
  'cancelled',
  'undecided',
] as const satisfies readonly ItemState[]

const RUN_TEXT = 'an id, the beginning of one, a workflow, or latest (default: the last run)'

const RUN_HELP = `Ids are printed whole. Every command that takes a run takes its id, any beginning
of it that no other id has, the name of a workflow for the last run of it, or
\`latest\`. What only looks takes the last run when none is given.`

export const LOOK_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'ps',
    summary: 'list runs, newest first, or the steps that wait for their next attempt',
    options: [
      {
        flags: '--retrying',
        text: 'steps that wait now: attempt, time to the next one, wait used of the budget, last error',
      },
      { flags: '--state <state>', text: 'only runs in this state', choices: STATE_CHOICES },
      { flags: '--last <time>', text: 'only runs that started within this time' },
      { flags: '--limit <n>', text: 'at most this many runs (default: 50, unless --state or --last is given)' },
    ],
    examples: [
      ['ps', 'the runs'],
      ['ps --retrying', 'what waits now, and why'],
      ['ps --state failed --last 24h', ''],
      ["ps --json | jq '.runs[].id'", ''],
    ],
    more: `${RUN_HELP}

--json prints { runs } or { retrying }.`,
    load: () => import('../ps.js'),
  },
  {
    name: 'show',
    summary: 'show a run: its steps, attempts and waits across resumes, and why it stopped',
    values: [
      ['[run]', RUN_TEXT],
      ['[step]', 'one step, with every attempt; or a map, with a page of its items'],
      ['[item]', 'one item of the map, by its key or id, with every attempt'],
    ],
    options: [
      { flags: '--all', text: 'every step, also of a run with more than 1000' },
      { flags: '--state <state>', text: 'only items in this state', choices: ITEM_CHOICES },
      { flags: '--limit <n>', text: 'at most this many items, up to 1000 (default: 20)' },
      { flags: '--after <item>', text: 'continue after the item with this id' },
    ],
    examples: [
      ['show nightly-7', 'its steps'],
      ['show nightly-7 fetch', 'every attempt of one step'],
      ['show import-7 map --state dead --limit 50', 'items that failed for good'],
      ['show import-7 map order-17', 'every attempt of one item'],
      ["show nightly-7 --json | jq '.steps[] | [.id, .state, .attempts]'", ''],
    ],
    more: `Of a run with more than 1000 steps, those are listed that failed, were retried,
were cancelled or have not ended: the first 200 of each kind. --all lists every
step; --json always does.`,
    load: () => import('../show.js'),
  },
  {
    name: 'watch',
    ndjson: true,
    summary: 'watch a run live, whichever process runs it',
    values: [['[run]', RUN_TEXT]],
    examples: [
      ['watch nightly-7', 'until it ends, with its exit code; Ctrl-C stops watching, not the run'],
      ['watch nightly-7 --ndjson', 'as lines of JSON'],
    ],
    load: () => import('../watch.js'),
  },
  {
    name: 'logs',
    summary: 'print what the steps wrote to stdout and stderr',
    values: [
      ['[run]', RUN_TEXT],
      ['[step]', 'only this step (default: all steps)'],
      ['[item]', 'an item of a map, by its key or id'],
    ],
    options: [
      { flags: '-f, --follow', text: 'keep printing until the run ends' },
      { flags: '--attempt <n>', text: 'only this attempt (default: all attempts)' },
    ],
    examples: [
      ['logs nightly-7', 'of all steps, in order'],
      ['logs nightly-7 fetch --attempt 2', ''],
      ['logs nightly-7 -f', 'and keep printing until it ends'],
      ['logs import-7 map order-17', 'of one item of a map'],
    ],
    load: () => import('../logs.js'),
  },
  {
    name: 'events',
    ndjson: true,
    summary: 'print what happened to a run, in order',
    values: [['[run]', RUN_TEXT]],
    options: [
      { flags: '-f, --follow', text: 'keep printing until the run ends' },
      { flags: '--type <type>', text: 'only this type', repeats: true },
    ],
    examples: [
      ['events nightly-7', 'attempts, waits, resumes and decisions'],
      ['events nightly-7 --type interrupted --type resumed', ''],
      ['events nightly-7 -f --ndjson', 'as lines of JSON'],
    ],
    load: () => import('../events.js'),
  },
]
