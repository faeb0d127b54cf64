/**
 * Whether a failure is worth another attempt, by what the policy lists in `retryOn`.
 *
 * Invariants: anything at all may have been thrown. Fields are read with `readField`, so a getter or proxy that throws
 * counts as absent; what is read is bounded in depth, number and length, and every text is searched in linear time.
 * Only a predicate of the policy may throw. Imports core only.
 */
import { expectAnswer } from './answer.js'
import { isRepriseError } from './errors.js'
import { speaksOfNetwork, speaksOfRateLimit, speaksOfTimeout, statusesIn } from './failure-text.js'
import { compilePattern, type Pattern } from './pattern.js'
import type { FailureContext, MatcherWord, Policy } from './policy.js'

/** Of a message, and of a command's output, the end is what counts. */
const MAX_TEXT = 8192
/** How far causes and the errors of an `AggregateError` are followed, and how many are looked at in all. */
const MAX_DEPTH = 5
const MAX_ERRORS = 12

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

const patterns = /* @__PURE__ */ new WeakMap<object, Pattern>()

/**
 * Whether the policy retries this failure. Without `retryOn` every failure is retried; else one matcher that fits is
 * enough. An error with `retryable: false` is never retried, one with `retryable: 'if_listed'` only if a matcher fits it. An error thrown by a predicate is thrown on.
 * @example
 * const context = { key: 'price', attempt: 1, launch: 1, kind: 'retry' } as const
 * if (!isRetryable(policy, error, context)) throw error
 */
export function isRetryable(policy: Policy, error: unknown, context: FailureContext): boolean {
  const { retryOn } = policy
  const said = readField(error, 'retryable')
  if (said === false) return false
  let evidence: Evidence | undefined
  return (
    (retryOn.length === 0 && said !== 'if_listed') ||
    retryOn.some((matcher) => {
      if (typeof matcher === 'function') return expectAnswer(matcher(error, context), 'a predicate of retryOn')
      if (typeof matcher === 'string') return WORDS[matcher]((evidence ??= gather(error)))
      if ('pattern' in matcher) return compiled(matcher).test(errorText(error))
      const exitCode = exitCodeOf(error)
      return exitCode !== undefined && matcher.exitCode.includes(exitCode)
    })
  )
}

/** What a pattern is tested on: name and message, the end of a command's output, its exit status, a timeout mark. */
export function errorText(error: unknown): string {
  if (Object(error) !== error) return String(error).slice(-MAX_TEXT)
  const exitCode = exitCodeOf(error)
  return [
    [tail(error, 'name'), tail(error, 'message')].filter(Boolean).join(': '),
    tail(error, 'stderr') || tail(error, 'stdout'),
    exitCode === undefined ? '' : `exit status ${exitCode}`,
    readField(error, 'timedOut') === true ? 'timed out' : '',
  ]
    .filter(Boolean)
    .join('\n')
}

/** A field of something that nobody vouches for. */
export function readField(value: unknown, key: string | number): unknown {
  try {
    return (value as Record<string | number, unknown> | null | undefined)?.[key]
  } catch {
    return undefined
  }
}

function tail(error: unknown, key: string): string {
  const text = readField(error, key)
  return typeof text === 'string' ? text.slice(-MAX_TEXT) : ''
}

function exitCodeOf(error: unknown): number | undefined {
  return [readField(error, 'exitCode'), readField(error, 'code')].find(Number.isInteger) as number | undefined
}

function compiled(matcher: { readonly pattern: string }): Pattern {
  let pattern = patterns.get(matcher)
  if (!pattern) patterns.set(matcher, (pattern = compilePattern(matcher.pattern)))
  return pattern
}

function gather(error: unknown): Evidence {
  const errors: unknown[] = []
  collect(error, 0, errors)
  const text = errors.map(wording).join('\n')
  const stated = errors.flatMap(statusesOf).filter((status) => status >= 400 && status < 600)
  return { text, statuses: stated.length > 0 ? stated : statusesIn(text) }
}

function collect(error: unknown, depth: number, into: unknown[]): void {
  if (depth > MAX_DEPTH || into.length >= MAX_ERRORS || into.includes(error)) return
  into.push(error)
  const errors = readField(error, 'errors')
  for (const inner of [readField(error, 'cause'), ...[0, 1, 2, 3, 4].map((index) => readField(errors, index))]) {
    if (inner !== undefined) collect(inner, depth + 1, into)
  }
}

/** Of an error of this library only the code: its message speaks of keys and milliseconds. */
function wording(error: unknown): string {
  const code = `${tail(error, 'code')} ${tail(error, 'errno')}`
  try {
    // `attempt_timeout`, as words.
    if (isRepriseError(error)) return code.replaceAll('_', ' ')
  } catch {
    // A proxy that will not say what it is.
  }
  return `${errorText(error)}\n${code}`
}

/** `code` as well: an exit code is never above 255. */
function statusesOf(error: unknown): number[] {
  const holders = [error, ...['response', 'value', '$metadata'].map((key) => readField(error, key))]
  return holders.flatMap((holder) =>
    ['status', 'statusCode', 'httpStatusCode', 'code'].map((key) => {
      const status = readField(holder, key)
      return typeof status === 'string' ? Number(status) : typeof status === 'number' ? status : 0
    }),
  )
}
