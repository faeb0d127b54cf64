import { describe, expect, test } from 'vitest'
import type { RepriseEvent } from '../core/event.js'
import { logger, logLine } from './log-line.js'

const base = { timeMs: 0, key: 'fetch-user', callId: 1, attempt: 1, attempts: 5 }
const waiting = { ...base, type: 'waiting', delayMs: 1200, nextAttempt: 2, error: new Error('boom') } as const
const failed = {
  ...base,
  attempt: 3,
  type: 'call_failed',
  stopReason: 'attempts_exhausted',
  attemptsMade: 3,
  launches: 3,
  totalDelayMs: 300,
  elapsedMs: 400,
  error: new Error('boom'),
} as const

test('a retry line names the attempt to come, the wait and the cause', () => {
  expect(logLine(waiting)).toBe('Retrying fetch-user (attempt 2/5) after 1.2s: boom')
})

test.each([
  [0, '0ms'],
  [49.6, '50ms'],
  [999, '999ms'],
  [999.9, '1s'],
  [1000, '1s'],
  [1260, '1.3s'],
  [30_000, '30s'],
  [59_960, '1m'],
  [90_400, '1m30s'],
  [5_400_000, '1h30m'],
])('a wait of %s ms reads %s', (delayMs, text) => {
  expect(logLine({ ...waiting, delayMs })).toContain(`after ${text}: `)
})

test('a failed call says after how many attempts and why it stopped', () => {
  expect(logLine(failed)).toBe('fetch-user failed after 3 attempts (attempts_exhausted): boom')
  expect(logLine({ ...failed, attemptsMade: 1, launches: 1, stopReason: 'not_retryable' })).toBe(
    'fetch-user failed after 1 attempt (not_retryable): boom',
  )
})

test('a spent time budget is said once, with the real error behind it', () => {
  const error = new Error('Retry budget exhausted for fetch-user: 900 ms of 1000 ms waited', {
    cause: new Error('503'),
  })
  expect(logLine({ ...failed, stopReason: 'retry_budget_exhausted', error })).toBe(
    'Retry budget exhausted for fetch-user after 3 attempts: 503',
  )
})

test('what happens to a durable task over restarts is said, unless it need not be heard', () => {
  const event = { ...base, taskId: 'a' }
  const resumed = { ...event, type: 'resumed', from: 'x' } as const
  expect(logLine(resumed)).toBe(`${base.key}/a goes on here: the process that had it is gone`)
  const stopped = { ...event, type: 'interrupted', launch: 2, execution: 1, orderly: true } as const
  expect(logLine(stopped)).toBe(
    `${base.key}/a was interrupted in attempt ${base.attempt}/${base.attempts}: it goes on when it is resumed`,
  )
  expect(logLine({ ...stopped, orderly: false })).toBeUndefined()
  expect(logLine({ ...event, type: 'state_refused', faults: ['one', 'two'] })).toBe(
    `${base.key}/a is left as it is: one; two`,
  )
  const lines: string[] = []
  const quiet = logger((line) => lines.push(line), { quiet: true })
  for (const one of [resumed, stopped]) quiet.onEvent(one)
  expect(lines).toEqual([])
})

test('other events have no line', () => {
  expect(logLine({ ...base, type: 'call_started' })).toBeUndefined()
  expect(logLine({ ...base, type: 'hedge_started', launch: 2 })).toBeUndefined()
  expect(logLine({ ...base, type: 'reset', generation: 2 })).toBeUndefined()
  expect(logLine({ ...base, type: 'news' } as unknown as RepriseEvent)).toBeUndefined()
})

describe('the cause', () => {
  const cause = (error: unknown): string => logLine({ ...waiting, error })?.split('after 1.2s: ')[1] ?? ''

  test('what caused an error is said with it', () => {
    expect(cause(new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }))).toBe(
      'fetch failed: connect ECONNREFUSED',
    )
  })

  test('an error without a message is known by its code or name', () => {
    expect(cause(Object.assign(new Error(''), { code: 'ECONNRESET' }))).toBe('ECONNRESET')
    expect(cause(new RangeError(''))).toBe('RangeError')
  })

  test.each([
    ['text', 'text'],
    [undefined, 'undefined'],
    [null, 'null'],
    [42, '42'],
    [Symbol('s'), 'Symbol(s)'],
    [{}, 'a thrown object'],
    [Object.create(null), 'a thrown object'],
    [{ message: 7, name: null, code: 'E7' }, 'E7'],
  ])('whatever was thrown has a text: %#', (thrown, text) => {
    expect(cause(thrown)).toBe(text)
  })

  test('errors that bite when touched do not throw', () => {
    const biting = new Proxy(
      {},
      {
        get: () => {
          throw new Error('bite')
        },
      },
    )
    const circular = new Error('round')
    circular.cause = circular
    expect(cause(biting)).toBe('a thrown object')
    expect(cause(circular)).toBe('round')
  })

  test('control sequences and line breaks do not reach the terminal', () => {
    const hostile =
      '\u001b[31mred\u001b[0m \u001b]0;title\u0007' +
      '\u001b]8;;http://x\u001b\\link\r\nFAKE\u009b2J\u0000 \u202eevil\u2028end'
    expect(cause(new Error(hostile))).toBe('red link FAKE evil end')
    expect(logLine({ ...waiting, key: 'a\u001b[2Jb\nc' })).toMatch(/^Retrying ab c \(/)
  })

  test('an unfinished sequence hides nothing of the text after it', () => {
    expect(cause(new Error('a\u001b]0;b'))).toBe('a0;b')
    expect(cause(new Error('a\u001b'))).toBe('a')
  })

  test('a long text is cut, and costs no more than its beginning', () => {
    expect(cause(new Error('x'.repeat(1000)))).toBe(`${'x'.repeat(299)}…`)
    const started = performance.now()
    cause(new Error('x\u0000'.repeat(15_000_000))) // all of it would take ten seconds
    expect(performance.now() - started).toBeLessThan(2000)
  })

  test('a cut never leaves half a character', () => {
    expect(cause(new Error('🎷'.repeat(200)))).toBe(`${'🎷'.repeat(149)}…`)
  })
})

describe('the logger', () => {
  const lines = (quiet?: boolean): string[] => {
    const written: string[] = []
    const observer = logger((line) => void written.push(line), quiet === undefined ? {} : { quiet })
    for (const event of [{ ...base, type: 'call_started' } as const, waiting, failed]) observer.onEvent(event)
    return written
  }

  test('writes retries and the final failure', () => {
    expect(lines()).toEqual([expect.stringMatching(/^Retrying/), expect.stringMatching(/^fetch-user failed/)])
  })

  test('when quiet keeps the final failure', () => {
    expect(lines(true)).toEqual([expect.stringMatching(/^fetch-user failed/)])
  })
})
