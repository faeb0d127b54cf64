/**
 * The fields of a policy as a file has them. Their values are checked by the library; this table is what editors and
 * the reference are told, and a test holds the two together. Imports the shapes.
 */
import {
  duration,
  either,
  type EitherShape,
  type Field,
  field,
  type FieldsShape,
  flag,
  list,
  type Shape,
  text,
  type TextShape,
  whole,
  words,
} from './shape.js'
import { EXIT_WORD } from './names.js'

/** As the library bounds them. */
const MAX_ITEMS = 1000
const MAX_COUNT = 1_000_000

const anyText: TextShape = text(undefined, { mayBeBlank: true, isFree: true })
const exitCode = whole(1, 255)

function group(title: string, example: string, fields: readonly Field[], more: Partial<FieldsShape> = {}): FieldsShape {
  return { kind: 'fields', title, fields, example, isCamelToo: true, checkedBy: 'library', ...more }
}

// ── backoff ──────────────────────────────────────────────────────────────────────────────────────

const INCREMENT = field('increment', duration, 'What `linear` adds after each failure.', {
  default: 'the initial delay',
  examples: ['2s'],
})
const BASE = field(
  'base',
  { kind: 'number', isWhole: false, least: 0, isAbove: true, most: Number.MAX_SAFE_INTEGER },
  'What `exponential` multiplies with after each failure.',
  { default: '2', examples: [3] },
)
const DELAYS = field(
  'delays',
  list(duration, 1, { most: MAX_ITEMS }),
  'The delays of `custom`, one by one; after the last the maximum.',
  { examples: [['1s', '5s', '30s']] },
)
const FORMULA = field(
  'formula',
  anyText,
  'The delay of `custom` in milliseconds: arithmetic over `attempt`, `initial`, `max` and `previous`.',
  { examples: ['initial * attempt ^ 2'] },
)

const STRATEGIES: Readonly<Record<string, readonly Field[]>> = {
  fixed: [],
  linear: [INCREMENT],
  exponential: [BASE],
  fibonacci: [],
  custom: [DELAYS, FORMULA],
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
  group(
    'matcher',
    '{exit_code: [75]}',
    [
      field('pattern', anyText, 'A regular expression over the message or the output; `(?i)` in front ignores case.', {
        examples: ['(?i)deadlock'],
      }),
      field(
        'exit_code',
        either(exitCode, list(exitCode, 1, { most: MAX_ITEMS })),
        'Exit codes of a command: one, or a list.',
        { examples: [[75, 111]] },
      ),
    ],
    { oneOf: ['pattern', 'exit_code'] },
  ),
)

const COST = field(
  'cost',
  { kind: 'number', isWhole: false, least: -MAX_COUNT, most: MAX_COUNT },
  'What an attempt costs, 1 or more.',
  { default: '1', examples: [2] },
)
const BUDGET_NAME = field('name', anyText, 'The name of the budget.', { isRequired: true, examples: ['api'] })
const BUDGET: EitherShape = either(anyText, group('budget of a policy', '{name: api, cost: 2}', [BUDGET_NAME, COST]))

export const BREAKER_SETTINGS: readonly Field[] = [
  field('failure_threshold', whole(1, MAX_COUNT), 'Failures in a row that open it.', { default: '5', examples: [3] }),
  field('recovery_timeout', duration, 'How long it stays open before it lets a probe through.', {
    default: '30s',
    examples: ['20s'],
  }),
  field('half_open_max_calls', whole(1, MAX_COUNT), 'Probes at a time, and successes that close it.', {
    default: '1',
    examples: [2],
  }),
]

const BREAKER_KEY = field('key', anyText, 'Steps whose breakers have the same key share it.', {
  default: 'the name of the workflow, `/` and the id of the step',
  examples: ['mail'],
})
const BREAKER = group('breaker of a policy', '{failure_threshold: 5}', [BREAKER_KEY, ...BREAKER_SETTINGS])

const HEDGE_BUDGET: EitherShape = either(
  anyText,
  group('budget of a hedge', '{name: hedges, share: true}', [
    BUDGET_NAME,
    COST,
    field('share', flag, "Whether the retry's budget is asked as well.", { default: 'false', examples: [true] }),
  ]),
)
const HEDGE = group(
  'hedge',
  '{delay: 500ms}',
  [
    field('delay', duration, 'When each copy starts; this or a percentile.', { examples: ['500ms'] }),
    field(
      'percentile',
      { kind: 'number', isWhole: false, least: 0, isAbove: true, most: 100, isBelow: true },
      'The same as a percentile of past latencies.',
      { examples: [95] },
    ),
    field('max_hedges', whole(1, Number.MAX_SAFE_INTEGER), 'Copies beside one attempt, at most 3.', {
      default: '1',
      examples: [2],
    }),
    field('cancel_on_first_terminal', flag, 'Whether the first failure that is not retryable ends the others.', {
      default: 'false',
      examples: [true],
    }),
    field('budget', HEDGE_BUDGET, "A budget of the hedges' own; `share` for the retry's.", { examples: ['hedges'] }),
  ],
  { oneOf: ['delay', 'percentile'] },
)

// ── the whole ────────────────────────────────────────────────────────────────────────────────────

const BEFORE_GATES: readonly Field[] = [
  field('attempts', whole(1, 1000), 'The first execution and its retries; 1 is no retry.', {
    default: '3',
    examples: [5],
  }),
  field('backoff', BACKOFF, 'How the waits grow.', {
    default: '`exponential`',
    examples: ['exponential', { exponential: { base: 3 } }],
  }),
  field('initial_delay', duration, 'The first wait.', { default: '1s', examples: ['500ms'] }),
  field('max_delay', duration, 'The longest wait, before jitter.', { default: '30s', examples: ['1m'] }),
  field(
    'jitter',
    either(flag, words('proportional', 'full', 'equal', 'decorrelated')),
    'Randomness in the waits, so that clients that failed together do not retry together; `true` is `proportional`.',
    { default: 'false', examples: ['full', true] },
  ),
  field(
    'jitter_factor',
    { kind: 'number', isWhole: false, least: 0, most: 1 },
    'Width of `proportional` jitter, as a share of the wait: half of it on each side.',
    { default: '0.3', examples: [0.5] },
  ),
  field(
    'retry_on',
    list(MATCHER, 0, { most: MAX_ITEMS }),
    'Which failures are retried: any that one of these fits; an empty list is every failure.',
    { default: '[]', examples: [['network', 'timeout', '5xx', 'exit:75']] },
  ),
  field('retry_budget', duration, 'Cap on the sum of all waits.', { default: 'none', examples: ['2m'] }),
  field('attempt_timeout', duration, 'Limit of one attempt; what runs into it may be retried.', {
    default: 'none',
    examples: ['30s'],
  }),
  field('timeout', duration, 'Limit of everything, waits included; what runs into it has failed.', {
    default: 'none',
    examples: ['10m'],
  }),
  field('max_retry_after', duration, 'The longest `Retry-After` of a server that is obeyed; a longer one is the end.', {
    default: '60s',
    examples: ['5m'],
  }),
]

/** What a policy of a file says when it stands alone. */
export const POLICY: FieldsShape = group('policy', '{attempts: 5}', [
  ...BEFORE_GATES,
  field('budget', BUDGET, 'A shared budget to ask before each attempt: its name, or its name and the cost.', {
    default: 'none',
    examples: ['api'],
  }),
  field('breaker', BREAKER, 'A circuit breaker.', { default: 'none', examples: [{ failure_threshold: 5 }] }),
  field('hedge', HEDGE, 'Copies of a slow attempt beside it. Within a program only.', {
    default: 'none',
    examples: [{ delay: '500ms' }],
  }),
])

/** Of one that is declared. */
export const BREAKER_NAME = text()

/** What a step's policy says, but for what is to be done on failure: gates may be shared by name, and nothing hedges. */
export const STEP_POLICY_FIELDS: readonly Field[] = [
  ...BEFORE_GATES,
  field('budget', BUDGET, 'A budget declared under `budgets`, asked before each attempt: its name, or also the cost.', {
    default: 'none',
    examples: ['api', { name: 'api', cost: 2 }],
  }),
  field(
    'breaker',
    either(BREAKER_NAME, BREAKER),
    'The name of a circuit breaker declared under `breakers`, or the fields of one of its own.',
    { default: 'none', examples: ['warehouse', { failure_threshold: 5 }] },
  ),
]
