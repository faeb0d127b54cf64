/** What a workflow says. Imports the shapes and the tables of its parts. */
import { BREAKERS, RETRY } from './fields-retry.js'
import { BUDGETS } from './fields-budgets.js'
import { ENV, STEP } from './fields-step.js'
import { ENV_NAME, VALUE_NAME } from './names.js'
import { field, type FieldsShape, list, named, plain, text, words } from './shape.js'

export const WORKFLOW: FieldsShape = {
  kind: 'fields',
  title: 'workflow',
  example: '{steps: [{shell: ./fetch}]}',
  fields: [
    field('name', plain(undefined, { mayBeBlank: false }), 'What the workflow is called.', {
      default: "the file's name without its ending",
      examples: ['nightly-import'],
    }),
    field('mode', words('workflow'), 'What kind of document it is.', { default: '`workflow`', examples: ['workflow'] }),
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
    field('claude_program', text(undefined, { isLine: true }), 'The program that steps of kind `claude` run.', {
      default: '`REPRISE_CLAUDE`, else `claude`',
      examples: ['claude'],
    }),
    field('steps', list(STEP, 1), 'What is done, one after the other.', {
      isRequired: true,
      aliases: ['tasks', 'commands'],
      examples: [[{ name: 'fetch', shell: './fetch' }]],
    }),
  ],
}
