/**
 * The types of budgets that files and flags can name, with the options of each. The rules for their values are the
 * library's own: an option is tried, not checked a second time. Imports the library and the shapes.
 */
import {
  adaptiveBudget,
  type Budget,
  concurrencyBudget,
  countBudget,
  isRepriseError,
  ratioBudget,
  tokenBucket,
  unlimited,
} from 'reprise'
import { faultOfDuration } from './duration-fault.js'
import { faultOfNumber } from './number-fault.js'
import { duration, type Field, field, flag, type NumberShape, whole } from './shape.js'

/** By the library's names, in camelCase. */
export type BudgetOptions = Readonly<Record<string, unknown>>

interface BudgetKind {
  readonly make: (options: BudgetOptions) => Budget
  readonly doc: string
  /** By the library's names, each with an example that is right. */
  readonly options: readonly Field[]
  readonly required: readonly string[]
}

const amount: NumberShape = { kind: 'number', isWhole: false, least: 0 }

/** Options are checked by what makes the budget, whatever they are. */
function kind(make: (options: never) => Budget, doc: string, ...options: readonly Field[]): BudgetKind {
  const required = options.filter(({ default: fallback }) => fallback === undefined).map(({ name }) => name)
  return { make: make as BudgetKind['make'], doc, options, required }
}

const BUDGET_KINDS = {
  unlimited: kind(() => unlimited(), 'Always allows: a name to hand out before limits are known.'),
  token_bucket: kind(
    tokenBucket,
    'A bucket of tokens that is refilled all the time.',
    field('capacity', { ...amount, isAbove: true }, 'Tokens that it holds when full.', { examples: [100] }),
    field('refillPerSecond', amount, 'Tokens that flow in.', { examples: [10] }),
    field('chargeFirstAttempt', flag, 'Whether first attempts pay as well.', { default: 'true', examples: [false] }),
  ),
  ratio: kind(
    ratioBudget,
    'Retries as a share of the calls that are made.',
    field('ratio', amount, 'Retries for each call.', { default: '0.1', examples: [0.1] }),
    field('minPerSecond', amount, 'Retries that are allowed however few the calls.', { default: '1', examples: [1] }),
    field('window', { ...duration, isAboveZero: true }, 'How far it looks back.', {
      default: '10s',
      examples: ['10s'],
    }),
  ),
  count: kind(
    countBudget,
    'A number of retries that is never refilled.',
    field('total', whole(0), 'Retries in all.', { examples: [20] }),
    field('perKey', whole(0), 'Retries of one step.', { default: 'no limit', examples: [3] }),
  ),
  concurrency: kind(
    concurrencyBudget,
    'A number of attempts at a time.',
    field('max', whole(1), 'Attempts that may run at a time.', { examples: [10] }),
  ),
  adaptive: kind(
    adaptiveBudget,
    'Learns from successes what the other side can bear: the one to start with.',
    field('bulkhead', flag, 'Limits what is in flight too, first attempts included.', {
      default: 'false',
      examples: [true],
    }),
    field(
      'strict',
      flag,
      'Keeps no credit while no attempt waits for it, so that no retry is made at the start of an outage.',
      {
        default: 'false',
        examples: [false],
      },
    ),
    field('maxPark', duration, 'How long an attempt may wait in the queue.', { default: '30s', examples: ['30s'] }),
    field('maxParked', whole(0), 'How many attempts may wait in the queue.', { default: '10000', examples: [10_000] }),
  ),
} satisfies Readonly<Record<string, BudgetKind>>

export type BudgetType = keyof typeof BUDGET_KINDS
export const BUDGET_TYPES = Object.keys(BUDGET_KINDS) as readonly BudgetType[]

export function kindOf(type: BudgetType): BudgetKind {
  return BUDGET_KINDS[type]
}

/** Every option of a type with a value that is right. */
export function examplesOf(type: BudgetType): BudgetOptions {
  return Object.fromEntries(kindOf(type).options.map(({ name, examples }) => [name, examples?.[0]]))
}

/** What is wrong with the value of an option, if anything is. */
export function faultOf(type: BudgetType, option: string, value: unknown): string | undefined {
  const { make, options } = kindOf(type)
  const isDuration = options.find(({ name }) => name === option)?.shape.kind === 'duration'
  // In a file a duration has a unit, here as in a policy.
  const fault = isDuration ? faultOfDuration(value) : undefined
  if (fault !== undefined) return fault
  const tooLarge = Number.isFinite(value) ? faultOfNumber(value) : undefined
  if (tooLarge !== undefined) return `${String(value)} ${tooLarge}`
  try {
    make({ ...examplesOf(type), [option]: value })
  } catch (error) {
    if (isRepriseError(error, 'invalid_options')) return error.problems.find(({ path }) => path === option)?.message
    throw error
  }
  return undefined
}
