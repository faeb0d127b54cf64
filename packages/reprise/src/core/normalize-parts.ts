/**
 * The parts of a policy that are objects of their own: matchers, the reference to a budget, breaker and hedge.
 * Imports core only.
 */
import { duration, entriesOf, list, numeric, readFields, typed, whole, word, type Schema } from './fields.js'
import { isBudget } from './gate.js'
import { compilePattern } from './pattern.js'
import { MATCHER_WORDS, type BreakerPolicy, type BudgetRef, type HedgePolicy, type Matcher } from './policy.js'
import type { Place } from './problems.js'

/** Nobody counts further; refuses what a number can no longer tell apart. */
const MAX_COUNT = 1_000_000

// ── matchers ─────────────────────────────────────────────────────────────────────────────────────

const MATCHER: Schema<{ pattern?: string; exitCode?: readonly number[] }> = {
  pattern: [readPattern],
  exitCode: [readExitCodes],
}

export function readMatcher(value: unknown, place: Place): Matcher | undefined {
  if (typeof value === 'function') return value as Matcher
  if (typeof value === 'object') {
    return Object.freeze(readFields(entriesOf(value, place), place, MATCHER, ['pattern', 'exitCode'])) as Matcher
  }
  const exitCode = typeof value === 'string' ? EXIT_WORD.exec(value)?.[1] : undefined
  if (exitCode !== undefined) return readExitWord(Number(exitCode), place)
  return word(value === '5xx' ? 'server_error' : value, place, MATCHER_WORDS, MATCHER_FORMS)
}

/** `exit:75` is short for `{exit_code: [75]}`: in a file as on the command line. */
const EXIT_WORD = /^exit:(0|-?[1-9]\d*)$/
const MATCHER_FORMS = ', 5xx, exit:N, {pattern}, {exit_code}'

function readExitWord(code: number, place: Place): Matcher | undefined {
  const exitCode = readExitCode(code, place)
  return exitCode === undefined ? undefined : Object.freeze({ exitCode: Object.freeze([exitCode]) })
}

function readExitCodes(value: unknown, place: Place): readonly number[] | undefined {
  return list(typeof value === 'number' ? [value] : value, place, 1, readExitCode)
}

/** Zero is success, and so never a failure to match. */
function readExitCode(value: unknown, place: Place): number | undefined {
  return whole(value, place, 1, 255)
}

function readPattern(value: unknown, place: Place): string | undefined {
  const source = typed<string>(value, place, 'string')
  try {
    if (source !== undefined) compilePattern(source)
    return source
  } catch (error) {
    return place.fail((error as Error).message)
  }
}

// ── budgets ──────────────────────────────────────────────────────────────────────────────────────

/** What is written of a budget; only a hedge's may share. */
interface Reference extends BudgetRef {
  readonly share?: boolean
}

/** Calls that name the same budget share it, so it is given once, beside the policies. */
const BY_NAME = "write `budget: 'api'`, and among the options `budgets: {api: …}`"
const BUDGET: Schema<BudgetRef> = { name: [readName], cost: [readCost, 1] }
const HEDGE_BUDGET: Schema<Reference> = { name: [readName], cost: [readCost, 1], share: [readBoolean] }

export function readBudget(value: unknown, place: Place): BudgetRef | undefined {
  return budgetOf(readReference(value, place, BUDGET))
}

function readHedgeBudget(value: unknown, place: Place): Reference {
  return value === 'share' ? { name: '', cost: 1, share: true } : readReference(value, place, HEDGE_BUDGET)
}

function readReference(value: unknown, place: Place, schema: Schema<BudgetRef>): Reference {
  if (isGivenBudget(value)) {
    place.fail('is a budget, not the name of one', BY_NAME)
    return { name: '', cost: 1 }
  }
  const entries = typeof value === 'string' ? new Map([['name', value]]) : entriesOf(value, place)
  if (entries?.has('name') === false) place.fail('needs a `name`')
  return readFields(entries, place, schema)
}

/** A proxy may throw. */
function isGivenBudget(value: unknown): boolean {
  try {
    return isBudget(value)
  } catch {
    return false
  }
}

/** A blank name is no budget. */
function budgetOf(reference: Reference | undefined): BudgetRef | undefined {
  return reference?.name ? Object.freeze({ name: reference.name, cost: reference.cost }) : undefined
}

/** As ids of tasks: any text that every store keeps as it is. */
const GATE_NAME = /^[^\p{Cc}\p{Cs}]{0,200}$/u

function readName(value: unknown, place: Place): string | undefined {
  const name = typed<string>(value, place, 'string')?.trim()
  if (name === undefined || GATE_NAME.test(name)) return name
  return place.fail('must be a text of at most 200 characters, without control characters and lone surrogates')
}

function readBoolean(value: unknown, place: Place): boolean | undefined {
  return typed(value, place, 'boolean')
}

function readCost(value: unknown, place: Place): number | undefined {
  const cost = numeric(value, place, (n) => Math.abs(n) <= MAX_COUNT, `a number from 1 to ${MAX_COUNT}`)
  return clamp(cost, 1, MAX_COUNT, place)
}

function clamp(value: number | undefined, least: number, most: number, place: Place): number | undefined {
  if (value === undefined) return undefined
  const clamped = Math.min(Math.max(value, least), most)
  if (clamped !== value) place.note(`${place.path} ${value} counts as ${clamped}.`)
  return clamped
}

// ── breaker and hedge ────────────────────────────────────────────────────────────────────────────

const BREAKER: Schema<BreakerPolicy> = {
  key: [(value, place) => readName(value, place) || undefined, undefined],
  failureThreshold: [readCount, 5],
  recoveryTimeoutMs: [duration, 30_000],
  halfOpenMaxCalls: [readCount, 1],
}

function readCount(value: unknown, place: Place): number | undefined {
  return whole(value, place, 1, MAX_COUNT)
}

export function readBreaker(value: unknown, place: Place): BreakerPolicy {
  return Object.freeze(readFields(entriesOf(value, place), place, BREAKER))
}

interface HedgeDraft extends Omit<HedgePolicy, 'budget' | 'shareBudget'> {
  readonly budget?: Reference
}

const HEDGE: Schema<HedgeDraft> = {
  delayMs: [duration, undefined],
  percentile: [readPercentile, undefined],
  maxHedges: [readMaxHedges, 1],
  cancelOnFirstTerminal: [readBoolean, false],
  budget: [readHedgeBudget],
}

/** More copies of a slow call than this help nobody. */
const MAX_HEDGES = 3

function readPercentile(value: unknown, place: Place): number | undefined {
  return numeric(value, place, (n) => n > 0 && n < 100, 'a number above 0 and below 100')
}

function readMaxHedges(value: unknown, place: Place): number | undefined {
  const isCount = (n: number): boolean => Number.isSafeInteger(n) && n > 0
  const hedges = numeric(value, place, isCount, `a whole number from 1 to ${MAX_HEDGES}`)
  return clamp(hedges, 1, MAX_HEDGES, place)
}

export function readHedge(value: unknown, place: Place): HedgePolicy {
  const { budget, ...hedge } = readFields(entriesOf(value, place), place, HEDGE, ['delayMs', 'percentile'])
  return Object.freeze({ ...hedge, budget: budgetOf(budget), shareBudget: budget?.share ?? false })
}
