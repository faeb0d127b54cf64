/** What a file with a policy alone says. Imports the tables of its parts. */
import { BUDGETS } from './fields-budgets.js'
import { POLICY } from './fields-policy.js'
import { ON_FAILURE } from './fields-retry.js'
import { either, type EitherShape, field, type FieldsShape, whole } from './shape.js'

const BUDGETS_FIELD = field('budgets', BUDGETS, 'Budgets by name, for a simulation.', {
  default: 'none',
  examples: [{ api: { type: 'adaptive' } }],
})

const LONE_RETRY = either(
  whole(1, 1000),
  { kind: 'flag', only: false },
  { ...POLICY, title: 'retry', fields: [...POLICY.fields, ON_FAILURE] },
)

const RETRY_FIELD = field('retry', LONE_RETRY, 'The policy: a number of attempts, `false` for one, or fields.', {
  aliases: ['retry_config'],
  examples: [{ attempts: 5 }],
})
const DEFAULTS_FIELD = field('retry_defaults', LONE_RETRY, 'What `retry` is, field by field, where it says nothing.', {
  examples: [{ attempts: 3 }],
})

/** Beside `retry` there may be anything: what it is a part of is not ours. */
function policyUnder(...fields: FieldsShape['fields']): FieldsShape {
  return {
    kind: 'fields',
    title: `file with ${fields.map(({ name }) => name).join(' and ')}`,
    example: '{retry: {attempts: 5}}',
    isOpen: true,
    fields: [...fields, BUDGETS_FIELD],
  }
}

const REQUIRED = { isRequired: true }

/** Checked by `policy-file`. */
export const POLICY_FILE: EitherShape = either(
  whole(1, 1000),
  { kind: 'flag', only: false },
  { ...POLICY, title: 'file with fields', fields: [...POLICY.fields, BUDGETS_FIELD] },
  policyUnder({ ...RETRY_FIELD, ...REQUIRED }, DEFAULTS_FIELD),
  policyUnder({ ...DEFAULTS_FIELD, ...REQUIRED }, RETRY_FIELD),
)
