import { afterEach, describe, expect, it } from 'vitest'
import {
  AttemptTimeoutError,
  BreakerOpenError,
  BreakerStateError,
  BudgetDeniedError,
  BudgetError,
  CallTimeoutError,
  isRepriseError,
  NoPolicyError,
  PolicyError,
  RepriseError,
  ResultError,
  RetryBudgetExhaustedError,
  TIMELINE,
  withoutStack,
} from './errors.js'

const cause = new Error('the real one')
const errors = [
  [
    new NoPolicyError('fetch'),
    'NoPolicyError',
    'no_policy',
    'No policy for fetch: add it to `policies` of createExecutor',
  ],
  [
    new BudgetDeniedError('fetch', 'api', 'too many', 1),
    'BudgetDeniedError',
    'budget_denied',
    'Budget api denied attempt 1 of fetch: too many',
  ],
  [
    new RetryBudgetExhaustedError('fetch', 900, 1000, cause),
    'RetryBudgetExhaustedError',
    'retry_budget_exhausted',
    'Retry budget exhausted for fetch: 900 ms of 1000 ms waited, and the next wait does not fit',
  ],
  [
    new BreakerOpenError('fetch', 'api', { cause }),
    'BreakerOpenError',
    'breaker_open',
    'Breaker api is open: fetch was not attempted again',
  ],
  [
    new AttemptTimeoutError('fetch', 2, 50),
    'AttemptTimeoutError',
    'attempt_timeout',
    'Attempt 2 of fetch timed out after 50 ms',
  ],
  [
    new CallTimeoutError('fetch', 500, { cause }),
    'CallTimeoutError',
    'timeout',
    'fetch could not end within its timeout of 500 ms',
  ],
  [new ResultError('fetch', 7), 'ResultError', 'result_failed', 'fetch returned a result that counts as a failure'],
  [new PolicyError([]), 'PolicyError', 'invalid_policy', 'Invalid policy: '],
  [new BudgetError('Bad budget'), 'BudgetError', 'invalid_budget', 'Bad budget'],
  [
    new BreakerStateError('api', { phase: 'ajar' }),
    'BreakerStateError',
    'invalid_breaker_state',
    'Breaker api cannot be restored from {"phase":"ajar"}',
  ],
] as const

describe('an error of the library', () => {
  it.each(errors)('%s has its name, code and message', (error, name, code, message) => {
    expect(error).toBeInstanceOf(RepriseError)
    expect(error).toBeInstanceOf(Error)
    expect([error.name, error.code, error.message]).toEqual([name, code, message])
    expect(String(error)).toBe(`${name}: ${message}`)
    expect(error.stack).toContain(`${name}: ${message}`)
    expect(isRepriseError(error)).toBe(true)
    expect(isRepriseError(error, code)).toBe(true)
    expect(isRepriseError(error, code === 'timeout' ? 'no_policy' : 'timeout')).toBe(false)
  })

  it('shows its fields and neither name nor brand among its own', () => {
    const denied = new BudgetDeniedError('fetch', 'api', 'too many', 3)
    expect(Object.fromEntries(Object.entries(denied))).toEqual({
      code: 'budget_denied',
      key: 'fetch',
      budget: 'api',
      reason: 'too many',
      attempt: 3,
    })
    expect(new BreakerOpenError('fetch', 'api').breaker).toBe('api')
    expect(new AttemptTimeoutError('fetch', 1, 50)).toMatchObject({ timeoutMs: 50, attempt: 1, launch: 1 })
    expect(new AttemptTimeoutError('fetch', 1, 50, 2)).toMatchObject({
      attempt: 1,
      launch: 2,
      message: 'Attempt 1 (launch 2) of fetch timed out after 50 ms',
    })
    expect(new CallTimeoutError('fetch', 500).timeoutMs).toBe(500)
    const value = { ok: false }
    expect(new ResultError('fetch', value).value).toBe(value)
  })

  it('carries a timeline that nobody sees who prints it', () => {
    const error = new BudgetError('Bad budget')
    expect(error[TIMELINE]).toBeUndefined()
    const timeline = {}
    error[TIMELINE] = timeline
    expect(error[TIMELINE]).toBe(timeline)
    expect(Reflect.ownKeys(error)).not.toContain(TIMELINE)
  })

  it('keeps the last real error as its cause, also one that is undefined', () => {
    expect(new RetryBudgetExhaustedError('fetch', 1, 2, cause).cause).toBe(cause)
    expect(new BreakerOpenError('fetch', 'api', { cause }).cause).toBe(cause)
    expect('cause' in new CallTimeoutError('fetch', 1, { cause: undefined })).toBe(true)
    expect('cause' in new CallTimeoutError('fetch', 1)).toBe(false)
    expect('cause' in new BreakerOpenError('fetch', 'api')).toBe(false)
  })

  it('tells every problem of a policy, where it is and what may help', () => {
    const problems = [
      { path: 'attempts', message: '0 is not a whole number from 1 to 1000' },
      { path: 'retry_on[0]', message: 'unknown word', suggestion: 'did you mean `network`?' },
      { path: '', message: 'unknown shape' },
    ]
    const error = new PolicyError(problems)
    expect(error.problems).toBe(problems)
    expect(error.message).toBe(
      'Invalid policy: attempts: 0 is not a whole number from 1 to 1000; ' +
        'retry_on[0]: unknown word (did you mean `network`?); unknown shape',
    )
  })

  it('is recognised when it comes from another copy of the package', () => {
    const foreign = Object.assign(new Error('x'), { code: 'timeout', [Symbol.for('reprise.error')]: true })
    expect(isRepriseError(foreign)).toBe(true)
    expect(isRepriseError(foreign, 'timeout')).toBe(true)
    expect(isRepriseError(foreign, 'no_policy')).toBe(false)
  })

  it.each([undefined, null, 0, 'timeout', new Error('timeout'), { code: 'timeout' }, () => {}])(
    'is not seen in %o',
    (value) => {
      expect(isRepriseError(value)).toBe(false)
    },
  )
})

describe('an error without a stack', () => {
  const original = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit') ?? { value: 10 }
  const setLimit = (descriptor: PropertyDescriptor) =>
    Object.defineProperty(Error, 'stackTraceLimit', { configurable: true, enumerable: true, ...descriptor })
  afterEach(() => void Object.defineProperty(Error, 'stackTraceLimit', original))

  const frames = (error: Error) => error.stack?.split('\n').filter((line) => line.startsWith('    at ')).length

  it('says all it has to say in its fields', () => {
    const limit = Error.stackTraceLimit
    const error = withoutStack(() => new BudgetDeniedError('fetch', 'api', 'too many', 1))
    expect(error.message).toContain('too many')
    expect(frames(error)).toBe(0)
    expect(Error.stackTraceLimit).toBe(limit)
    expect(frames(new Error('with one'))).toBeGreaterThan(0)
  })

  it('leaves the limit as it was when making the error fails', () => {
    setLimit({ value: 7, writable: true })
    const make = (): never => {
      throw new TypeError('cannot be made')
    }
    expect(() => withoutStack(make)).toThrow('cannot be made')
    expect(Error.stackTraceLimit).toBe(7)
  })

  it('has one where the limit may not be changed', () => {
    setLimit({ value: 7, writable: false })
    expect(frames(withoutStack(() => new Error('x')))).toBeGreaterThan(0)
    expect(Error.stackTraceLimit).toBe(7)
  })

  it('touches no limit that is 0 or not there', () => {
    setLimit({ value: 0, writable: false })
    expect(frames(withoutStack(() => new Error('x')))).toBe(0)
    Reflect.deleteProperty(Error, 'stackTraceLimit')
    expect(withoutStack(() => new Error('x')).message).toBe('x')
    expect('stackTraceLimit' in Error).toBe(false)
  })
})
