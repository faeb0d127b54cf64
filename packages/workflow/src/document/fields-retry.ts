/**
 * `retry` of a step and `retry_defaults`: a policy, and what to do when it has failed for good. Imports the shapes.
 */
import { BREAKER_SETTINGS, STEP_POLICY_FIELDS } from './fields-policy.js'
import { GATE_NAME } from './names.js'
import { either, type EitherShape, field, type FieldsShape, named, text, whole, words } from './shape.js'

const FALLBACK: FieldsShape = {
  kind: 'fields',
  title: 'fallback',
  example: '{command: ./use-yesterdays-data}',
  fields: [
    field('command', text('shell'), 'Shell text. It runs once; its output becomes that of the step.', {
      isRequired: true,
      examples: ['cat yesterday.json'],
    }),
  ],
}

/** Its name is taken from here: an object with a field `then` in its literal is taken for a promise by mistake. */
export const THEN = field(
  'then',
  words('continue', 'fail'),
  'After a fallback that succeeded: `continue` with the next step, or `fail`: the run ends there as failed, as after a rollback.',
  { default: '`continue`', examples: ['fail'] },
)

export const ON_FAILURE = field(
  'on_failure',
  either(words('stop', 'continue'), {
    kind: 'fields',
    title: 'on_failure',
    example: '{fallback: {command: ./use-yesterdays-data}}',
    fields: [
      field('fallback', FALLBACK, 'What runs instead. If it fails too, the run stops.', {
        isRequired: true,
        examples: [{ command: 'cat yesterday.json' }],
      }),
      THEN,
    ],
  }),
  'When the step has failed for good: `stop` the run, `continue` with the next step, or run a fallback.',
  {
    default: '`stop`',
    examples: [
      'continue',
      { fallback: { command: 'cat yesterday.json' } },
      { fallback: { command: './roll-back' }, [THEN.name]: 'fail' },
    ],
  },
)

/** Its two spellings. */
export const ON_FAILURE_KEYS = [ON_FAILURE.name, 'onFailure']

const RETRY_FIELDS: FieldsShape = {
  kind: 'fields',
  title: 'retry',
  example: '{attempts: 5}',
  isCamelToo: true,
  checkedBy: 'library',
  fields: [...STEP_POLICY_FIELDS, ON_FAILURE],
}

function retryOf(fields: FieldsShape): EitherShape {
  return either(whole(1, 1000), { kind: 'flag', only: false }, fields)
}

/** Checked by `check-retry`. */
export const RETRY: EitherShape = { ...retryOf(RETRY_FIELDS), checkedBy: 'retry' }

/** Fields of a policy that name what others share. */
export const GATE_KEYS = ['breaker', 'budget']

/** Gates are passed by the item that a step is a part of. Checked by `check-retry`. */
export const TEMPLATE_RETRY: EitherShape = {
  ...retryOf({
    ...RETRY_FIELDS,
    title: 'retry of a template step',
    fields: RETRY_FIELDS.fields.filter(({ name }) => !GATE_KEYS.includes(name)),
  }),
  checkedBy: 'template_retry',
}

/** What follows the failure of an item stands beside it. Checked by `check-retry`. */
export const ITEM_RETRY: EitherShape = {
  ...retryOf({ ...RETRY_FIELDS, title: 'item_retry', fields: STEP_POLICY_FIELDS }),
  checkedBy: 'item_retry',
}

export const BREAKERS = named(
  GATE_NAME,
  {
    kind: 'fields',
    title: 'breaker',
    example: '{failure_threshold: 3, recovery_timeout: 20s}',
    isCamelToo: true,
    checkedBy: 'breaker',
    fields: BREAKER_SETTINGS,
  },
  '{warehouse: {failure_threshold: 3}}',
)
