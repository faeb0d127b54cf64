/**
 * A policy, or some fields of one, as flags give it. Imports the library, the values of flags and budgets.
 */
import { type BudgetDefinition, InputError, kebabCase, readBudgetFlag } from '@reprise/workflow'
import { type Jitter, normalizePolicy, PolicyError, type PolicyInput } from 'reprise'
import { FlagReader } from './flag-values.js'

/** As commander hands them over. */
export interface PolicyFlagTexts {
  readonly attempts?: string
  readonly backoff?: string
  readonly initialDelay?: string
  readonly maxDelay?: string
  readonly jitter?: string
  readonly attemptTimeout?: string
  readonly timeout?: string
  readonly budget?: string
}

export interface PolicyFlags {
  /** Only what was given. */
  readonly fields: PolicyInput
  readonly budget: BudgetDefinition | undefined
  /** Whether they say how to retry, rather than only how long callers wait. */
  readonly isPolicy: boolean
}

const LIMITS = ['attemptTimeout', 'timeout']

/** Names and what they are for, as help shows them. */
export const POLICY_FLAGS = [
  ['--attempts <n>', 'the first attempt and its retries'],
  ['--backoff <word>', 'fixed, linear, exponential or fibonacci'],
  ['--initial-delay <time>', 'the first wait'],
  ['--max-delay <time>', 'the longest wait'],
  ['--jitter <word>', 'none, full, equal, decorrelated or proportional'],
  ['--attempt-timeout <time>', 'limit of one attempt'],
  ['--timeout <time>', 'limit of a call with all its attempts'],
  ['--budget <type>', "a budget for every client: adaptive, ratio, …; or '{type: adaptive, bulkhead: true}'"],
] as const

/** Throws every problem at once. */
export function readPolicyFlags(texts: PolicyFlagTexts): PolicyFlags {
  const reader = new FlagReader()
  const { attempts, backoff, jitter, budget: budgetText, ...durations } = texts
  const fields = withoutUndefined({
    attempts: reader.number('--attempts', attempts),
    backoff,
    initialDelay: reader.duration('--initial-delay', durations.initialDelay),
    maxDelay: reader.duration('--max-delay', durations.maxDelay),
    jitter: readJitter(jitter),
    attemptTimeout: reader.duration('--attempt-timeout', durations.attemptTimeout),
    timeout: reader.duration('--timeout', durations.timeout),
  })
  checkRanges(fields, reader)
  const budget = budgetText === undefined ? undefined : readBudget(budgetText, reader)
  if (reader.problems.length > 0) throw new InputError(reader.problems)
  const isPolicy = budget !== undefined || Object.keys(fields).some((name) => !LIMITS.includes(name))
  return { fields, budget, isPolicy }
}

/** `none` is what people call the absence of it. */
function readJitter(text: string | undefined): PolicyInput['jitter'] {
  if (text === 'none' || text === 'false') return false
  return text === 'true' ? true : (text as Exclude<Jitter, 'none'> | undefined)
}

function checkRanges(fields: PolicyInput, reader: FlagReader): void {
  try {
    normalizePolicy(fields)
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error
    for (const { path, message, suggestion } of error.problems) {
      reader.fail(`--${kebabCase(path)}`, message, suggestion)
    }
  }
}

function readBudget(text: string, reader: FlagReader): BudgetDefinition | undefined {
  try {
    return readBudgetFlag('--budget', text)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    reader.problems.push(...error.problems)
    return undefined
  }
}

function withoutUndefined(fields: Readonly<Record<string, unknown>>): PolicyInput {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
