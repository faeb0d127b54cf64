/**
 * Whether a failure is worth another attempt, by what the policy lists in `retryOn`.
 *
 * Invariants: anything at all may have been thrown, see failure-fields.ts; every text is searched in linear time. Only a
 * predicate of the policy may throw. Imports core only.
 */
import { expectAnswer } from './answer.js'
import { isRepriseError } from './errors.js'
import { errorsIn, errorText, exitCodeOf, readField, readText, statusesOf } from './failure-fields.js'
import { speaksOfNetwork, speaksOfRateLimit, speaksOfTimeout, statusesIn } from './failure-text.js'
import { compilePattern, type Pattern } from './pattern.js'
import type { FailureContext, Matcher, MatcherWord, Policy, RetryPredicate } from './policy.js'

interface Evidence {
  readonly text: string
  /** HTTP statuses of failure that fields state; those that the text gives, if there is none. */
  readonly statuses: readonly number[]
}

const WORDS: Record<MatcherWord, (evidence: Evidence) => boolean> = {
  network: ({ text }) => speaksOfNetwork(text),
  timeout: ({ text, statuses }) => speaksOfTimeout(text) || statuses.includes(408),
  server_error: ({ statuses }) => statuses.some((status) => status >= 500),
  rate_limit: ({ text, statuses }) => speaksOfRateLimit(text) || statuses.includes(429),
}

/** What `retryable` of an error says if the operation worked, and what it waits for is not there yet. */
const NOT_YET = 'not_yet'

const patterns = /* @__PURE__ */ new WeakMap<object, Pattern>()

/** Every matcher but predicates. */
type Sign = Exclude<Matcher, RetryPredicate>

/** What is asked of an error whether a matcher fits it. */
export type Judge = (error: unknown) => (sign: Sign) => boolean

/**
 * Whether the policy retries this failure. Without `retryOn` every failure is retried; else one matcher that fits is
 * enough. An error with `retryable: false` is never retried, one with `retryable: 'if_listed'` only if a matcher fits it, and
 * one with `retryable: 'not_yet'` always. An error thrown by a predicate is thrown on.
 * @example
 * const context = { key: 'price', attempt: 1, launch: 1, kind: 'retry' } as const
 * if (!isRetryable(policy, error, context)) throw error
 */
export function isRetryable(policy: Policy, error: unknown, context: FailureContext): boolean {
  return isRetryableBy(judgeByTexts, policy, error, context)
}

/** `isRetryable` with the meaning of matchers as an argument: `reprise/slim` has a smaller one. */
export function isRetryableBy(judge: Judge, policy: Policy, error: unknown, context: FailureContext): boolean {
  const { retryOn } = policy
  const said = readField(error, 'retryable')
  if (said === false || said === NOT_YET) return said === NOT_YET
  if (retryOn.length === 0) return said !== 'if_listed'
  const fits = judge(error)
  return retryOn.some((matcher) =>
    typeof matcher === 'function' ? expectAnswer(matcher(error, context), 'a predicate of retryOn') : fits(matcher),
  )
}

function judgeByTexts(error: unknown): (sign: Sign) => boolean {
  let evidence: Evidence | undefined
  return (sign) => {
    if (typeof sign === 'string') return WORDS[sign]((evidence ??= gather(error)))
    if ('pattern' in sign) return compiled(sign).test(errorText(error))
    const exitCode = exitCodeOf(error)
    return exitCode !== undefined && sign.exitCode.includes(exitCode)
  }
}

/** Whether the operation worked, and what it waits for is not there yet: no breaker counts that. */
export function isNotYet(error: unknown): boolean {
  return readField(error, 'retryable') === NOT_YET
}

function compiled(matcher: { readonly pattern: string }): Pattern {
  let pattern = patterns.get(matcher)
  if (!pattern) patterns.set(matcher, (pattern = compilePattern(matcher.pattern)))
  return pattern
}

/** What the error, its causes and the errors that it stands for say. */
function gather(error: unknown): Evidence {
  const errors = errorsIn(error)
  const text = errors.map(wording).join('\n')
  const stated = statusesOf(errors)
  return { text, statuses: stated.length > 0 ? stated : statusesIn(text) }
}

/** Of an error of this library only the code: its message speaks of keys and milliseconds. */
function wording(error: unknown): string {
  const code = `${readText(error, 'code')} ${readText(error, 'errno')}`
  try {
    // `attempt_timeout`, as words.
    if (isRepriseError(error)) return code.replaceAll('_', ' ')
  } catch {
    // A proxy that will not say what it is.
  }
  return `${errorText(error)}\n${code}`
}
