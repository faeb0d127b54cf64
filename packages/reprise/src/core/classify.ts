/**
 * Whether a failure is worth another attempt, by what the policy lists in `retryOn`.
 *
 * Invariants: anything at all may have been thrown. Fields are read with `readField`, so a getter or proxy that throws
 * counts as absent; what is read is bounded in depth, number and length, and every text is searched in linear time.
 * Only a predicate of the policy may throw. Imports core only.
 */
import { isRepriseError } from './errors.js'
import { compilePattern, type Pattern } from './pattern.js'
import type { FailureContext, MatcherWord, Policy } from './policy.js'

/** Of a message, and of a command's output, the end is what counts. */
const MAX_TEXT = 8192
/** How far causes and the errors of an `AggregateError` are followed, and how many are looked at in all. */
const MAX_DEPTH = 5
const MAX_ERRORS = 12

/** Codes of libuv, c-ares and undici, in `code` or in a text; what tools print. Late to connect is a timeout too. */
const NETWORK = [
  /\bE(?:CONN(?:REFUSED|RESET|ABORTED)|NET(?:UNREACH|DOWN|RESET)|HOST(?:UNREACH|DOWN)|PIPE|ADDRNOTAVAIL|TIMEDOUT)\b/i,
  /\b(?:ENOTFOUND|EAI_AGAIN|UND_ERR_SOCKET|UND_ERR_CONNECT_TIMEOUT)\b/i,
  /connection (?:refused|reset)|network is unreachable|no route to host|broken pipe|socket hang up|fetch failed|failed to fetch|load failed|networkerror/i,
  /could not resolve host|name or service not known|temporary failure in name resolution/i,
  // What curl, wget, psql and ssh say where they do not name the cause.
  /(?:failed|unable) to connect|could(?: not|n't) connect|empty reply from server|connection closed by/i,
]
/** Finds codes such as `ESOCKETTIMEDOUT` and `UND_ERR_BODY_TIMEOUT`, and the name `TimeoutError`, too. */
const TIMEOUT = /timed?[ -]?out/i
const RATE_LIMIT = /too many requests|rate limit/i
/** Whole numbers that are no quantity or place: none in 1500, 0.503, 512 MB, 500 ms, `app.js:512`, `10.0.0.1:587`. */
const STATUS =
  /(?<![A-Za-z\d]|\d[.,:]|\.[\w-]{1,63}:)(?:429|5\d\d)(?![A-Za-z\d]|[.,:]\d| ?(?:%|(?:m?s|seconds|bytes|[kMG]i?B)\b))/g

interface Evidence {
  readonly text: string
  /** HTTP statuses of failure that fields state; those the text seems to speak of if there is none. */
  readonly statuses: readonly number[]
}

const WORDS: Record<MatcherWord, (evidence: Evidence) => boolean> = {
  network: ({ text }) => NETWORK.some((sign) => sign.test(text)),
  timeout: ({ text, statuses }) => TIMEOUT.test(text) || statuses.includes(408),
  server_error: ({ statuses }) => statuses.some((status) => status >= 500),
  rate_limit: ({ text, statuses }) => RATE_LIMIT.test(text) || statuses.includes(429),
}

const patterns = /* @__PURE__ */ new WeakMap<object, Pattern>()

/**
 * Whether the policy retries this failure. Without `retryOn` every failure is retried; else one matcher that fits is
 * enough. An error with `retryable: false` is never retried. An error thrown by a predicate is thrown on.
 * @example
 * const context = { key: 'price', attempt: 1, launch: 1, kind: 'retry' } as const
 * if (!isRetryable(policy, error, context)) throw error
 */
export function isRetryable(policy: Policy, error: unknown, context: FailureContext): boolean {
  const { retryOn } = policy
  if (readField(error, 'retryable') === false) return false
  let evidence: Evidence | undefined
  return (
    retryOn.length === 0 ||
    retryOn.some((matcher) => {
      if (typeof matcher === 'function') return expectAnswer(matcher(error, context), 'a predicate of retryOn')
      if (typeof matcher === 'string') return WORDS[matcher]((evidence ??= gather(error)))
      if ('pattern' in matcher) return compiled(matcher).test(errorText(error))
      const exitCode = exitCodeOf(error)
      return exitCode !== undefined && matcher.exitCode.includes(exitCode)
    })
  )
}

/** What a hook says. A promise is always truthy: taken for an answer, it would be a yes whatever it comes to. */
export function expectAnswer(answer: unknown, name: string): boolean {
  if (typeof (answer as { then?: unknown } | null | undefined)?.then !== 'function') return Boolean(answer)
  // Its rejection would otherwise be nobody's.
  void Promise.resolve(answer).catch(() => undefined)
  throw new TypeError(`${name} answered with a promise: it must be synchronous`)
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
  return { text, statuses: stated.length > 0 ? stated : (text.match(STATUS) ?? []).map(Number) }
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
    if (isRepriseError(error)) return code
  } catch {
    // A proxy that will not say what it is.
  }
  return `${errorText(error)}\n${code}`
}

function statusesOf(error: unknown): number[] {
  const holders = [error, ...['response', 'value', '$metadata'].map((key) => readField(error, key))]
  return holders.flatMap((holder) =>
    ['status', 'statusCode', 'httpStatusCode'].map((key) => {
      const status = readField(holder, key)
      return typeof status === 'string' ? Number(status) : typeof status === 'number' ? status : 0
    }),
  )
}
