/** Commands about dead letters. Imports types only. */
import type { CommandEntry, CommandOption } from '../../command.js'

const OF: readonly [string, string] = ['[of]', 'a run, RUN/MAP, a workflow for its last run, or a name of tasks']
const LETTER: readonly [string, string] = [
  '<letter>',
  'RUN/MAP/ITEM, RUN/STEP, NAME/ID, an item, or RUN/MAP before its key',
]
const KEY: readonly [string, string] = ['[key]', 'the key or id of the item, after RUN/MAP']
const REASON: CommandOption = { flags: '--reason <text>', text: 'why; it is recorded' }
const WHICH: readonly CommandOption[] = [
  { flags: '--run <run>', text: 'letters of this run: of its steps and of the items of its maps' },
  { flags: '--name <name>', text: 'letters of all runs of this workflow, or of the tasks of this name' },
  { flags: '--group <signature>', text: 'letters of this cause, as `dlq groups` names it, or the beginning of it' },
  { flags: '--where <condition>', text: 'CEL over item, key, error, kind, run, map, attempts, stop_reason, retryable' },
]
const STATE: CommandOption = {
  flags: '--state <state>',
  text: 'which letters (default: open)',
  choices: ['open', 'closed', 'all'],
}

const LOOK: readonly CommandEntry[] = [
  {
    name: 'list',
    ndjson: true,
    summary: 'dead letters in order of time',
    values: [OF],
    options: [
      ...WHICH,
      STATE,
      { flags: '--limit <n>', text: 'at most this many (default: 50)' },
      { flags: '--after <cursor>', text: 'continue a list: its last line has the cursor, and --json has it as next' },
    ],
    examples: [
      ['dlq list', 'every open letter'],
      ['dlq list import-7', 'of a run'],
      ['dlq list --where "error.exit_code == 75 && item.size >= 10"', ''],
    ],
    load: async () => (await import('../dlq/read.js')).list,
  },
  {
    name: 'groups',
    ndjson: true,
    summary: 'causes of failure, with how many letters have each',
    values: [OF],
    options: [...WHICH, STATE],
    examples: [['dlq groups import-7', 'the most frequent cause first']],
    load: async () => (await import('../dlq/read.js')).groups,
  },
  {
    name: 'show',
    ndjson: true,
    summary: 'one letter: its data, every attempt of every generation, and whether trying again makes sense',
    values: [LETTER, KEY],
    options: [{ flags: '--run <run>', text: 'only letters of this run' }],
    examples: [
      ['dlq show import-7/map orders/17', 'an item of a map, by its key'],
      ['dlq show charge/order-42', 'a task of a program'],
    ],
    load: async () => (await import('../dlq/read.js')).show,
  },
  {
    name: 'stats',
    ndjson: true,
    summary: 'how many letters are open, closed and worth another attempt',
    values: [OF],
    options: [...WHICH],
    examples: [['dlq stats', '']],
    load: async () => (await import('../dlq/read.js')).stats,
  },
  {
    name: 'export',
    ndjson: true,
    summary: 'write letters with their data, for other programs',
    values: [OF],
    options: [
      ...WHICH,
      STATE,
      { flags: '--format <format>', text: 'the format (default: json)', choices: ['json', 'csv', 'ndjson'] },
      { flags: '--file <file>', text: 'write to this new file instead of stdout' },
    ],
    examples: [
      ['dlq export import-7 --format csv --file dead.csv', ''],
      ['dlq export import-7 --format ndjson | jq .data', ''],
    ],
    load: async () => (await import('../dlq/export.js')).exportLetters,
  },
]

const RETRY: CommandEntry = {
  name: 'retry',
  ndjson: true,
  summary: 'grant dead letters a fresh set of attempts, and run them',
  values: [
    ['[of]', 'a letter, or what `dlq list` takes'],
    ['[key]', 'the key or id of the item, after RUN/MAP'],
  ],
  options: [
    ...WHICH,
    { flags: '--canary <n>', text: 'this many items first; the others only if all of these succeed' },
    { flags: '--parallel <n>', text: 'items at a time (default: max_parallel of the map)' },
    { flags: '--rate <rate>', text: 'starts, such as 20/s (default: rate of the map)' },
    { flags: '--reduce', text: 'then run the steps after the map once more' },
    { flags: '--undecided', text: 'undecided items and tasks too: they may have taken effect before' },
    { flags: '--accept-changes', text: 'use the workflow file as it is now, instead of the recorded one' },
    { flags: '--dry-run', text: 'show what would be redriven, and do nothing' },
    REASON,
    { flags: '--output <mode>', text: 'as for run', choices: ['grouped', 'stream', 'failed', 'none'] },
  ],
  examples: [
    ['dlq retry import-7', 'every dead item and failed step of the run'],
    ['dlq retry import-7/map orders/17', 'one item'],
    ['dlq retry import-7 --group "CommandError (exit 75)" --canary 5', 'one cause, carefully'],
    ['dlq retry import-7 --where "item.region == \'eu\'" --reduce', 'then the steps after the map'],
    ['dlq retry charge', 'tasks of a program: its own workers run them'],
  ],
  more: `Attempts of a redrive are the letter's own: they are not charged to max_retries,
and no limit on failures of the map stops them. An item that fails again has one
open letter again, with its whole history. Ctrl-C and kill -9 lose nothing: the
same command, or \`reprise resume RUN\`, finishes what is left. While another
process executes the run, nothing is done (exit code 4).

The results files are written anew, and the run gets the state that it has
earned: when no item is left failed, it has succeeded. The exit code is that of
the run, or 0 if the run now waits for a resume.`,
  load: async () => (await import('../dlq/retry.js')).retry,
}

const DECIDE: CommandEntry = {
  name: 'decide',
  ndjson: true,
  summary: 'say whether the interrupted attempt of an undecided item or task took effect',
  values: [['<of>', 'an undecided letter, or a run, RUN/MAP or name whose undecided letters are all decided'], KEY],
  options: [
    { flags: '--done', text: 'it took effect: the item or task counts as succeeded' },
    { flags: '--result <json>', text: 'with --done: its result, as JSON or @file (default: null)' },
    { flags: '--rerun', text: 'it did not take effect: the same attempt runs again' },
    ...WHICH,
    { flags: '--reduce', text: 'then run the steps after the map once more' },
    REASON,
    { flags: '--output <mode>', text: 'as for run', choices: ['grouped', 'stream', 'failed', 'none'] },
  ],
  examples: [
    ['dlq decide import-7/map orders/17 --done --result 4711', 'it took effect, with this result'],
    ['dlq decide import-7/map orders/17 --rerun', 'it did not take effect'],
    ['dlq decide import-7 --rerun', 'every undecided item of the run'],
    ['dlq decide charge/order-42 --done', 'a task of a program'],
  ],
  more: `An item or task is undecided when its process was lost during an attempt and
on_interrupt does not allow to run the attempt again. \`dlq list\` shows it.

--done writes the result files anew, and the run gets the state that it has
earned, as after \`dlq retry\`. --rerun runs the attempt under its number, with the
attempts that are left; \`dlq retry --undecided\` grants a fresh set instead.
A step is decided with \`resume RUN --done STEP\` or \`--rerun STEP\`.`,
  load: async () => (await import('../dlq/decide.js')).decide,
}

const CHANGE: readonly CommandEntry[] = [
  {
    name: 'edit',
    ndjson: true,
    summary: 'change the data of a letter; the old data is kept in its history',
    values: [LETTER, KEY],
    options: [
      { flags: '--input <json>', text: 'the new data as JSON, or @file (default: opens $EDITOR on a terminal)' },
      { flags: '--run <run>', text: 'only letters of this run' },
      REASON,
    ],
    examples: [
      ['dlq edit import-7/map orders/17 --input @item.json', 'the new data is in a file'],
      ['dlq edit charge/order-42 --input @order.json --reason "wrong currency"', ''],
    ],
    more: 'Nothing runs before the letter is retried. At most 1 MiB.',
    load: async () => (await import('../dlq/change.js')).edit,
  },
  {
    name: 'ack',
    ndjson: true,
    summary: 'close a letter without a retry',
    values: [LETTER, KEY],
    options: [
      { flags: '--reason <text>', text: 'why; it must be given, and is recorded' },
      { flags: '--run <run>', text: 'only letters of this run' },
    ],
    examples: [['dlq ack import-7/map orders/17 --reason "the order was withdrawn"', '']],
    more: 'The item stays failed, and so does the state of its run.',
    load: async () => (await import('../dlq/change.js')).ack,
  },
  {
    name: 'purge',
    ndjson: true,
    summary: 'remove letters that have been closed for long',
    options: [
      { flags: '--older-than <time>', text: 'closed longer ago than this (default: 7d)' },
      { flags: '--dry-run', text: 'count them, and remove nothing' },
      { flags: '-y, --yes', text: 'do not ask' },
    ],
    examples: [['dlq purge --older-than 30d --yes', '']],
    more: 'Open letters and the tasks themselves are never removed.',
    load: async () => (await import('../dlq/change.js')).purge,
  },
]

export const LETTER_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'dlq',
    summary: 'dead letters: look at them, mend them, try them again',
    examples: [
      ['dlq groups import-7', 'what went wrong, by cause'],
      ['dlq retry import-7 --canary 5', 'try again, carefully'],
    ],
    subcommands: [...LOOK, RETRY, DECIDE, ...CHANGE],
  },
]
