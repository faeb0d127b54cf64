/**
 * The types of budgets that files and flags can name, with the options of each. The rules for their values are the
 * library's own: an option is tried, not checked a second time. Imports the library.
 */
import {
  adaptiveBudget,
  type Budget,
  BudgetError,
  concurrencyBudget,
  countBudget,
  normalizePolicy,
  PolicyError,
  ratioBudget,
  tokenBucket,
  unlimited,
} from 'reprise'

/** By the library's names, in camelCase. */
export type BudgetOptions = Readonly<Record<string, unknown>>

interface BudgetKind {
  readonly make: (options: BudgetOptions) => Budget
  /** Every option with a value that is right. */
  readonly examples: BudgetOptions
  readonly required: readonly string[]
}

/** Options are checked by what makes the budget, whatever they are. */
function kind(make: (options: never) => Budget, examples: BudgetOptions, required: readonly string[] = []): BudgetKind {
  return { make: make as BudgetKind['make'], examples, required }
}

const BUDGET_KINDS = {
  unlimited: kind(() => unlimited(), {}),
  token_bucket: kind(tokenBucket, { capacity: 100, refillPerSecond: 10, chargeFirstAttempt: false }, [
    'capacity',
    'refillPerSecond',
  ]),
  ratio: kind(ratioBudget, { ratio: 0.1, minPerSecond: 1, window: '10s' }),
  count: kind(countBudget, { total: 20, perKey: 3 }, ['total']),
  concurrency: kind(concurrencyBudget, { max: 10 }, ['max']),
  adaptive: kind(adaptiveBudget, { bulkhead: true, strict: false, maxPark: '30s', maxParked: 10_000 }),
} satisfies Readonly<Record<string, BudgetKind>>

export type BudgetType = keyof typeof BUDGET_KINDS
export const BUDGET_TYPES = Object.keys(BUDGET_KINDS) as readonly BudgetType[]

export function kindOf(type: BudgetType): BudgetKind {
  return BUDGET_KINDS[type]
}

/** What is wrong with the value of an option, if anything is. */
export function faultOf(type: BudgetType, option: string, value: unknown): string | undefined {
  const { make, examples } = kindOf(type)
  // In a file a duration has a unit, here as in a policy.
  const isDuration = /^\d+s$/.test(String(examples[option]))
  try {
    if (isDuration) normalizePolicy({ timeout: value }, { needsUnits: true })
    make({ ...examples, [option]: value })
  } catch (error) {
    if (error instanceof PolicyError) return error.problems[0]?.message
    // It begins with the names of the budget and the option.
    if (error instanceof BudgetError) return error.message.replace(/^\w+(?: \w+)?: /, '')
    throw error
  }
  return undefined
}
