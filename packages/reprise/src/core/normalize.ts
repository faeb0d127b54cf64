/**
 * From what people write to a policy: one schema for camelCase and snake_case, every default filled in, every duration
 * in milliseconds, everything frozen.
 *
 * Invariants: all problems are told at once; what is only odd is a note; a policy that came out passes through
 * unchanged. Imports core only.
 */
import { formatDuration } from './duration.js'
import { PolicyError } from './errors.js'
import { duration, entriesOf, list, numeric, readFields, typed, word, whole, type Schema } from './fields.js'
import { finishBackoff, readBackoff, type BackoffDraft } from './normalize-backoff.js'
import { readBreaker, readBudget, readHedge, readMatcher } from './normalize-parts.js'
import type { Jitter, Policy } from './policy.js'
import { Place, type Report } from './problems.js'

/** Options of `normalizePolicy`. */
export interface NormalizeOptions {
  /**
   * The jitter of a policy that does not name one. The default is that of files. Functions that take a policy in code, such
   * as `retry`, have `full`, unless the backoff is `fixed` or `custom`.
   * @default 'none'
   * @example { defaultJitter: 'full' }
   */
  readonly defaultJitter?: Jitter
  /**
   * Whether durations need a unit, as in files: then a number is refused.
   * @default false
   * @example { needsUnits: true }
   */
  readonly needsUnits?: boolean
}

/** A checked policy, and what is odd about it. */
export interface NormalizedPolicy {
  /** The policy, frozen, every default filled in. */
  readonly policy: Policy
  /** Sentences on what is allowed but odd, and on what was clamped. */
  readonly notes: readonly string[]
}

/** Of policies that are given in code: nothing said about jitter means `full`, but not where the waits are spelt out. */
export const IN_CODE: NormalizeOptions = { defaultJitter: 'full' }

const normalized = /* @__PURE__ */ new WeakMap<object, NormalizedPolicy>()

const JITTERS = ['proportional', 'full', 'equal', 'decorrelated', 'none'] as const
const DEFAULT_MAX_DELAY_MS = 30_000
const COUNTS = "counts are `error_policy.max_retries` or a job's `retry_budget`"

interface PolicyDraft extends Omit<Policy, 'backoff' | 'jitter'> {
  readonly backoff: BackoffDraft
  readonly jitter: Jitter | undefined
  /** TypeScript's name of `retryBudget`. */
  readonly maxTotalDelayMs?: number
  readonly onFailure?: never
}

const POLICY: Schema<PolicyDraft> = {
  attempts: [(value, place) => whole(value, place, 1, 1000), 3],
  backoff: [readBackoff, { type: 'exponential', base: 2 }],
  initialDelayMs: [duration, 1000],
  maxDelayMs: [duration, DEFAULT_MAX_DELAY_MS],
  jitter: [readJitter, undefined],
  jitterFactor: [(value, place) => numeric(value, place, (n) => n >= 0 && n <= 1, 'a number from 0 to 1'), 0.3],
  retryOn: [(value, place) => list(value, place, 0, readMatcher), []],
  retryBudgetMs: [readRetryBudget, undefined],
  maxTotalDelayMs: [readMaxTotalDelay],
  attemptTimeoutMs: [duration, undefined],
  timeoutMs: [duration, undefined],
  maxRetryAfterMs: [duration, 60_000],
  budget: [readBudget, undefined],
  breaker: [readBreaker, undefined],
  hedge: [readHedge, undefined],
  failIf: [(value, place) => typed(value, place, 'function'), undefined],
  onFailure: [(_, place) => place.fail('is not part of a policy', 'it belongs to a workflow step')],
}

/** Whether a policy as TypeScript writes it has a field of this name. */
export function isPolicyField(name: string): boolean {
  return name !== 'onFailure' && (Object.hasOwn(POLICY, name) || Object.hasOwn(POLICY, `${name}Ms`))
}

function readJitter(value: unknown, place: Place): Jitter | undefined {
  if (typeof value === 'boolean') return value ? 'proportional' : 'none'
  return word(value, place, JITTERS, ', true, false')
}

function readRetryBudget(value: unknown, place: Place): number | undefined {
  return duration(value, place, typeof value === 'number' ? COUNTS : undefined)
}

function readMaxTotalDelay(value: unknown, place: Place): number | undefined {
  const isFile = place.report.needsUnits === true || place.path.includes('_')
  return isFile ? place.fail('unknown field', 'in a file it is `retry_budget`') : duration(value, place)
}

/** One limit under both of its names, which may only say the same. */
function totalDelayOf(
  maxTotalDelayMs: number | undefined,
  retryBudgetMs: number | undefined,
  place: Place,
): number | undefined {
  const limitMs = maxTotalDelayMs ?? retryBudgetMs
  if (limitMs !== (retryBudgetMs ?? limitMs)) {
    place.at('maxTotalDelay').fail('is not what `retryBudget` says, its other name', 'leave out one of the two')
  }
  return limitMs
}

/**
 * Checks a policy and fills in its defaults. A number is a number of attempts, `false` one attempt; fields may be in
 * camelCase or snake_case. Throws a `PolicyError` that names every problem.
 * @example const { policy, notes } = normalizePolicy({ attempts: 5, initialDelay: '500ms' })
 */
export function normalizePolicy(input: unknown, options: NormalizeOptions = {}): NormalizedPolicy {
  const done = normalized.get(input as object)
  if (done !== undefined) return done
  const report: Report = { problems: [], notes: [], needsUnits: options.needsUnits === true }
  const place = new Place('', report)
  const attempts = input === false ? 1 : input
  const entries = typeof attempts === 'number' ? new Map([['attempts', attempts]]) : entriesOf(input, place)
  const { maxTotalDelayMs, ...draft } = readFields(entries, place, POLICY)
  const retryBudgetMs = totalDelayOf(maxTotalDelayMs, draft.retryBudgetMs, place)
  if (report.problems.length > 0) throw new PolicyError(report.problems)
  noteOddities(draft, place)
  const backoff = finishBackoff(draft.backoff, draft.initialDelayMs)
  const isSpeltOut = options === IN_CODE && (backoff.type === 'fixed' || backoff.type === 'custom')
  const jitter = draft.jitter ?? (isSpeltOut ? 'none' : (options.defaultJitter ?? 'none'))
  const policy = Object.freeze({ ...draft, backoff, jitter, retryBudgetMs })
  const result = Object.freeze({ policy, notes: Object.freeze(report.notes) })
  normalized.set(policy, result)
  return result
}

function noteOddities(policy: PolicyDraft, place: Place): void {
  const { initialDelayMs, maxDelayMs, budget, hedge } = policy
  if (maxDelayMs < initialDelayMs) {
    const [max, initial] = [formatDuration(maxDelayMs), formatDuration(initialDelayMs)]
    const isDefault = maxDelayMs === DEFAULT_MAX_DELAY_MS ? ', the default,' : ''
    place.note(
      `The maximum delay ${max}${isDefault} is below the initial delay ${initial} and cuts it: raise it to ${initial}.`,
    )
  }
  if (budget && hedge && !hedge.budget && !hedge.shareBudget) {
    place.note(`Retries ask budget ${budget.name}, but hedges ask none: give the hedge a budget, or share.`)
  }
}
