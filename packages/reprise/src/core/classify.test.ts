import { describe, expect, it, vi } from 'vitest'
import { isNotYet, isRetryable } from './classify.js'
import { AttemptTimeoutError, CallTimeoutError, ResultError, RetryBudgetExhaustedError } from './errors.js'
import { errorText, readField } from './failure-fields.js'
import { type FailureContext, type Matcher, MATCHER_WORDS, type Policy } from './policy.js'

const context: FailureContext = { key: 'k', attempt: 1, launch: 1, kind: 'retry' }
const fits = (error: unknown, ...retryOn: Matcher[]): boolean =>
  isRetryable({ retryOn } as unknown as Policy, error, context)
/** The words that an error answers to. */
const words = (error: unknown): string => MATCHER_WORDS.filter((word) => fits(error, word)).join(' ')
const failure = (fields: object, message = ''): Error => Object.assign(new Error(message), fields)

const revoked = (): unknown => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
const throwing = (): unknown =>
  new Proxy(() => undefined, {
    get() {
      throw new Error('hostile')
    },
  })
const hostile: readonly unknown[] = [
  ...[undefined, null, 0, Number.NaN, '', false, 10n, Symbol('x'), () => undefined, Object.create(null)],
  ...[revoked(), throwing(), { cause: revoked(), errors: revoked(), response: throwing(), headers: revoked() }],
  { message: 1, name: Symbol('x'), code: {}, status: Symbol('x'), exitCode: '1', stderr: 5, errors: 'ab', timedOut: 1 },
  {
    get message() {
      throw new Error('hostile')
    },
  },
]

describe('what is retried', () => {
  it('is every failure when no matcher is given', () => {
    for (const error of [new Error('x'), ...hostile]) expect(fits(error)).toBe(true)
  })

  it('is no error that says of itself that it is not retryable', () => {
    const final = failure({ retryable: false }, 'connection refused')
    expect(fits(final)).toBe(false)
    expect(fits(final, 'network', () => true)).toBe(false)
    expect(fits(failure({ retryable: 'no' }))).toBe(true)
  })

  it('is an error that says `if_listed` of itself only if a matcher fits it', () => {
    const missing = failure({ retryable: 'if_listed', exitCode: 127 }, 'no program')
    expect(fits(missing)).toBe(false)
    expect(fits(missing, 'network')).toBe(false)
    expect(fits(missing, { exitCode: [127] })).toBe(true)
  })

  it('is an error that says `not_yet` of itself, whatever the matchers are', () => {
    const early = failure({ retryable: 'not_yet' })
    expect(fits(early)).toBe(true)
    expect(fits(early, 'network', () => false)).toBe(true)
    expect([early, failure({ retryable: true }), ...hostile].map(isNotYet).filter(Boolean)).toHaveLength(1)
  })

  it('is a failure that one of the matchers fits', () => {
    expect(fits(new Error('x'), 'network', { pattern: 'x' })).toBe(true)
    expect(fits(new Error('x'), 'network', { pattern: 'y' })).toBe(false)
  })

  it('asks a predicate with the error itself and what is known of the attempt', () => {
    const error = new Error('x')
    const predicate = vi.fn(() => true)
    expect(fits(error, predicate)).toBe(true)
    expect(predicate).toHaveBeenCalledExactlyOnceWith(error, context)
  })

  it('takes what a predicate answers for true or false', () => {
    expect(fits(0, (() => 'yes') as unknown as () => boolean)).toBe(true)
    expect(fits(0, (() => undefined) as unknown as () => boolean)).toBe(false)
  })

  it('throws what a predicate throws', () => {
    const bug = new Error('bug')
    expect(() =>
      fits(0, () => {
        throw bug
      }),
    ).toThrow(bug)
  })

  it('asks no further once a matcher fits', () => {
    expect(fits(new Error('x'), { pattern: 'x' }, () => expect.fail('asked'))).toBe(true)
  })
})

describe('network', () => {
  it.each([
    ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH'],
    ...['ENETDOWN', 'EHOSTDOWN', 'EADDRNOTAVAIL', 'ENETRESET', 'UND_ERR_SOCKET'],
  ])('is the code %s, as a code or as text', (code) => {
    expect(words(failure({ code }))).toBe('network')
    expect(words(failure({ errno: code }))).toBe('network')
    expect(words(new Error(`connect ${code} 10.0.0.1:587`))).toBe('network')
  })

  it.each([
    ...['Connection refused', 'connection reset by peer', 'Network is unreachable', 'No route to host', 'Broken pipe'],
    ...['curl: (6) Could not resolve host: x', 'Name or service not known', 'Temporary failure in name resolution'],
    ...[
      'fetch failed',
      'socket hang up',
      'curl: (52) Empty reply from server',
      'Connection closed by 10.0.0.7 port 22',
    ],
    "curl: (7) Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server",
    'psql: error: could not connect to server',
  ])('is the text "%s"', (message) => {
    expect(words(new Error(message))).toBe('network')
    expect(words(message)).toBe('network')
  })

  it('is found in causes and in the errors of an AggregateError', () => {
    const refused = failure({ code: 'ECONNREFUSED' })
    expect(words(new TypeError('failed', { cause: new Error('inner', { cause: refused }) }))).toBe('network')
    expect(words(new AggregateError([new Error('a'), refused]))).toBe('network')
    expect(words(new Error('x', { cause: new AggregateError([refused]) }))).toBe('network')
    expect(words(new RetryBudgetExhaustedError('k', 1, 2, refused))).toBe('network')
  })

  it('is looked for five causes deep, in twelve errors at most, and once around a circle', () => {
    const nest = (depth: number): Error =>
      depth === 0 ? failure({ code: 'EPIPE' }) : new Error('x', { cause: nest(depth - 1) })
    expect(words(nest(5))).toBe('network')
    expect(words(nest(6))).toBe('')
    const circle = failure({ code: 'EPIPE' }) as Error & { errors?: unknown }
    circle.cause = circle
    circle.errors = [circle, circle]
    expect(words(circle)).toBe('network')
    const bush = (depth: number): unknown =>
      depth === 0 ? {} : new AggregateError([1, 2, 3, 4].map(() => bush(depth - 1)))
    expect(words(bush(5))).toBe('')
  })

  it('is not a word that only contains a code', () => {
    expect(words(new Error('MYEPIPELINE'))).toBe('')
  })
})

describe('timeout', () => {
  it.each([
    ['an attempt timed out by the policy', new AttemptTimeoutError('k', 1, 500)],
    ['the limit of a call within', new CallTimeoutError('k', 500)],
    ['a status of 408', failure({ status: 408 })],
    ['a name', failure({ name: 'TimeoutError' })],
    ['a mark', failure({ timedOut: true, exitCode: 143 })],
    ['a text', new Error('The operation timed out')],
    ['a text of one word', new Error('Timeout awaiting request for 500 ms')],
    ['a code of request', failure({ code: 'ESOCKETTIMEDOUT' })],
    ['undici waiting for headers', failure({ code: 'UND_ERR_HEADERS_TIMEOUT' })],
    ['undici waiting for a body', failure({ code: 'UND_ERR_BODY_TIMEOUT' })],
  ])('is %s', (_name, error) => {
    expect(words(error)).toBe('timeout')
  })

  it.each([
    ...['context deadline exceeded', 'DEADLINE_EXCEEDED', 'deadline has elapsed', 'timeout', 'Error: timeout'],
    ...['dial tcp 10.0.0.7:443: i/o timeout', 'Read timeout on endpoint URL', 'timeout of 5000ms exceeded'],
    ...['Lock wait timeout exceeded', 'Timeout was reached', 'canceling statement due to statement timeout'],
  ])('is the text "%s"', (message) => {
    expect(words(new Error(message))).toBe('timeout')
  })

  it.each([
    ...[
      'invalid option --timeout',
      'unknown flag: --timeout',
      "unrecognized option '--timeout'",
      'usage: x [--timeout S]',
    ],
    ...[
      'the request timeout must be a number',
      'unknown field "timeout"',
      'Get "/api?timeout=32s"',
      'Keep-Alive: timeout=5',
    ],
    ...[
      'timeout: invalid time interval',
      'at listOnTimeout (node:timers:1:2)',
      '{"timedOut": false}',
      'src/timeout.ts',
    ],
  ])('is not the text "%s", in which nothing timed out', (message) => {
    expect(words(new Error(message))).toBe('')
  })

  it.each(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'Connection timed out'])(
    'is %s, which is the network as well',
    (code) => {
      expect(words(failure({ code }))).toBe('network timeout')
      expect(words(new Error(code))).toBe('network timeout')
    },
  )
})

describe('server_error', () => {
  it.each([
    ['status', failure({ status: 500 })],
    ['statusCode', failure({ statusCode: 599 })],
    ['response.status', failure({ response: { status: 503 } })],
    ['response.statusCode', failure({ response: { statusCode: 503 } })],
    ['a status written as text', failure({ status: '503' })],
    ['$metadata.httpStatusCode', failure({ $metadata: { httpStatusCode: 503 } })],
    ['the status of a result that failed', new ResultError('k', { status: 503 })],
    ['the status of a cause', new Error('x', { cause: failure({ status: 503 }) })],
    ['code', failure({ code: 503 })],
  ])('is a 5xx in %s', (_name, error) => {
    expect(words(error)).toBe('server_error')
  })

  it.each([
    ...['HTTP/1.1 503 Service Unavailable', 'HTTP/2 503', 'HTTP 599', 'HTTP_504', 'HTTP error 500', 'http_code=502'],
    ...['status:503', 'status 503', '{"status":503}', 'status=500', 'status code was 502', 'response code: 504'],
    ...['503 Service Unavailable', '(502) Bad Gateway', '500: Internal Server Error', 'Internal Server Error (500)'],
    ...['Internal Server Error', 'Bad gateway', 'ServiceUnavailable', 'rpc error: code = Unavailable desc = x'],
  ])('is the status of an HTTP answer in the text "%s"', (message) => {
    expect(words(new Error(message))).toBe('server_error')
  })

  it.each([
    ...['503', 'got 502.', '(500)', 'code 599, again', '500 items', 'line 503', 'imported 512 rows', 'item 503 failed'],
    ...['exit status 512', 'exited with status 512', 'http://503.example/', 'http://example.com/503', 'port 503'],
    ...['HTTP 5030', 'HTTP 503ms', 'status 503.5', 'status 503,000', 'HTTP 404', 'NotImplementedError'],
    ...['line 1500', '5000', '0.503', '500.5', '1,500', '500,000', 'E503x', 'a503', '503b', '499', '600', '12:512'],
    ...['took 500 ms', '500ms', 'after 500 s', '500 seconds', 'limit 512 MB', '512 kiB', '512 bytes'],
    ...['500%', 'at app.js:512:7', 'at app.js:512', '10.0.0.1:587', 'smtp.example.com:587'],
  ])('is not a number in the text "%s"', (message) => {
    expect(words(new Error(message))).toBe('')
  })

  it('is what the status says rather than what the text may mean', () => {
    expect(words(failure({ status: 404 }, 'no item 503'))).toBe('')
    expect(words(failure({ status: 503 }, 'too many: 429'))).toBe('server_error')
    expect(words(failure({ status: 1 }, 'HTTP 503'))).toBe('server_error')
    expect(words(failure({ status: 'error' }, 'HTTP 503'))).toBe('server_error')
  })

  it('is not read out of the numbers that errors of this library speak of', () => {
    expect(words(new RetryBudgetExhaustedError('job 503', 500, 503, undefined))).toBe('')
    expect(words(new ResultError('fetch failed 503', { status: 404 }))).toBe('')
  })
})

describe('rate_limit', () => {
  it.each([
    ['a status', failure({ statusCode: 429 })],
    ['a number in the text', new Error('HTTP 429')],
    ['the text of the status', new Error('Too Many Requests')],
    ['a text under another status', failure({ status: 403 }, 'API rate limit exceeded')],
  ])('is %s', (_name, error) => {
    expect(words(error)).toBe('rate_limit')
  })

  it.each([
    ...[
      'you have hit a secondary rate limit',
      'Rate limit reached for requests',
      'toomanyrequests: x',
      'Rate exceeded',
    ],
  ])('is the text "%s"', (message) => {
    expect(words(new Error(message))).toBe('rate_limit')
  })

  it.each([
    ...[
      '4290',
      'row 429',
      'unknown option --rate-limit',
      'the rate limit must be above 0',
      'due to client-side throttling',
    ],
    'invalid value for rate limit: a limit was reached',
  ])('is not the text "%s"', (message) => {
    expect(words(new Error(message))).toBe('')
  })
})

describe('exit codes', () => {
  it('are whole numbers in exitCode, else in code', () => {
    expect(fits({ exitCode: 75 }, { exitCode: [75, 111] })).toBe(true)
    expect(fits({ code: 111 }, { exitCode: [75, 111] })).toBe(true)
    expect(fits({ exitCode: null, code: 75 }, { exitCode: [75] })).toBe(true)
    expect(fits({ exitCode: 1, code: 75 }, { exitCode: [75] })).toBe(false)
    expect(fits({ exitCode: '75' }, { exitCode: [75] })).toBe(false)
    expect(fits({ exitCode: 7.5 }, { exitCode: [75] })).toBe(false)
    expect(fits(undefined, { exitCode: [-1] })).toBe(false)
  })
})

describe('a pattern', () => {
  it('is tested on name and message', () => {
    expect(fits(new RangeError('too far'), { pattern: '^RangeError: too far$' })).toBe(true)
    expect(fits(new RangeError('too far'), { pattern: 'Too' })).toBe(false)
  })

  it('is tested on what a command left behind', () => {
    const error = { exitCode: 2, stderr: 'disk full\n', stdout: 'all fine', timedOut: true }
    expect(fits(error, { pattern: 'disk full' })).toBe(true)
    expect(fits(error, { pattern: 'all fine' })).toBe(false)
    expect(fits(error, { pattern: 'exit status 2\\b' })).toBe(true)
    expect(fits(error, { pattern: 'timed out$' })).toBe(true)
    expect(fits({ exitCode: 2, stderr: '', stdout: 'all fine' }, { pattern: 'all fine' })).toBe(true)
  })

  it('is compiled once per matcher', () => {
    let reads = 0
    const matcher = {
      get pattern() {
        reads++
        return 'x'
      },
    }
    for (let i = 0; i < 3; i++) expect(fits(new Error('x'), matcher)).toBe(true)
    expect(reads).toBe(1)
  })
})

describe('the text of an error', () => {
  it('is what was thrown, if that is no object', () => {
    expect([undefined, null, 0, 'x', Symbol('s'), 1n].map(errorText)).toEqual([
      'undefined',
      'null',
      '0',
      'x',
      'Symbol(s)',
      '1',
    ])
  })

  it('leaves out what is not there', () => {
    expect(errorText({ message: 'm' })).toBe('m')
    expect(errorText({ name: 'N' })).toBe('N')
    expect(errorText({})).toBe('')
  })

  it('keeps the end of long parts', () => {
    const long = `${'x'.repeat(1_000_000)}end`
    expect(errorText(long)).toMatch(/end$/)
    const text = errorText({ message: long, stderr: `${long}2` })
    expect(text.length).toBeLessThan(20_000)
    expect(text).toMatch(/xend\nx+end2$/)
  })
})

describe('hostile errors', () => {
  it('are classified without a throw', () => {
    for (const error of hostile) {
      expect(fits(error, ...MATCHER_WORDS, { exitCode: [1] }, { pattern: 'hostile' })).toBe(false)
    }
  })

  it('are looked at where they are sane', () => {
    const error = {
      code: 'EPIPE',
      get message() {
        throw new Error('hostile')
      },
    }
    expect(words(error)).toBe('network')
  })

  it('have no field that throws', () => {
    expect(readField(revoked(), 'x')).toBeUndefined()
    expect(readField(null, 'x')).toBeUndefined()
    expect(readField({ x: 1 }, 'x')).toBe(1)
  })

  it('are classified soon, however long they are', () => {
    const text = '5 1.5:5,time rate.a-connection '.repeat(100_000)
    const error = failure({ stderr: text, errors: Array.from({ length: 5 }, () => new Error(text)) }, text)
    const start = performance.now()
    expect(words(error)).toBe('')
    const parts = [
      'HTTP',
      'HTTP ',
      'status ',
      'connection to the server ',
      'timeout ',
      'read timeout ',
      'rate limit ',
      '(',
    ]
    for (const part of [...parts, ' ', 'ERR_A_', 'exceeded ', '503 ', 'invalid ', 'too many ', ': ']) {
      words({ stderr: part.repeat(100_000), code: part.repeat(100_000) })
    }
    expect(performance.now() - start).toBeLessThan(3000)
  })
})
