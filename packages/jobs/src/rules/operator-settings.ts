/**
 * What the operator of a ledger allows jobs: defaults and limits, read from the environment at start-up. Settings that
 * contradict each other are refused then, and not when a job meets them. Pure. Imports the library.
 */
import { type OptionProblem, OptionsError } from 'reprise'
import { MAX_COUNT } from './field-readers.js'

export const LATE_RESULT_POLICIES = ['log_only', 'update_result'] as const

/** What a result means that arrives after the job has completed. */
export type LateResultPolicy = (typeof LATE_RESULT_POLICIES)[number]

/** Defaults and limits for every job of a ledger. */
export interface OperatorSettings {
  /** Retries of a job that asks for no number. */
  readonly retryBudgetDefault: number
  /** The most retries of a job. */
  readonly retryBudgetMax: number
  /** Retries of one workflow, where the job asks for no number. */
  readonly retryBudgetPerWorkflowDefault: number
  /** The most retries of one workflow. */
  readonly retryBudgetPerWorkflowMax: number
  /** The minimum of datacenters, where the job asks for none. */
  readonly minDcsDefault: number
  /** The deadline, where the job asks for none. */
  readonly deadlineDefaultMs: number
  /** The longest deadline. */
  readonly deadlineMaxMs: number
  /** What a late result means, where the job does not say. */
  readonly lateResultPolicy: LateResultPolicy
  /** How often a job is looked at beside its timers. */
  readonly checkIntervalMs: number
}

/** The policy of a job's workflow has room for 1 000 attempts, the first of which is no retry. */
const MAX_PER_WORKFLOW = 999

type Key = keyof OperatorSettings
type Environment = Readonly<Record<string, string | undefined>>

interface Setting {
  readonly variable: string
  readonly unit: 'count' | 'seconds'
  readonly value: number
  readonly least: number
  readonly most: number
}

const YEAR_MS = 365 * 86_400_000

function count(variable: string, value: number, least = 0, most = MAX_COUNT): Setting {
  return { variable, unit: 'count', value, least, most }
}

/** The shortest is a millisecond: no timer is finer. */
function seconds(variable: string, value: number): Setting {
  return { variable, unit: 'seconds', value: value * 1000, least: 1, most: YEAR_MS }
}

const SETTINGS: Readonly<Record<Exclude<Key, 'lateResultPolicy'>, Setting>> = {
  retryBudgetDefault: count('RETRY_BUDGET_DEFAULT', 20),
  retryBudgetMax: count('RETRY_BUDGET_MAX', 50),
  retryBudgetPerWorkflowDefault: count('RETRY_BUDGET_PER_WORKFLOW_DEFAULT', 3, 0, MAX_PER_WORKFLOW),
  retryBudgetPerWorkflowMax: count('RETRY_BUDGET_PER_WORKFLOW_MAX', 5, 0, MAX_PER_WORKFLOW),
  minDcsDefault: count('BEST_EFFORT_DEFAULT_MIN_DCS', 1, 1),
  deadlineDefaultMs: seconds('BEST_EFFORT_DEFAULT_DEADLINE_SECONDS', 300),
  deadlineMaxMs: seconds('BEST_EFFORT_DEADLINE_MAX_SECONDS', 3600),
  checkIntervalMs: seconds('BEST_EFFORT_CHECK_INTERVAL_SECONDS', 5),
}

const LATE_POLICY_VARIABLE = 'BEST_EFFORT_LATE_RESULT_POLICY'

/** `[smaller, larger]`: the first may not exceed the second. */
const ORDERED: readonly (readonly [keyof typeof SETTINGS, keyof typeof SETTINGS])[] = [
  ['retryBudgetDefault', 'retryBudgetMax'],
  ['retryBudgetPerWorkflowDefault', 'retryBudgetPerWorkflowMax'],
  ['deadlineDefaultMs', 'deadlineMaxMs'],
  ['checkIntervalMs', 'deadlineDefaultMs'],
]

/** The variables that `readOperatorSettings` reads, in the order in which they are documented. */
export const OPERATOR_VARIABLES: readonly string[] = [
  ...Object.values(SETTINGS).map(({ variable }) => variable),
  LATE_POLICY_VARIABLE,
]

/** Settings of an environment in which no variable is set. */
export const DEFAULT_OPERATOR_SETTINGS: OperatorSettings = readOperatorSettings({})

/**
 * Throws an `OptionsError` that names every variable that is wrong. A variable that is not set, or is empty, has its
 * default, lowered where a variable that is set makes the usual default impossible.
 */
export function readOperatorSettings(env: Environment): OperatorSettings {
  const problems: OptionProblem[] = []
  const values = {} as Record<keyof typeof SETTINGS, number>
  const isSet = (key: keyof typeof SETTINGS): boolean => (env[SETTINGS[key].variable] ?? '').trim() !== ''
  for (const [key, setting] of Object.entries(SETTINGS)) {
    const name = key as keyof typeof SETTINGS
    values[name] = isSet(name) ? readNumber(setting, env[setting.variable] ?? '', problems) : setting.value
  }
  for (const [smaller, larger] of ORDERED) {
    if (values[smaller] <= values[larger]) continue
    if (!isSet(smaller)) values[smaller] = values[larger]
    else if (!isSet(larger) && larger === 'deadlineDefaultMs')
      values[larger] = Math.min(values[smaller], values.deadlineMaxMs)
    if (values[smaller] > values[larger]) problems.push(contradiction(smaller, larger, values))
  }
  const word = env[LATE_POLICY_VARIABLE]?.trim() || 'log_only'
  if (!isLatePolicy(word)) {
    const message = `${JSON.stringify(word)} is not ${LATE_RESULT_POLICIES.join(' or ')}`
    problems.push({ path: LATE_POLICY_VARIABLE, message })
  }
  if (problems.length > 0) throw new OptionsError('the environment', problems)
  return Object.freeze({ ...values, lateResultPolicy: word as LateResultPolicy })
}

function isLatePolicy(word: string): word is LateResultPolicy {
  return (LATE_RESULT_POLICIES as readonly string[]).includes(word)
}

function readNumber({ variable, unit, value, least, most }: Setting, text: string, problems: OptionProblem[]): number {
  const scale = unit === 'seconds' ? 1000 : 1
  // `Number` alone would read '' and '0x10' as well.
  const number = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) * scale : Number.NaN
  const isWhole = unit === 'seconds' || Number.isInteger(number)
  if (isWhole && number >= least && number <= most) return number
  const kind = unit === 'seconds' ? 'a number of seconds' : 'a whole number'
  problems.push({
    path: variable,
    message: `${JSON.stringify(text)} is not ${kind} from ${least / scale} to ${most / scale}`,
  })
  return value
}

function contradiction(
  smaller: keyof typeof SETTINGS,
  larger: keyof typeof SETTINGS,
  values: Readonly<Record<keyof typeof SETTINGS, number>>,
): OptionProblem {
  const [a, b] = [SETTINGS[smaller], SETTINGS[larger]]
  const scale = a.unit === 'seconds' ? 1000 : 1
  return {
    path: a.variable,
    message: `${values[smaller] / scale} is more than ${b.variable}, which is ${values[larger] / scale}`,
  }
}

/**
 * The stricter of two settings, value by value: smaller budgets and deadlines, a larger minimum of datacenters, results
 * that stay as they are. What neither side contradicts in itself, the answer does not either.
 */
export function stricterOf(a: OperatorSettings, b: OperatorSettings): OperatorSettings {
  const lower = (key: Exclude<Key, 'lateResultPolicy'>): number => Math.min(a[key], b[key])
  return Object.freeze({
    retryBudgetDefault: lower('retryBudgetDefault'),
    retryBudgetMax: lower('retryBudgetMax'),
    retryBudgetPerWorkflowDefault: lower('retryBudgetPerWorkflowDefault'),
    retryBudgetPerWorkflowMax: lower('retryBudgetPerWorkflowMax'),
    minDcsDefault: Math.max(a.minDcsDefault, b.minDcsDefault),
    deadlineDefaultMs: lower('deadlineDefaultMs'),
    deadlineMaxMs: lower('deadlineMaxMs'),
    lateResultPolicy: a.lateResultPolicy === 'log_only' ? a.lateResultPolicy : b.lateResultPolicy,
    checkIntervalMs: lower('checkIntervalMs'),
  })
}
