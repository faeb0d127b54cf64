/** What a map says: the same steps for every item of an input. Imports the shapes and the tables of its parts. */
import { INPUT_FORMATS, MAX_BATCH } from '../plan/map-plan.js'
import { ITEM_RETRY } from './fields-retry.js'
import { ON_INTERRUPT_SHAPE, STEP, STEP_ID_FIELD, STEP_NAME_FIELD, TEMPLATE_STEP, WHEN_FIELD } from './fields-step.js'
import { PERCENTAGE, RATE } from './names.js'
import {
  duration,
  either,
  type Field,
  field,
  type FieldsShape,
  type ForkShape,
  list,
  plain,
  text,
  whole,
  words,
} from './shape.js'

const INPUT_FIELDS: FieldsShape = {
  kind: 'fields',
  title: 'input',
  example: '{file: items.json}',
  oneOf: ['file', 'command', 'run', 'glob', 'stdin', 'range', 'product'],
  fields: [
    field('file', text('template', { isLine: true }), "A file, from the document's directory.", {
      examples: ['items.json'],
    }),
    field('command', text('shell'), 'Shell text; its standard output is read.', {
      aliases: ['shell'],
      examples: ['./list-orders'],
    }),
    field('run', list(plain('template'), 1), 'A program and its arguments; its standard output is read.', {
      examples: [['git', 'ls-files']],
    }),
    field(
      'glob',
      either(text('template', { isLine: true }), list(text('template', { isLine: true }), 1)),
      'One pattern or several; the path of each matching file is an item.',
      { examples: ['src/**/*.ts', ['*.csv', 'old/*.csv']] },
    ),
    field('stdin', { kind: 'flag', only: true }, 'The standard input of `reprise run`.', { examples: [true] }),
    field(
      'range',
      list({ kind: 'number', isWhole: true, least: -Number.MAX_SAFE_INTEGER }, 2, { most: 3 }),
      'Whole numbers: the first, the last and, if it is not 1, the distance between two of them.',
      { examples: [[1, 500]] },
    ),
    field(
      'product',
      list(list({ kind: 'data', reading: 'template' }, 1), 1),
      'Lists; each item is a list with one element of each of them, in every combination.',
      {
        examples: [
          [
            ['linux', 'macos'],
            [20, 22],
          ],
        ],
      },
    ),
    field('format', words(...INPUT_FORMATS), 'How a file or an output is read.', {
      default: "the file's ending, else `json` with `json_path` and `lines` without",
      examples: ['ndjson'],
    }),
  ],
}

const ERROR_POLICY: FieldsShape = {
  kind: 'fields',
  title: 'error_policy',
  example: '{item_retry: {attempts: 3}}',
  fields: [
    field('item_retry', ITEM_RETRY, 'How an item is retried: a number of attempts, `false` for one, or fields.', {
      default: 'one attempt',
      examples: [{ attempts: 3, backoff: 'fibonacci' }],
    }),
    field(
      'on_item_failure',
      words('dlq', 'skip', 'stop', 'retry'),
      'When an item has failed for good: `dlq` keeps it as a dead letter, `skip` leaves it, `stop` ends the map. `retry` is `dlq` with `item_retry`.',
      { default: '`dlq`', examples: ['skip'] },
    ),
    field(
      'tolerate',
      either(whole(0), text(undefined, { rule: PERCENTAGE })),
      'With at most this many failed items, or this share of all items, the run counts as succeeded.',
      { default: 'none', examples: ['5%', 10] },
    ),
    field('max_failures', whole(1), 'This failed item stops the map.', { default: 'no limit', examples: [10] }),
    field(
      'failure_threshold',
      either({ kind: 'number', isWhole: false, least: 0, most: 1 }, text(undefined, { rule: PERCENTAGE })),
      'The map stops when more than this share of the ended items has failed, once 10 have ended.',
      { default: 'no limit', examples: [0.2, '20%'] },
    ),
    field(
      'halt',
      words('soon', 'now'),
      'When the map stops: items that run may end (`soon`), or are aborted (`now`).',
      {
        default: '`soon`',
        examples: ['now'],
      },
    ),
    field('halt_on', list(whole(1, 255), 0, { isUnique: true }), 'Exit codes that stop the map at once.', {
      default: 'none',
      examples: [[255]],
    }),
    field('max_retries', whole(0), 'Retries of all items together.', { default: 'no limit', examples: [20] }),
    field('max_retries_per_item', whole(0), 'Retries of one item that `max_retries` pays for.', {
      default: 'no limit',
      needs: 'max_retries',
      examples: [1],
    }),
  ],
}

/** Beside `map` under `mode: mapreduce`, within it among steps. */
export const ERROR_POLICY_FIELD: Field = field(
  'error_policy',
  ERROR_POLICY,
  'How items are retried, and what their failures mean for the map.',
  { default: 'one attempt; items that failed are dead letters', examples: [{ item_retry: { attempts: 3 } }] },
)

export const MAP: FieldsShape = {
  kind: 'fields',
  title: 'map',
  example: '{input: items.json, agent_template: [{shell: ./process}]}',
  fields: [
    field(
      'input',
      either(text('template', { isLine: true }), list({ kind: 'data', reading: 'template' }), INPUT_FIELDS),
      'Where the items come from: a file by its path, one reference to a value, a list, or fields.',
      { isRequired: true, examples: ['items.json', '${orders}', ['eu', 'us'], { range: [1, 500] }] },
    ),
    field('json_path', text('json_path'), 'Which parts of a JSON document are items (RFC 9535).', {
      default: 'the elements of the document, which must be a list',
      examples: ['$.items[*]'],
    }),
    field('filter', text('expression'), 'An expression over `item`; items for which it is false are left out.', {
      default: 'all',
      examples: ['item.size > 10'],
    }),
    field('distinct', text('value'), 'An expression over `item`; of items with the same value the first is taken.', {
      default: 'all',
      examples: ['item.id'],
    }),
    field(
      'sort_by',
      either(text('sort_key'), list(text('sort_key'), 1)),
      'An expression over `item`, or several; each may end in `asc` or `desc`.',
      { default: 'the order of the input', examples: ['item.priority desc', ['item.region', 'item.id']] },
    ),
    field('offset', whole(0), 'How many items are left out at the beginning.', { default: '0', examples: [100] }),
    field('max_items', whole(1), 'How many items are taken at most.', { default: 'no limit', examples: [1000] }),
    field('max_parallel', whole(1, 10_000), 'How many items run at a time at most, over all processes.', {
      default: '8',
      examples: [4],
    }),
    field(
      'rate',
      text(undefined, { rule: RATE }),
      'How many items start in a time at most, over all processes: `20/s`, `100/m`, `5/500ms`.',
      { default: 'no limit', examples: ['20/s'] },
    ),
    field(
      'batch',
      whole(1, MAX_BATCH),
      'How many items one attempt is handed at most: its steps see `${items}` and `${items_file}`. `max_parallel` and `rate` count batches.',
      { default: '1: each item has attempts of its own', examples: [50] },
    ),
    field(
      'isolation',
      words('none', 'directory', 'worktree'),
      'Where attempts work: all in the directory of the run, or each in an empty `directory`, or in a git `worktree` whose changes are merged when the attempt succeeds.',
      { default: '`none`', examples: ['worktree'] },
    ),
    field(
      'agent_timeout',
      duration,
      'Limit of one attempt of an item, or of a batch: `attempt_timeout` of `item_retry`.',
      {
        default: 'none',
        examples: ['10m'],
      },
    ),
    field(
      'checkpoint',
      words('none', 'step'),
      'With `step`, an attempt that was interrupted continues after its last finished step.',
      { default: '`none`', examples: ['step'] },
    ),
    field(
      'on_interrupt',
      ON_INTERRUPT_SHAPE,
      'If the process is lost while an item runs: `rerun` it, `fail` and leave it to a person, or look first.',
      { default: '`rerun`', examples: ['fail', { verify: './was-it-sent' }] },
    ),
    field('keep_logs', words('all', 'failures', 'none'), 'Of which items the output is kept.', {
      default: '`failures`: of items that failed or were retried',
      examples: ['all'],
    }),
    field('agent_template', list(TEMPLATE_STEP, 1), 'What is done for each item, one step after the other.', {
      isRequired: true,
      examples: [[{ shell: './resize "${item.path}"' }]],
    }),
    field('on_item_error', list(TEMPLATE_STEP), 'What is done once for an item that has failed for good.', {
      default: 'nothing',
      examples: [[{ shell: './notify "${item.key}"' }]],
    }),
    ERROR_POLICY_FIELD,
  ],
}

const MAP_STEP: FieldsShape = {
  kind: 'fields',
  title: 'map step',
  example: '{id: resize, map: {input: items.json, agent_template: [{shell: ./resize}]}}',
  fields: [
    STEP_ID_FIELD,
    STEP_NAME_FIELD,
    field('map', MAP, 'The same steps for every item of an input.', {
      isRequired: true,
      examples: [{ input: 'items.json', agent_template: [{ shell: './resize "${item.path}"' }] }],
    }),
    WHEN_FIELD,
    field(
      'on_failure',
      words('stop', 'continue'),
      'When the map was stopped: `stop` the run, or `continue` with the next step.',
      {
        default: '`stop`',
        examples: ['continue'],
      },
    ),
  ],
}

/** What stands in a list of steps. */
export const PHASE: ForkShape = { kind: 'fork', key: 'map', matching: MAP_STEP, otherwise: STEP }
