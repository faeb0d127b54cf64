/**
 * The fields of a policy, each described once: name, meaning, values, default, examples, flag. Everything that describes
 * them is made from this table: what editors show over `PolicyInput` (`scripts/hover-docs.mjs`), the shapes of files and
 * their JSON Schema (`fields-policy.ts`), both reference pages, and the flags of the command line with their help.
 *
 * Not part of the library, whose size and import time it would add to; tests compare it with `normalizePolicy`. Light:
 * every start of the command line loads it. Imports the shapes.
 */
import type { Json } from 'reprise/durable'
import { duration, flag, list, type Shape, text, type TextShape, whole, words } from './shape.js'
import { snakeCase } from './spelling.js'

/** What a workflow says differently, where a step's policy is part of a whole. */
interface StepWords {
  readonly doc?: string
  /** Empty: none. */
  readonly note?: string
  readonly absent?: string
  readonly examples?: readonly Json[]
}

export interface PolicyFlag {
  /** In brackets where the value may be left out. */
  readonly value: '<n>' | '<time>' | '<word>' | '[word]' | '<matchers>'
  /** Follows the sentence in help. */
  readonly note?: string
  /** Words that the flag takes, where they are not those of the shape. */
  readonly choices?: readonly string[]
}

export interface PolicyField {
  /** In TypeScript, with a dot before a field of a part: `breaker.failureThreshold`. Files have it in snake_case. */
  readonly name: string
  /** What files and flags call it, in camelCase, where that is not its name. */
  readonly inFiles?: string
  /** One sentence. */
  readonly doc: string
  /** A second sentence, for hover and the references. */
  readonly note?: string
  /** Absent where the field has parts: `fields-policy.ts` puts them together. */
  readonly shape?: Shape
  /** The value that stands for a field that is left out. */
  readonly default?: Json
  /** What it means to leave the field out, where no value says it. */
  readonly absent?: string
  /** What it means to leave the field out in code, where that is not what it means in files. */
  readonly absentInCode?: string
  /** The part that it belongs to needs it, or another one in its place. */
  readonly isRequired?: true
  /** Values that are right, as files have them. */
  readonly examples: readonly Json[]
  readonly inStep?: StepWords
  /** An example in TypeScript, of a field that only code can have. */
  readonly code?: string
  readonly flag?: PolicyFlag
}

/** As the library bounds them. */
export const MAX_ITEMS = 1000
const MAX_COUNT = 1_000_000

const anyText: TextShape = text(undefined, { mayBeBlank: true, isFree: true })

/** The name of a budget or the key of a breaker; blanks around it do not count. */
export const gateName: TextShape = text(undefined, {
  mayBeBlank: true,
  isFree: true,
  libraryPattern: '^\\s*[^\\p{Cc}\\p{Cs}]{0,200}\\s*$',
})

const NO_LIMIT = { absent: 'no limit' }
const NONE = { absent: 'none' }
const REQUIRED = { isRequired: true } as const

export const POLICY_FIELDS: readonly PolicyField[] = [
  row('attempts', 'How many attempts at most, the first included; 1 is no retry.', whole(1, 1000), [5], {
    note: 'From 1 to 1000; hedges come on top.',
    default: 3,
    inStep: { note: '' },
    flag: { value: '<n>' },
  }),
  row(
    'backoff',
    'How the wait grows from attempt to attempt.',
    undefined,
    ['exponential', { exponential: { base: 3 } }],
    {
      note: '`fixed`, `linear`, `exponential` or `fibonacci`; with fields, also `custom`.',
      default: 'exponential',
      inStep: { note: '' },
      flag: { value: '<word>', choices: ['fixed', 'linear', 'exponential', 'fibonacci'] },
    },
  ),
  row('backoff.increment', 'What `linear` adds to the wait after each failure.', duration, ['2s'], {
    absent: 'the initial delay',
  }),
  row(
    'backoff.base',
    'What `exponential` multiplies the wait by after each failure.',
    { kind: 'number', isWhole: false, least: 0, isAbove: true, most: Number.MAX_SAFE_INTEGER },
    [3],
    { default: 2 },
  ),
  row(
    'backoff.delays',
    'The waits of `custom`, one by one; after the last of them the longest wait.',
    list(duration, 1, { most: MAX_ITEMS }),
    [['1s', '5s', '30s']],
    REQUIRED,
  ),
  row(
    'backoff.formula',
    'The wait of `custom` in milliseconds: arithmetic over `attempt`, `initial`, `max` and `previous`.',
    anyText,
    ['initial * attempt ^ 2'],
    REQUIRED,
  ),
  row('initialDelay', 'The first wait.', duration, ['500ms'], { default: '1s', flag: { value: '<time>' } }),
  row('maxDelay', 'The longest wait, before jitter.', duration, ['1m'], { default: '30s', flag: { value: '<time>' } }),
  row(
    'jitter',
    'Randomness in the waits.',
    { kind: 'either', of: [flag, words('proportional', 'full', 'equal', 'decorrelated', 'none')] },
    ['full', true],
    {
      note:
        'Clients that failed together do not retry together with it: `proportional` (also `true`), `full`, `equal`, ' +
        '`decorrelated` or `none` (also `false`).',
      default: false,
      absentInCode: '`full`; `none` where `backoff` is `fixed` or `custom`',
      inStep: {
        note: 'Clients that failed together do not retry together with it; `true` is `proportional`, `false` is `none`.',
      },
      flag: {
        value: '[word]',
        note: '; without a word it is full',
        choices: ['none', 'full', 'equal', 'decorrelated', 'proportional'],
      },
    },
  ),
  row(
    'jitterFactor',
    'Width of `proportional` jitter as a share of the wait, half of it on each side.',
    { kind: 'number', isWhole: false, least: 0, most: 1 },
    [0.5],
    { default: 0.3 },
  ),
  row(
    'retryOn',
    'Which failures to retry: those that fit at least one of the matchers.',
    undefined,
    [['network', 'timeout', '5xx', 'exit:75']],
    {
      note: 'An empty list is every failure.',
      default: [],
      flag: {
        value: '<matchers>',
        note: ', separated by commas: network, timeout, 5xx, rate_limit, exit:75 (default: all)',
      },
    },
  ),
  row(
    'retryOn.pattern',
    'A regular expression over the message or the output; `(?i)` in front ignores case.',
    anyText,
    ['(?i)deadlock'],
    { note: 'Neither back-references nor look-around: it runs in linear time.', ...REQUIRED },
  ),
  row(
    'retryOn.exitCode',
    'Exit codes of a command: one, or a list.',
    { kind: 'either', of: [whole(1, 255), list(whole(1, 255), 1, { most: MAX_ITEMS })] },
    [[75, 111]],
    REQUIRED,
  ),
  row('maxTotalDelay', 'Limit of all waits together.', duration, ['2m'], {
    note: 'A wait that would exceed it is not begun.',
    inFiles: 'retryBudget',
    ...NO_LIMIT,
    flag: { value: '<time>' },
  }),
  row('retryBudget', 'Another name of `maxTotalDelay`, as files have it.', undefined, [], {
    note: 'Both may be given if they say the same.',
    ...NO_LIMIT,
    code: "retryBudget: '2m'",
  }),
  row('attemptTimeout', 'Limit of one attempt.', duration, ['30s'], {
    note: 'Exceeding it is a failure of kind `timeout`, which may be retried.',
    ...NO_LIMIT,
    flag: { value: '<time>' },
  }),
  row('timeout', 'Limit of all attempts and waits together.', duration, ['10m'], {
    note: 'Exceeding it ends the call.',
    ...NO_LIMIT,
    inStep: { note: 'Exceeding it is the end of the step.' },
    flag: { value: '<time>' },
  }),
  row(
    'maxRetryAfter',
    'The longest `Retry-After` of a server that is obeyed; a longer one stops the call.',
    duration,
    ['5m'],
    { default: '60s' },
  ),
  row(
    'budget',
    'A shared budget that is asked before each attempt: its name, or its name and the cost.',
    undefined,
    ['api', { name: 'api', cost: 2 }],
    {
      ...NONE,
      inStep: { doc: 'A budget declared under `budgets`, asked before each attempt: its name, or also the cost.' },
    },
  ),
  row('budget.name', 'The name of the budget; blank is none.', gateName, ['api'], REQUIRED),
  row(
    'budget.cost',
    'What an attempt costs, 1 or more.',
    { kind: 'number', isWhole: false, least: -MAX_COUNT, most: MAX_COUNT },
    [2],
    { default: 1 },
  ),
  row(
    'breaker',
    'A circuit breaker, which refuses attempts for a while after a number of failures in a row.',
    undefined,
    [{ failure_threshold: 5 }],
    {
      ...NONE,
      inStep: {
        doc: 'The name of a circuit breaker declared under `breakers`, or the fields of one of its own.',
        examples: ['warehouse', { failure_threshold: 5 }],
      },
    },
  ),
  row('breaker.key', 'Calls whose breakers have the same key share one breaker.', gateName, ['mail'], {
    absent: 'the key of the call; with `retry()` each policy object has its own breaker',
    inStep: {
      doc: 'Steps whose breakers have the same key share one breaker.',
      absent: 'the name of the workflow, `/` and the id of the step',
    },
  }),
  row('breaker.failureThreshold', 'Failures in a row that open it.', whole(1, MAX_COUNT), [3], { default: 5 }),
  row('breaker.recoveryTimeout', 'How long it stays open before it lets a probe through.', duration, ['20s'], {
    default: '30s',
  }),
  row('breaker.halfOpenMaxCalls', 'Probes at a time, and successes that close it.', whole(1, MAX_COUNT), [2], {
    default: 1,
  }),
  row('hedge', 'Copies of a slow attempt beside it: the first result counts.', undefined, [{ delay: '500ms' }], {
    note: 'Within a process only: refused in workflows and in durable tasks.',
    ...NONE,
  }),
  row('hedge.delay', 'After how long the next copy starts; this or a percentile.', duration, ['500ms'], {
    absent: 'the percentile says it',
  }),
  row(
    'hedge.percentile',
    'The same as a percentile of past latencies, between 0 and 100.',
    { kind: 'number', isWhole: false, least: 0, isAbove: true, most: 100, isBelow: true },
    [95],
    { absent: 'the delay says it' },
  ),
  row('hedge.maxHedges', 'Copies beside one attempt, at most 3.', whole(1, Number.MAX_SAFE_INTEGER), [2], {
    default: 1,
  }),
  row(
    'hedge.cancelOnFirstTerminal',
    'Whether the first failure that is not retryable ends the other copies.',
    flag,
    [true],
    { default: false },
  ),
  row(
    'hedge.budget',
    "A budget of the hedges' own; `share` for the retry's, `{name, share: true}` for both.",
    undefined,
    ['hedges'],
    NONE,
  ),
  row('hedge.budget.share', "Whether the retry's budget is asked as well.", flag, [true], { default: false }),
  row('failIf', 'Makes a result a failure, a `ResultError` with the value, where it answers true.', undefined, [], {
    absent: 'a result is a success',
    code: 'failIf: (response) => response.status === 503',
  }),
]

function row(
  name: string,
  doc: string,
  shape: Shape | undefined,
  examples: readonly Json[],
  more: Omit<PolicyField, 'name' | 'doc' | 'shape' | 'examples'>,
): PolicyField {
  return { name, doc, ...(shape !== undefined && { shape }), examples, ...more }
}

/** `breaker.failure_threshold`. */
export function nameInFiles({ name, inFiles = name }: PolicyField): string {
  return snakeCase(inFiles)
}

/** What holds where the field is left out, as the references say it; undefined for a field that must be given. */
export function defaultText({ default: value, absent, shape }: PolicyField): string | undefined {
  if (value === undefined) return absent
  if (typeof value === 'string') return shape?.kind === 'duration' ? value : `\`${value}\``
  return JSON.stringify(value)
}
