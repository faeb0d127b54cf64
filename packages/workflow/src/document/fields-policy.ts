/**
 * The fields of a policy as a file has them: the table `policy-fields.ts` with the shapes of the fields that have parts.
 * Values are checked by the library; a test compares the two. Imports the table and the shapes.
 */
import { EXIT_WORD } from './names.js'
import { defaultText, gateName, MAX_ITEMS, nameInFiles, POLICY_FIELDS } from './policy-fields.js'
import {
  either,
  type EitherShape,
  type Field,
  field,
  type FieldsShape,
  list,
  type Shape,
  text,
  words,
} from './shape.js'

/** A file with a policy alone, or a step of a workflow, which some sentences are different for. */
type Place = 'file' | 'step'

/** The field of this name in the table, under the last part of its name; `shape` where the field has parts. */
function fieldAt(place: Place, name: string, shape?: Shape, more: Pick<Field, 'isRequired'> = {}): Field {
  const found = POLICY_FIELDS.find((one) => one.name === name)
  const row = found && { ...found, ...(place === 'step' && found.inStep) }
  const taken = shape ?? row?.shape
  if (row === undefined || taken === undefined) throw new Error(`the table of policy fields has no shape for ${name}`)
  const { doc, note, examples } = row
  const fallback = more.isRequired === true ? undefined : defaultText(row)
  const inFile = nameInFiles(row)
  return field(inFile.slice(inFile.lastIndexOf('.') + 1), taken, [doc, note].filter(Boolean).join(' '), {
    ...(fallback !== undefined && { default: fallback }),
    examples,
    ...more,
  })
}

function group(title: string, example: string, fields: readonly Field[], more: Partial<FieldsShape> = {}): FieldsShape {
  return { kind: 'fields', title, fields, example, isCamelToo: true, checkedBy: 'library', ...more }
}

// ── backoff ──────────────────────────────────────────────────────────────────────────────────────

const STRATEGIES: Readonly<Record<string, readonly Field[]>> = {
  fixed: [],
  linear: [fieldAt('file', 'backoff.increment')],
  exponential: [fieldAt('file', 'backoff.base')],
  fibonacci: [],
  custom: [fieldAt('file', 'backoff.delays'), fieldAt('file', 'backoff.formula')],
}

const TYPE = 'Which backoff it is.'

/** `{exponential: {base: 3}}` and `{type: exponential, base: 3}`. */
function backoffForms(): Shape[] {
  return Object.entries(STRATEGIES).flatMap(([name, fields]) => {
    const isCustom = name === 'custom'
    const only = isCustom ? { oneOf: fields.map((one) => one.name) } : {}
    const parameters = group(`backoff ${name}`, `{${name}: {}}`, fields, only)
    const inner = isCustom ? parameters : either({ kind: 'empty' }, parameters)
    const type = field('type', words(name), TYPE, { isRequired: true })
    return [
      group(`backoff as ${name}`, `{${name}: {}}`, [
        field(name, inner, `The parameters of \`${name}\`.`, { isRequired: true }),
      ]),
      group(`backoff of type ${name}`, `{type: ${name}}`, [type, ...fields], only),
    ]
  })
}

const BACKOFF: EitherShape = either(words('fixed', 'linear', 'exponential', 'fibonacci'), ...backoffForms())

// ── matchers, budget, breaker, hedge ─────────────────────────────────────────────────────────────

export const MATCHER_WORDS = ['network', 'timeout', 'server_error', 'rate_limit', '5xx'] as const

const MATCHER: EitherShape = either(
  words(...MATCHER_WORDS),
  text(undefined, { rule: EXIT_WORD }),
  group('matcher', '{exit_code: [75]}', [fieldAt('file', 'retryOn.pattern'), fieldAt('file', 'retryOn.exitCode')], {
    oneOf: ['pattern', 'exit_code'],
  }),
)

const BUDGET_FIELDS: readonly Field[] = [
  fieldAt('file', 'budget.name', undefined, { isRequired: true }),
  fieldAt('file', 'budget.cost'),
]
const BUDGET: EitherShape = either(gateName, group('budget of a policy', '{name: api, cost: 2}', BUDGET_FIELDS))

export const BREAKER_SETTINGS: readonly Field[] = [
  fieldAt('file', 'breaker.failureThreshold'),
  fieldAt('file', 'breaker.recoveryTimeout'),
  fieldAt('file', 'breaker.halfOpenMaxCalls'),
]

function breakerAt(place: Place): FieldsShape {
  const key = fieldAt(place, 'breaker.key')
  return group('breaker of a policy', '{failure_threshold: 5}', [key, ...BREAKER_SETTINGS])
}

const HEDGE_BUDGET: EitherShape = either(
  gateName,
  group('budget of a hedge', '{name: hedges, share: true}', [...BUDGET_FIELDS, fieldAt('file', 'hedge.budget.share')]),
)
const HEDGE = group(
  'hedge',
  '{delay: 500ms}',
  [
    fieldAt('file', 'hedge.delay'),
    fieldAt('file', 'hedge.percentile'),
    fieldAt('file', 'hedge.maxHedges'),
    fieldAt('file', 'hedge.cancelOnFirstTerminal'),
    fieldAt('file', 'hedge.budget', HEDGE_BUDGET),
  ],
  { oneOf: ['delay', 'percentile'] },
)

// ── the whole ────────────────────────────────────────────────────────────────────────────────────

/** A circuit breaker that the workflow declares. */
export const BREAKER_NAME = text()

const SHARED = { backoff: BACKOFF, retryOn: list(MATCHER, 0, { most: MAX_ITEMS }), budget: BUDGET }

/** The shapes of the fields that have parts. A step may name a breaker that others share, and nothing hedges there. */
const PARTS: Readonly<Record<Place, Readonly<Record<string, Shape>>>> = {
  file: { ...SHARED, breaker: breakerAt('file'), hedge: HEDGE },
  step: { ...SHARED, breaker: either(BREAKER_NAME, breakerAt('step')) },
}

/** In the order of the table. */
function fieldsAt(place: Place): readonly Field[] {
  return POLICY_FIELDS.filter(
    ({ name, shape }) => !name.includes('.') && (shape ?? PARTS[place][name]) !== undefined,
  ).map(({ name }) => fieldAt(place, name, PARTS[place][name]))
}

/** What a policy of a file says when it stands alone. */
export const POLICY: FieldsShape = group('policy', '{attempts: 5}', fieldsAt('file'))

/** What a step's policy says, but for what is to be done on failure. */
export const STEP_POLICY_FIELDS: readonly Field[] = fieldsAt('step')
