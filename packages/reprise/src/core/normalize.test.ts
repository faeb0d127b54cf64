import { describe, expect, it } from 'vitest'
import { isRepriseError, PolicyError, type PolicyProblem } from './errors.js'
import { normalizePolicy } from './normalize.js'
import type { Policy } from './policy.js'

const policyOf = (input: unknown): Policy => normalizePolicy(input).policy

function problemsOf(input: unknown): readonly PolicyProblem[] {
  try {
    normalizePolicy(input)
  } catch (error) {
    if (error instanceof PolicyError) return error.problems
    throw error
  }
  return []
}

const pathsOf = (input: unknown): string[] => problemsOf(input).map(({ path }) => path)

const DEFAULTS: Policy = {
  attempts: 3,
  backoff: { type: 'exponential', base: 2 },
  initialDelayMs: 1000,
  maxDelayMs: 30_000,
  jitter: 'none',
  jitterFactor: 0.3,
  retryOn: [],
  retryBudgetMs: undefined,
  attemptTimeoutMs: undefined,
  timeoutMs: undefined,
  maxRetryAfterMs: 60_000,
  budget: undefined,
  breaker: undefined,
  hedge: undefined,
  failIf: undefined,
}

describe('what may stand for a policy', () => {
  it('an empty object is every default', () => {
    expect(normalizePolicy({})).toStrictEqual({ policy: DEFAULTS, notes: [] })
  })

  it('a number is a number of attempts, false is one', () => {
    expect(policyOf(5)).toEqual({ ...DEFAULTS, attempts: 5 })
    expect(policyOf(false)).toEqual({ ...DEFAULTS, attempts: 1 })
    expect(pathsOf(0)).toEqual(['attempts'])
  })

  it.each([null, undefined, true, 'exponential', [], [3], () => 3, 3n, Symbol('three')])('%s does not', (input) => {
    expect(problemsOf(input)).toEqual([{ path: '', message: expect.stringContaining('is not an object') as string }])
  })

  it('fields given as undefined count as not given', () => {
    expect(policyOf({ attempts: undefined, backoff: undefined, max_delay: undefined, maxDelay: '5s' })).toEqual({
      ...DEFAULTS,
      maxDelayMs: 5000,
    })
  })
})

describe('a normalised policy', () => {
  it('reads every field in both spellings', () => {
    const failIf = (): boolean => true
    const camel = {
      attempts: 5,
      backoff: { exponential: { base: 3 } },
      initialDelay: '500ms',
      maxDelay: '1m',
      jitter: true,
      jitterFactor: 0.5,
      retryOn: ['network', '5xx', { pattern: 'EBUSY' }, { exitCode: 75 }],
      retryBudget: '2m',
      attemptTimeout: '5s',
      timeout: '5m',
      maxRetryAfter: '10s',
      budget: { name: ' api ', cost: 2 },
      breaker: { key: 'api', failureThreshold: 3, recoveryTimeout: '10s', halfOpenMaxCalls: 2 },
      hedge: { delay: '100ms', maxHedges: 2, cancelOnFirstTerminal: true, budget: { name: 'hedges', share: true } },
      failIf,
    }
    const snake = {
      attempts: 5,
      backoff: { type: 'exponential', base: 3 },
      initial_delay: '500ms',
      max_delay: '1m',
      jitter: true,
      jitter_factor: 0.5,
      retry_on: ['network', 'server_error', { pattern: 'EBUSY' }, { exit_code: [75] }],
      retry_budget: '2m',
      attempt_timeout: '5s',
      timeout: '5m',
      max_retry_after: '10s',
      budget: { name: 'api', cost: 2 },
      breaker: { key: 'api', failure_threshold: 3, recovery_timeout: '10s', half_open_max_calls: 2 },
      hedge: { delay: '100ms', max_hedges: 2, cancel_on_first_terminal: true, budget: { name: 'hedges', share: true } },
      fail_if: failIf,
    }
    const policy: Policy = {
      attempts: 5,
      backoff: { type: 'exponential', base: 3 },
      initialDelayMs: 500,
      maxDelayMs: 60_000,
      jitter: 'proportional',
      jitterFactor: 0.5,
      retryOn: ['network', 'server_error', { pattern: 'EBUSY' }, { exitCode: [75] }],
      retryBudgetMs: 120_000,
      attemptTimeoutMs: 5000,
      timeoutMs: 300_000,
      maxRetryAfterMs: 10_000,
      budget: { name: 'api', cost: 2 },
      breaker: { key: 'api', failureThreshold: 3, recoveryTimeoutMs: 10_000, halfOpenMaxCalls: 2 },
      hedge: {
        delayMs: 100,
        percentile: undefined,
        maxHedges: 2,
        cancelOnFirstTerminal: true,
        budget: { name: 'hedges', cost: 1 },
        shareBudget: true,
      },
      failIf,
    }
    expect(normalizePolicy(camel)).toStrictEqual({ policy, notes: [] })
    expect(normalizePolicy(snake)).toStrictEqual({ policy, notes: [] })
  })

  it('is frozen through and through', () => {
    const results = [
      normalizePolicy({}),
      normalizePolicy({
        backoff: { custom: { delays: [1] } },
        retryOn: [{ exitCode: [1] }, { pattern: 'a' }],
        budget: 'a',
        breaker: {},
        hedge: { delay: 1, budget: 'b' },
        maxDelay: 1,
      }),
      normalizePolicy({ backoff: 'linear', retryOn: [{ exitCode: 1 }] }),
    ]
    const frozen = (value: unknown): boolean =>
      Object.isFrozen(value) && (typeof value !== 'object' || Object.values(value ?? {}).every(frozen))
    expect(results.map(frozen)).toEqual([true, true, true])
  })

  it('does not freeze or keep what it was made of', () => {
    const delays = ['1s']
    const input = { backoff: { custom: { delays } }, retryOn: [{ exitCode: [1] }], failIf: () => false }
    const policy = policyOf(input)
    delays.push('2s')
    expect(policy.backoff).toEqual({ type: 'custom', delaysMs: [1000] })
    expect([input, input.retryOn, input.retryOn[0], input.failIf].some(Object.isFrozen)).toBe(false)
  })

  it('passes through unchanged, notes included', () => {
    const result = normalizePolicy({ maxDelay: '1ms' })
    expect(normalizePolicy(result.policy, { defaultJitter: 'full' })).toBe(result)
  })

  it('is told from what merely looks like one', () => {
    expect(() => normalizePolicy({ ...policyOf({}) })).toThrow('initialDelayMs: unknown field')
  })
})

describe('jitter', () => {
  it.each([
    [false, 'none'],
    [true, 'proportional'],
    ['proportional', 'proportional'],
    ['full', 'full'],
    ['equal', 'equal'],
    ['decorrelated', 'decorrelated'],
  ])('%s is %s', (jitter, normal) => {
    expect(policyOf({ jitter }).jitter).toBe(normal)
  })

  it('is the default only where nothing is said', () => {
    const jitterOf = (input: object): string => normalizePolicy(input, { defaultJitter: 'full' }).policy.jitter
    expect([jitterOf({}), jitterOf({ jitter: false }), jitterOf({ jitter: 'equal' })]).toEqual([
      'full',
      'none',
      'equal',
    ])
  })

  it('is refused in other words', () => {
    expect(problemsOf({ jitter: 'ful' })).toEqual([
      {
        path: 'jitter',
        message: '"ful" is not one of proportional, full, equal, decorrelated, none, true, false',
        suggestion: 'did you mean `full`?',
      },
    ])
    expect(pathsOf({ jitter: 1 })).toEqual(['jitter'])
  })
})

describe('problems', () => {
  it.each([0, -1, 1.5, Number.NaN, Number('1e400'), 2 ** 53 + 1, 1001, '3', 3n, null])(
    'attempts: %s is one',
    (attempts) => {
      expect(pathsOf({ attempts })).toEqual(['attempts'])
    },
  )

  it.each([-0.1, 1.1, Number.NaN, Infinity, '0.3', true])('jitterFactor: %s is one', (jitterFactor) => {
    expect(pathsOf({ jitterFactor })).toEqual(['jitterFactor'])
  })

  it.each([
    '5',
    'abc',
    '-1s',
    '',
    '1.5.2s',
    'NaN',
    'Infinity',
    Number.NaN,
    Infinity,
    -1,
    Number('1e400'),
    null,
    [],
    '366d',
  ])('a delay of %j is one', (initialDelay) => {
    expect(pathsOf({ initialDelay })).toEqual(['initialDelay'])
  })

  it('are all told at once, in the spelling of the input', () => {
    const error = ((): unknown => {
      try {
        return normalizePolicy({ attempts: 0, max_delay: 'x', retry_on: ['netwrok'], breaker: { recovery_timeout: 5 } })
      } catch (thrown) {
        return thrown
      }
    })()
    expect(isRepriseError(error, 'invalid_policy')).toBe(true)
    expect((error as PolicyError).problems.map(({ path }) => path)).toEqual([
      'attempts',
      'max_delay',
      'retry_on[0]',
      'breaker.recovery_timeout',
    ])
    expect((error as PolicyError).message).toContain('attempts: 0 is not a whole number from 1 to 1000; max_delay: "x"')
  })

  it('show long values only in part', () => {
    expect(problemsOf({ maxDelay: 'x'.repeat(1000) })[0]?.message.length).toBeLessThan(150)
  })

  it('failIf is a function or one', () => {
    expect(problemsOf({ failIf: 'status >= 500' })).toEqual([
      { path: 'failIf', message: '"status >= 500" is not a function' },
    ])
  })

  it('an action on failure is sent to the workflow step', () => {
    for (const key of ['on_failure', 'onFailure']) {
      expect(problemsOf({ [key]: 'stop' })).toEqual([
        { path: key, message: 'is not part of a policy', suggestion: 'it belongs to a workflow step' },
      ])
    }
  })
})

describe('a number without unit', () => {
  it('is milliseconds in TypeScript spelling and where both spellings are the same', () => {
    const input = { initialDelay: 5, maxDelay: 6, attemptTimeout: 7, retryBudget: 8, maxRetryAfter: 9, timeout: 10 }
    expect(policyOf(input)).toMatchObject({
      initialDelayMs: 5,
      maxDelayMs: 6,
      attemptTimeoutMs: 7,
      retryBudgetMs: 8,
      maxRetryAfterMs: 9,
      timeoutMs: 10,
    })
    expect(policyOf({ breaker: { recoveryTimeout: 5 } }).breaker?.recoveryTimeoutMs).toBe(5)
    expect(policyOf({ hedge: { delay: 5 } }).hedge?.delayMs).toBe(5)
  })

  it.each(['initial_delay', 'max_delay', 'attempt_timeout', 'max_retry_after'])('is refused as %s', (key) => {
    expect(problemsOf({ [key]: 5 })).toEqual([
      { path: key, message: "5 is not a duration from 0ms to 365d such as '5s' or '5ms'" },
    ])
  })

  it('is refused as retry_budget with a hint at the budgets that are counts', () => {
    expect(problemsOf({ retry_budget: 20 })).toEqual([
      {
        path: 'retry_budget',
        message: "20 is not a duration from 0ms to 365d such as '20s' or '20ms'",
        suggestion: "counts are `error_policy.max_retries` or a job's `retry_budget`",
      },
    ])
    expect(problemsOf({ retry_budget: 'x' })[0]).not.toHaveProperty('suggestion')
  })
})

describe('keys', () => {
  it.each([
    ['max_dealy', 'max_delay'],
    ['maxDealy', 'maxDelay'],
    ['attemps', 'attempts'],
    ['initialDelayMs', 'initialDelay'],
    ['initial_delay_ms', 'initial_delay'],
    ['max_retryAfter', 'max_retry_after'],
    ['Jitter', 'jitter'],
  ])('that are misspelt are refused with a suggestion: %s for %s', (key, meant) => {
    expect(problemsOf({ [key]: 1 })).toEqual([
      { path: key, message: 'unknown field', suggestion: `did you mean \`${meant}\`?` },
    ])
  })

  it.each([
    ['maxRetries', 'did you mean `attempts`? It counts the first call as well'],
    ['delay', 'did you mean `initialDelay`?'],
    ['shouldRetry', 'did you mean `retryOn`?'],
    ['factor', 'did you mean `backoff: {exponential: {base: 2}}`?'],
    ['signal', 'it is an option: `retry(operation, policy, {signal})`'],
    ['onFailedAttempt', 'use an observer: `retry(operation, policy, {observers})`'],
  ])('of another library are refused with what to write here: %s', (key, suggestion) => {
    expect(problemsOf({ [key]: 1 })).toEqual([{ path: key, message: 'unknown field', suggestion }])
  })

  it('that resemble nothing are refused without one', () => {
    expect(problemsOf({ colour: 'red' })).toEqual([{ path: 'colour', message: 'unknown field' }])
    expect(problemsOf({ colour: undefined })).toHaveLength(1)
  })

  it('that are unknown by the ten thousand are all told, in little time', () => {
    const input = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`attempt${index}`, 1]))
    const start = performance.now()
    const problems = problemsOf(input)
    expect(performance.now() - start).toBeLessThan(2000)
    expect(problems.length).toBe(20_000)
    expect(problems.filter(({ suggestion }) => suggestion !== undefined).length).toBe(20)
  })

  it('get suggestions in the style of their object', () => {
    expect(problemsOf({ max_delay: '1m', intialdelay: '1s' })[0]?.suggestion).toBe('did you mean `initial_delay`?')
  })

  it('given in both spellings are refused', () => {
    expect(problemsOf({ maxDelay: '1m', max_delay: '1m' })).toEqual([
      { path: 'max_delay', message: 'given in both spellings' },
    ])
  })

  it('that name a prototype are unknown and reach none', () => {
    const input: unknown = JSON.parse(
      '{"__proto__": {"attempts": 9}, "constructor": {}, "prototype": {}, "toString": 1, "breaker": {"__proto__": {}}}',
    )
    expect(problemsOf(input).map(({ path, message }) => [path, message])).toEqual(
      ['__proto__', 'constructor', 'prototype', 'toString', 'breaker.__proto__'].map((path) => [path, 'unknown field']),
    )
    expect(({} as { attempts?: number }).attempts).toBeUndefined()
  })

  it('are own ones only', () => {
    expect(policyOf(Object.create({ attempts: 9 })).attempts).toBe(3)
  })
})

describe('values that cannot be read', () => {
  const hostile = (): never => {
    throw new Error('no')
  }

  it('are problems, not crashes', () => {
    const getter = Object.defineProperty({ attempts: 0 }, 'maxDelay', { get: hostile, enumerable: true })
    expect(problemsOf(getter)).toEqual([
      { path: 'maxDelay', message: 'cannot be read' },
      { path: 'attempts', message: '0 is not a whole number from 1 to 1000' },
    ])
    const refused = [{ path: '', message: 'cannot be read' }]
    expect(problemsOf(new Proxy({}, { ownKeys: hostile }))).toEqual(refused)
    expect(pathsOf({ retryOn: new Proxy([], { get: hostile }) })).toEqual(['retryOn'])
  })

  it('may be revoked proxies', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(pathsOf(proxy)).toEqual([''])
    expect(pathsOf({ attempts: proxy, backoff: proxy, retryOn: [proxy], hedge: proxy, timeout: proxy })).toEqual([
      'attempts',
      'backoff',
      'retryOn[0]',
      'hedge',
      'timeout',
    ])
  })

  it('are never asked to describe themselves', () => {
    const boastful = Object.assign(() => 1, { toString: hostile, toJSON: hostile })
    expect(problemsOf({ attempts: boastful, timeout: boastful, jitter: { toString: hostile } })).toHaveLength(3)
  })
})
