/**
 * What steps say, in the two places that there are: on their own, and for each item of a map. There nothing is decided
 * about an interruption and no gate is passed: the map does both for the item. Imports the shapes and tables of parts.
 */
import { CAPTURE_FORMATS } from '../plan/plan.js'
import { ACTION_FIELDS } from './fields-actions.js'
import { RETRY, TEMPLATE_RETRY } from './fields-retry.js'
import { ENV_NAME, SIZE, STEP_ID, VALUE_NAME } from './names.js'
import {
  duration,
  either,
  type EitherShape,
  type Field,
  field,
  type FieldsShape,
  list,
  named,
  plain,
  text,
  words,
} from './shape.js'

const ON_INTERRUPT: FieldsShape = {
  kind: 'fields',
  title: 'on_interrupt',
  example: '{verify: ./was-it-sent}',
  fields: [
    field(
      'verify',
      either(text('shell'), list(plain('template'), 1)),
      'A command that looks whether it was done: exit code 0 is yes, and its output is that of the step; 1 is no, and the step runs again; anything else leaves it to a person.',
      { isRequired: true, examples: ['./was-it-sent', ['./was-it-sent', '${order_id}']] },
    ),
  ],
}

export const ON_INTERRUPT_SHAPE = either(words('rerun', 'fail'), ON_INTERRUPT)

export const ENV = named(ENV_NAME, plain('template'), '{REGION: eu}')

export const STEP_ID_FIELD = field(
  'id',
  text(undefined, { rule: STEP_ID }),
  'What the step is called in commands, references and files.',
  { default: 'the name made fit, else `step-` and the position', examples: ['fetch'] },
)
export const STEP_NAME_FIELD = field(
  'name',
  plain(undefined, { mayBeBlank: false }),
  'What the step is called when people are told of it.',
  { default: 'the id', examples: ['Fetch the items'] },
)
export const WHEN_FIELD = field(
  'when',
  plain('expression', { mayBeBlank: false }),
  'An expression; if it is false, the step is skipped.',
  { default: 'always', examples: ['size(items) > 0'] },
)
const UNTIL_FIELD = field(
  'until',
  plain('expression', { mayBeBlank: false }),
  'An expression that is looked at when an attempt has succeeded, for polling. While it is false the attempt counts as failed and is retried, whatever `retry_on` says; no breaker counts it. It sees what the attempt captured, and `steps.ID` of its own step.',
  { default: 'none', examples: ['state == "ready"', 'steps.export.status == 200'] },
)

/** Read where the step has ended: what it captures is known there. */
export const UNTIL_SHAPE = UNTIL_FIELD.shape

function stepFields(retry: EitherShape): readonly Field[] {
  return [
    STEP_ID_FIELD,
    STEP_NAME_FIELD,
    ...ACTION_FIELDS,
    field('working_dir', text('template', { isLine: true }), "Where it runs, from the document's directory.", {
      default: "the document's directory",
      examples: ['data'],
    }),
    field('env', ENV, 'Variables of the environment, over those of the document.', {
      default: 'none',
      examples: [{ REGION: 'eu' }],
    }),
    field(
      'attempt_timeout',
      duration,
      'Limit of one attempt: the same as `attempt_timeout` under `retry`. The limit of all attempts with their waits is `timeout` under `retry`.',
      { default: 'none', aliases: ['timeout'], examples: ['30s'] },
    ),
    field('capture', text(undefined, { rule: VALUE_NAME }), 'A name for the output, for later steps: `${name}`.', {
      default: 'the output is in the log only',
      examples: ['items'],
    }),
    field('capture_format', words(...CAPTURE_FORMATS), 'How the output is read.', {
      default: '`text`',
      examples: ['json'],
      needs: 'capture',
    }),
    field(
      'max_log',
      text(undefined, { rule: SIZE }),
      'How much of the output of an attempt is kept in its log: the beginning and the last 1 MiB. A line in the log says how much is left out.',
      { default: '`max_log` of the document, else `64MiB`', examples: ['10MiB'] },
    ),
    WHEN_FIELD,
    UNTIL_FIELD,
    field('retry', retry, 'How it is retried: a number of attempts, `false` for one, or fields.', {
      default: '`retry_defaults`, else one attempt',
      aliases: ['retry_config'],
      examples: [5, false, { attempts: 5, retry_on: ['network', 'timeout'] }],
    }),
  ]
}

const ACTIONS = ACTION_FIELDS.map(({ name }) => name)

export const STEP: FieldsShape = {
  kind: 'fields',
  title: 'step',
  example: '{name: fetch, shell: ./fetch}',
  oneOf: ACTIONS,
  alsoOneOf: ['map'],
  fields: [
    ...stepFields(RETRY),
    field(
      'on_interrupt',
      ON_INTERRUPT_SHAPE,
      'If the process is lost while the step runs: `rerun` it, `fail` and leave it to a person, or look first.',
      { default: '`rerun`', examples: ['fail', { verify: './was-it-sent' }] },
    ),
  ],
}

/** A step of `agent_template` or `on_item_error`. */
export const TEMPLATE_STEP: FieldsShape = {
  kind: 'fields',
  title: 'template step',
  example: '{name: resize, shell: ./resize}',
  oneOf: ACTIONS,
  fields: stepFields(TEMPLATE_RETRY),
}
