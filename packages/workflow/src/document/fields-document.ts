/** What a workflow says. Imports the shapes and the tables of its parts. */
import { BREAKERS, RETRY } from './fields-retry.js'
import { BUDGETS } from './fields-budgets.js'
import { ERROR_POLICY_FIELD, MAP, PHASE } from './fields-map.js'
import { ENV, STEP } from './fields-step.js'
import { ENV_NAME, SIZE, VALUE_NAME } from './names.js'
import {
  either,
  type Field,
  field,
  type FieldsShape,
  type ForkShape,
  list,
  named,
  plain,
  spellingsOf,
  text,
  words,
} from './shape.js'

const NAME_FIELD = field('name', plain(undefined, { mayBeBlank: false }), 'What the workflow is called.', {
  default: "the file's name without its ending",
  examples: ['nightly-import'],
})

/** What a workflow gives: read by a job, and by whoever looks at the run. */
export const OUTPUTS = named(VALUE_NAME, { kind: 'data', reading: 'template' }, '{requests: "${count}"}')

const GROUP = text('template', { isLine: true })

/** Read with the parameters and the environment. */
export const CONCURRENCY = either(GROUP, {
  kind: 'fields',
  title: 'concurrency',
  example: '{group: deploy, on_conflict: wait}',
  fields: [
    field('group', GROUP, 'The name of the group.', { isRequired: true, examples: ['deploy', 'deploy-${region}'] }),
    field(
      'on_conflict',
      words('refuse', 'wait', 'cancel_old'),
      'While another run of the group is conducted: `refuse` to begin, `wait` until it has ended, or cancel it and wait for its end.',
      { default: '`refuse`', examples: ['wait'] },
    ),
  ],
})

const SHARED_FIELDS: readonly Field[] = [
  field(
    'params',
    named(VALUE_NAME, { kind: 'data' }, '{region: eu}'),
    'Parameters with their defaults; one that is left empty must be given.',
    {
      default: 'none',
      examples: [{ region: 'eu', day: null }],
    },
  ),
  field('env', ENV, 'Variables of the environment of every step.', { default: 'none', examples: [{ REGION: 'eu' }] }),
  field(
    'env_file',
    either(text(undefined, { isLine: true }), list(text(undefined, { isLine: true }), 1)),
    "A file with lines `NAME=value`, or several, from the document's directory: variables over those of the process and below `env`. Each process that conducts the run reads them; they are not recorded.",
    { default: 'none', examples: ['.env', ['common.env', 'eu.env']] },
  ),
  field(
    'concurrency',
    CONCURRENCY,
    'Of the runs of a group one is conducted at a time, in whichever process that uses the store; a name is short for `{group: NAME}`. An interrupted run does not hold its group.',
    { default: 'none', examples: ['deploy', { group: 'deploy-${region}', on_conflict: 'wait' }] },
  ),
  field(
    'timeout',
    { kind: 'duration', isAboveZero: true },
    'Limit of the whole run, from its first start, with its waits and with the time in which no process conducts it. At the limit the step that runs is ended and the run fails; the steps of `on_failure` and `finally` run all the same.',
    { default: 'none', examples: ['2h'] },
  ),
  field(
    'secrets',
    list(text(undefined, { rule: ENV_NAME }), 0, { isUnique: true }),
    'Names of variables of the environment that are passed on to the steps, and masked wherever something is kept or shown.',
    { default: 'none', examples: [['API_TOKEN']] },
  ),
  field('retry_defaults', RETRY, 'What `retry` of a step is, field by field, where it says nothing.', {
    default: 'one attempt',
    examples: [{ attempts: 3, backoff: 'exponential', jitter: true }],
  }),
  field('breakers', BREAKERS, 'Circuit breakers by name, for steps to share.', {
    default: 'none',
    examples: [{ warehouse: { failure_threshold: 3, recovery_timeout: '20s' } }],
  }),
  field('budgets', BUDGETS, 'Budgets by name, for steps to share.', {
    default: 'none',
    examples: [{ api: { type: 'adaptive' } }],
  }),
  field(
    'outputs',
    OUTPUTS,
    'Values that the workflow gives, by name, filled in when the last of `steps` has ended, before `on_failure` and `finally`. At most 64 kB together as JSON. A text that is one reference becomes the value itself.',
    { default: 'none', examples: [{ requests: '${steps.fetch.output}', region: '${region}' }] },
  ),
  field('max_log', text(undefined, { rule: SIZE }), 'The `max_log` of steps that name none.', {
    default: '`64MiB`',
    examples: ['10MiB'],
  }),
  field(
    'max_run_log',
    text(undefined, { rule: SIZE }),
    'How much all attempts of a run keep in their logs together. Beyond it each attempt keeps 64 KiB and its end.',
    { default: '`1GiB`', examples: ['200MiB'] },
  ),
  field('claude_program', text(undefined, { isLine: true }), 'The program that steps of kind `claude` run.', {
    default: '`REPRISE_CLAUDE`, else `claude`',
    examples: ['claude'],
  }),
]

const HANDLER_FIELDS: readonly Field[] = [
  field(
    'on_failure',
    list(STEP),
    'Steps that run once the run has failed, before those of `finally`. The run stays failed, however they end.',
    { default: 'none', examples: [[{ shell: './tell-people "${run.failed_step}"' }]] },
  ),
  field(
    'finally',
    list(STEP),
    'Steps that run at the end of the run: when it has succeeded, failed or was cancelled; after Ctrl-C the resume runs them. If one of them fails, the run fails.',
    { default: 'none', examples: [[{ shell: './remove-test-data' }]] },
  ),
]

const PLAIN: FieldsShape = {
  kind: 'fields',
  title: 'workflow',
  example: '{steps: [{shell: ./fetch}]}',
  fields: [
    NAME_FIELD,
    field('mode', words('workflow', 'mapreduce'), 'What kind of document it is.', {
      default: '`workflow`',
      examples: ['workflow'],
    }),
    ...SHARED_FIELDS,
    field('steps', list(PHASE, 1), 'What is done, one after the other.', {
      isRequired: true,
      aliases: ['tasks', 'commands'],
      examples: [[{ name: 'fetch', shell: './fetch' }]],
    }),
    ...HANDLER_FIELDS,
  ],
}

const MAP_REDUCE: FieldsShape = {
  kind: 'fields',
  title: 'mapreduce',
  example: '{mode: mapreduce, map: {input: items.json, agent_template: [{shell: ./process}]}}',
  fields: [
    NAME_FIELD,
    field('mode', words('mapreduce'), 'What kind of document it is.', { isRequired: true, examples: ['mapreduce'] }),
    ...SHARED_FIELDS,
    field('setup', list(PHASE), 'Steps before the map.', {
      default: 'none',
      examples: [[{ shell: './list-orders > orders.json' }]],
    }),
    field('map', MAP, 'The same steps for every item of an input: a map with the id `map`.', {
      isRequired: true,
      examples: [{ input: 'orders.json', agent_template: [{ shell: './import "${item.id}"' }] }],
    }),
    field('reduce', list(PHASE), 'Steps after the map; `${map.results_file}` has the results.', {
      default: 'none',
      examples: [[{ shell: './report "${map.results_file}"' }]],
    }),
    field('merge', list(PHASE), 'Steps after those of `reduce`.', {
      default: 'none',
      examples: [[{ shell: './publish' }]],
    }),
    ERROR_POLICY_FIELD,
    ...HANDLER_FIELDS,
  ],
}

/** Every spelling of the key that the steps of a plain workflow stand under. */
export const STEP_LIST_KEYS: readonly string[] = PLAIN.fields.flatMap((one) => {
  return one.name === 'steps' ? spellingsOf(one, PLAIN) : []
})

/** Everything that a file with steps may be. */
export const WORKFLOW: ForkShape = {
  kind: 'fork',
  key: 'mode',
  value: 'mapreduce',
  matching: MAP_REDUCE,
  otherwise: PLAIN,
}
