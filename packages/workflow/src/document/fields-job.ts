/**
 * What a file of `mode: job` says. What its fields mean together, limits and names are checked where jobs are submitted:
 * the table describes them for editors and for the reference. Imports the shapes and names.
 */
import { type NameRule, STEP_ID, VALUE_NAME } from './names.js'
import { duration, either, field, type FieldsShape, flag, list, named, plain, text, whole, words } from './shape.js'

const LINE = text(undefined, { isLine: true })

/** As workers register it: part of names of queues and of metrics. */
const DATACENTER_NAME: NameRule = {
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$',
  said: 'the name of a datacenter: letters, digits, `.`, `_` and `-`, a letter or digit first, at most 63 of them',
  filler: '-',
}

const JOB_NAME: NameRule = {
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$',
  said: 'a name: letters, digits, `.`, `_` and `-`, a letter or digit first, at most 100 of them',
  filler: '-',
}

/** An output by its name, or `WORKFLOW.OUTPUT`. */
const OUTPUT_NAME: NameRule = {
  pattern: '^([A-Za-z0-9][A-Za-z0-9._-]{0,99}\\.)?[A-Za-z_][A-Za-z0-9_]{0,127}$',
  said: 'the name of an output, or `WORKFLOW.OUTPUT`',
}

const PARAMS = named(VALUE_NAME, { kind: 'data' }, '{items: 3}')

/** One workflow of a job. */
const JOB_WORKFLOW: FieldsShape = {
  kind: 'fields',
  title: 'job workflow',
  example: '{name: login, file: login.yaml}',
  oneOf: ['file', 'document', 'handler'],
  fields: [
    field('name', text(undefined, { rule: JOB_NAME }), 'What the workflow is called in the job.', {
      isRequired: true,
      examples: ['login'],
    }),
    field('file', LINE, 'A file with a workflow, relative to this file. Its content is sent along, at most 1 MiB.', {
      examples: ['login.yaml'],
    }),
    field('document', { kind: 'data' }, 'The workflow itself.', {
      examples: [{ steps: [{ shell: './probe' }] }],
    }),
    field('handler', text(undefined, { rule: JOB_NAME }), 'The name of a function that workers have registered.', {
      examples: ['probe'],
    }),
    field('params', PARAMS, 'Parameters of the workflow.', { default: 'none', examples: [{ items: 3 }] }),
    field(
      'params_by_datacenter',
      named(DATACENTER_NAME, PARAMS, '{ap: {items: 1}}'),
      'Parameters at single datacenters, in place of those of the same name.',
      { default: 'none', examples: [{ ap: { items: 1 } }] },
    ),
    field(
      'needs',
      list(text(undefined, { rule: STEP_ID }), 0, { isUnique: true }),
      'Workflows that must have succeeded at the same datacenter before this one starts.',
      { default: 'none', examples: [['login']] },
    ),
  ],
}

const BEST_EFFORT: FieldsShape = {
  kind: 'fields',
  title: 'best effort',
  example: '{min_dcs: 2, deadline: 5m}',
  fields: [
    field('min_dcs', whole(0, 1_000_000), 'Datacenters that must complete for success. 0: the default.', {
      default: "the operator's, 1 unless it is set",
      examples: [2],
    }),
    field('deadline', duration, 'When the job ends with what is there, counted from its submission.', {
      default: "the operator's, `5m` unless it is set",
      examples: ['5m'],
    }),
    field('settle', duration, 'How long the job waits for the others once the minimum has been reached.', {
      default: '`0ms`',
      examples: ['10s'],
    }),
  ],
}

const BUDGET_FIELDS = [
  field('retries', words('none'), 'That no failed workflow runs again.', { default: 'a budget', examples: ['none'] }),
  field('retry_budget', whole(0, 1_000_000), 'Retries of all workflows at all datacenters together. 0: the default.', {
    default: "the operator's, 20 unless it is set",
    examples: [20],
  }),
  field(
    'retry_budget_per_workflow',
    whole(0, 1_000_000),
    'Retries of one workflow at one datacenter. 0: the default.',
    {
      default: "the operator's, 3 unless it is set",
      examples: [3],
    },
  ),
  field('budget_scope', words('job', 'datacenter'), 'Whether all datacenters share the budget, or each has its own.', {
    default: '`job`',
    examples: ['datacenter'],
  }),
  field('retry_budget_counts', words('all', 'wasted'), 'Whether a retry that succeeds is given back.', {
    default: '`all`: it is not',
    examples: ['wasted'],
  }),
  field(
    'on_budget_exhausted',
    words('fail', 'park'),
    'What becomes of a workflow when the budget of the job is used up.',
    {
      default: '`fail`',
      examples: ['park'],
    },
  ),
  field(
    'max_dispatch_attempts',
    whole(1, 1_000_000),
    'Attempts of one workflow at one datacenter, whatever the budget.',
    {
      default: 'no ceiling',
      examples: [5],
    },
  ),
]

const COMPLETION_FIELDS = [
  field('best_effort', either(flag, BEST_EFFORT), 'Whether the job may complete without all of its datacenters.', {
    default: '`false`',
    examples: [{ min_dcs: 2, deadline: '5m', settle: '10s' }],
  }),
  field('strict_min_dcs', flag, 'Whether less than the minimum is a failure.', {
    default: '`true`',
    examples: [false],
  }),
  field('datacenter_success', words('any', 'all'), 'Which workflows of a datacenter must succeed for it to count.', {
    default: '`any`',
    examples: ['all'],
  }),
  field(
    'timeout',
    { ...duration, isAboveZero: true },
    'When the job ends without success, counted from its submission.',
    {
      default: 'none',
      examples: ['1h'],
    },
  ),
  field(
    'dispatch_timeout',
    { ...duration, isAboveZero: true },
    'How long a datacenter may be without a worker before it counts as failed.',
    {
      default: 'none',
      examples: ['10m'],
    },
  ),
  field(
    'late_result_policy',
    words('log_only', 'update_result'),
    'What a result means that comes after the job has completed.',
    {
      default: "the operator's, `log_only` unless it is set",
      examples: ['update_result'],
    },
  ),
  field('stragglers', words('run', 'cancel'), 'What becomes of the datacenters that the job did not wait for.', {
    default: '`run`',
    examples: ['cancel'],
  }),
]

/** A file of `mode: job`. */
export const JOB: FieldsShape = {
  kind: 'fields',
  title: 'job',
  example: '{mode: job, datacenters: [eu, us], workflows: [{name: probe, file: probe.yaml}]}',
  fields: [
    field('mode', words('job'), 'What kind of document it is.', { isRequired: true, examples: ['job'] }),
    field('name', plain(undefined, { mayBeBlank: false, rule: JOB_NAME }), 'What the job is called.', {
      default: "the file's name without its ending",
      examples: ['checkout-probe'],
    }),
    field('job_id', text(undefined, { rule: JOB_NAME }), 'The id of the job: a second submission is the same job.', {
      default: 'one of its own for each submission',
      examples: ['probe-1'],
    }),
    field('idempotency_key', LINE, 'The same key and the same content are the same job.', {
      default: 'none',
      examples: ['release-42'],
    }),
    field('datacenters', list(text(undefined, { rule: DATACENTER_NAME }), 1), 'Where the workflows run.', {
      isRequired: true,
      examples: [['eu', 'us', 'ap']],
    }),
    field('workflows', list(JOB_WORKFLOW, 1), 'What each datacenter runs.', {
      isRequired: true,
      examples: [[{ name: 'login', file: 'login.yaml' }]],
    }),
    ...BUDGET_FIELDS,
    ...COMPLETION_FIELDS,
    field(
      'aggregate',
      named(OUTPUT_NAME, words('sum', 'min', 'max', 'mean', 'count', 'histogram'), '{requests: sum}'),
      'How outputs of the workflows are combined over datacenters.',
      { default: 'none', examples: [{ requests: 'sum', latency: 'histogram' }] },
    ),
  ],
}
