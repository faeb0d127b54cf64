import { describe, expect, it } from 'vitest'
import { tokenBucket } from './budgets/token-bucket.js'
import { PolicyError, type PolicyProblem } from './errors.js'
import { normalizePolicy } from './normalize.js'

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

describe('matchers', () => {
  const matchersOf = (retryOn: unknown): readonly unknown[] => normalizePolicy({ retryOn }).policy.retryOn

  it('are words, patterns, exit codes and predicates', () => {
    const predicate = (): boolean => true
    expect(matchersOf(['network', 'timeout', 'server_error', '5xx', 'rate_limit', predicate])).toEqual([
      'network',
      'timeout',
      'server_error',
      'server_error',
      'rate_limit',
      predicate,
    ])
    expect(matchersOf([{ pattern: '(?i)busy' }, { exitCode: 75 }, { exit_code: [75, 111] }])).toStrictEqual([
      { pattern: '(?i)busy' },
      { exitCode: [75] },
      { exitCode: [75, 111] },
    ])
    expect(matchersOf([])).toEqual([])
  })

  it.each(['netwrok', 500, null, {}, [], { pattern: 'a', exitCode: 1 }, { regex: 'a' }, true, undefined])(
    'are not %j',
    (matcher) => {
      expect(pathsOf({ retry_on: ['network', matcher] })).toEqual([
        matcher !== null && typeof matcher === 'object' && 'regex' in matcher ? 'retry_on[1].regex' : 'retry_on[1]',
      ])
    },
  )

  it.each([
    ['5xx', "write it as a list: `['5xx']`"],
    [(): boolean => true, 'write it as a list: `[(error) => …]`'],
    [5, undefined],
  ])('are a list: a single one is refused with the list to write: %s', (retryOn, suggestion) => {
    expect(problemsOf({ retryOn })[0]?.suggestion).toBe(suggestion)
  })

  it('get a suggestion when misspelt', () => {
    expect(problemsOf({ retryOn: ['netwrok'] })).toEqual([
      {
        path: 'retryOn[0]',
        message:
          '"netwrok" is not one of network, timeout, server_error, rate_limit, 5xx, exit:N, {pattern}, {exit_code}',
        suggestion: 'did you mean `network`?',
      },
    ])
    expect(problemsOf({ retryOn: [{}] })[0]?.message).toBe('needs exactly one of pattern, exitCode')
    expect(problemsOf({ retryOn: [{ pattern: 'a', exit_code: 1 }] })[0]?.message).toContain('pattern, exit_code')
  })

  it('stand in a list', () => {
    expect(pathsOf({ retry_on: 'network' })).toEqual(['retry_on'])
    expect(pathsOf({ retryOn: { 0: 'network', length: 1 } })).toEqual(['retryOn'])
  })

  it.each(['(', '(?=a)', '(a)\\1', 3])('have no pattern %s', (pattern) => {
    expect(problemsOf({ retryOn: ['network', { pattern }] })).toEqual([
      { path: 'retryOn[1].pattern', message: expect.stringMatching(/./) as string },
    ])
  })

  it('take exit:N as one exit code', () => {
    expect(matchersOf(['exit:75', 'network'])).toStrictEqual([{ exitCode: [75] }, 'network'])
    for (const wrong of ['exit:0', 'exit:256', 'exit:-1']) expect(pathsOf({ retryOn: [wrong] })).toEqual(['retryOn[0]'])
    for (const wrong of ['exit:', 'exit:x', 'exit: 75', 'exit:7.5'])
      expect(problemsOf({ retryOn: [wrong] })[0]?.message).toContain('exit:N')
  })

  it('have exit codes from 1 to 255, since 0 is no failure', () => {
    expect(pathsOf({ retryOn: [{ exitCode: [75, 0, 256, 1.5, '1'] }] })).toEqual(
      [1, 2, 3, 4].map((index) => `retryOn[0].exitCode[${index}]`),
    )
    expect(pathsOf({ retryOn: [{ exitCode: [] }] })).toEqual(['retryOn[0].exitCode'])
    expect(pathsOf({ retry_on: [{ exit_code: '75' }] })).toEqual(['retry_on[0].exit_code'])
  })
})

describe('a budget', () => {
  const read = (budget: unknown) => {
    const { policy, notes } = normalizePolicy({ budget })
    return { budget: policy.budget, notes }
  }

  it('is a name, trimmed, with a cost of 1 unless given', () => {
    expect(read(' api ')).toEqual({ budget: { name: 'api', cost: 1 }, notes: [] })
    expect(read({ name: 'api' })).toEqual({ budget: { name: 'api', cost: 1 }, notes: [] })
    expect(read({ name: 'api', cost: 2.5 })).toEqual({ budget: { name: 'api', cost: 2.5 }, notes: [] })
  })

  it('is none when its name is blank', () => {
    expect([read(''), read('  '), read({ name: '\t', cost: 3 })].map(({ budget }) => budget)).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it.each([0, 0.5, -3])('costs 1 when it is said to cost %d, and a note says so', (cost) => {
    expect(read({ name: 'api', cost })).toEqual({
      budget: { name: 'api', cost: 1 },
      notes: [`budget.cost ${cost} counts as 1.`],
    })
  })

  it.each([Number.NaN, Infinity, Number('1e400'), 2 ** 53 + 1, '1', null])('does not cost %s', (cost) => {
    expect(pathsOf({ budget: { name: 'api', cost } })).toEqual(['budget.cost'])
  })

  it.each([3, true, null, []])('is not %j', (budget) => {
    expect(pathsOf({ budget })).toEqual(['budget'])
  })

  it('needs a name and knows nothing but its cost', () => {
    expect(problemsOf({ budget: { cost: 2 } })).toEqual([{ path: 'budget', message: 'needs a `name`' }])
    expect(pathsOf({ budget: { name: 3 } })).toEqual(['budget.name'])
    expect(pathsOf({ budget: { name: 'a', share: true } })).toEqual(['budget.share'])
  })
})

describe('the name of a budget and the key of a breaker', () => {
  const NAMES = ['a\0b', 'a\u001bb', 'a\u007fb', 'half \ud800', 'x'.repeat(201)]

  it.each(NAMES)('is nothing that a store could not keep: %j', (name) => {
    const rule = 'must be a text of at most 200 characters, without control characters and lone surrogates'
    expect(problemsOf({ breaker: { key: name } })).toMatchObject([{ path: 'breaker.key', message: rule }])
    expect(problemsOf({ budget: { name } })).toMatchObject([{ path: 'budget.name', message: rule }])
    expect(pathsOf({ budget: name })).toEqual(['budget.name'])
    expect(pathsOf({ hedge: { delay: 1, budget: { name } } })).toEqual(['hedge.budget.name'])
  })

  it.each(['mail to EU', 'für Ada', '🚀', 'x'.repeat(200)])('may be any other text: %j', (name) => {
    expect(normalizePolicy({ breaker: { key: name }, budget: name }).policy).toMatchObject({
      breaker: { key: name },
      budget: { name },
    })
  })
})

describe('a breaker', () => {
  it('has defaults for everything', () => {
    expect(normalizePolicy({ breaker: {} }).policy.breaker).toStrictEqual({
      key: undefined,
      failureThreshold: 5,
      recoveryTimeoutMs: 30_000,
      halfOpenMaxCalls: 1,
    })
    expect(normalizePolicy({ breaker: { key: ' ' } }).policy.breaker?.key).toBeUndefined()
  })

  it.each([
    ['key', 3],
    ['failureThreshold', 0],
    ['failure_threshold', 1.5],
    ['recovery_timeout', 30],
    ['recoveryTimeout', -1],
    ['halfOpenMaxCalls', 0],
    ['half_open_max_calls', 2 ** 53],
    ['failure_treshold', 5],
  ])('refuses %s: %s', (key, value) => {
    expect(pathsOf({ breaker: { [key]: value } })).toEqual([`breaker.${key}`])
  })

  it.each([true, null, 'api', []])('is not %j', (breaker) => {
    expect(pathsOf({ breaker })).toEqual(['breaker'])
  })
})

describe('a hedge', () => {
  const hedgeOf = (hedge: unknown) => normalizePolicy({ hedge }).policy.hedge

  it('starts after a delay or at a percentile', () => {
    const rest = { maxHedges: 1, cancelOnFirstTerminal: false, budget: undefined, shareBudget: false }
    expect(hedgeOf({ delay: '100ms' })).toStrictEqual({ delayMs: 100, percentile: undefined, ...rest })
    expect(hedgeOf({ percentile: 99.9 })).toStrictEqual({ delayMs: undefined, percentile: 99.9, ...rest })
  })

  it('needs exactly one of the two', () => {
    const message = 'needs exactly one of delay, percentile'
    expect(problemsOf({ hedge: {} })).toEqual([{ path: 'hedge', message }])
    expect(problemsOf({ hedge: { delay: 1, percentile: 50 } })).toEqual([{ path: 'hedge', message }])
    expect(pathsOf({ hedge: { delay: 'x' } })).toEqual(['hedge.delay'])
    expect(pathsOf({ hedge: null })).toEqual(['hedge'])
  })

  it.each([0, 100, -1, Number.NaN, '95'])('has no percentile %s', (percentile) => {
    expect(pathsOf({ hedge: { percentile } })).toEqual(['hedge.percentile'])
  })

  it('has 1 to 3 copies; more are clamped with a note', () => {
    expect([1, 2, 3].map((maxHedges) => hedgeOf({ delay: 1, maxHedges })?.maxHedges)).toEqual([1, 2, 3])
    const { policy, notes } = normalizePolicy({ hedge: { delay: 1, max_hedges: 9 } })
    expect(policy.hedge?.maxHedges).toBe(3)
    expect(notes).toEqual(['hedge.max_hedges 9 counts as 3.'])
  })

  it.each([0, -1, 1.5, Infinity, '2'])('refuses %s copies', (maxHedges) => {
    expect(problemsOf({ hedge: { delay: 1, maxHedges } })).toEqual([
      { path: 'hedge.maxHedges', message: expect.stringContaining('a whole number from 1 to 3') as string },
    ])
  })

  it('has a budget of its own, shares that of the retry, or both', () => {
    const budgetOf = (budget: unknown) => {
      const hedge = hedgeOf({ delay: 1, budget })
      return [hedge?.budget, hedge?.shareBudget]
    }
    expect(budgetOf('extra')).toEqual([{ name: 'extra', cost: 1 }, false])
    expect(budgetOf({ name: 'extra', cost: 2 })).toEqual([{ name: 'extra', cost: 2 }, false])
    expect(budgetOf('share')).toEqual([undefined, true])
    expect(budgetOf({ name: 'extra', share: true })).toEqual([{ name: 'extra', cost: 1 }, true])
    expect(budgetOf({ name: 'share' })).toEqual([{ name: 'share', cost: 1 }, false])
    expect(budgetOf('')).toEqual([undefined, false])
    expect(pathsOf({ hedge: { delay: 1, budget: { name: 'extra', share: 'yes' } } })).toEqual(['hedge.budget.share'])
  })

  it('cancels on the first terminal failure if told', () => {
    expect(hedgeOf({ delay: 1, cancel_on_first_terminal: true })?.cancelOnFirstTerminal).toBe(true)
    expect(pathsOf({ hedge: { delay: 1, cancelOnFirstTerminal: 'yes' } })).toEqual(['hedge.cancelOnFirstTerminal'])
  })
})

describe('a budget itself', () => {
  it('is refused with one problem that says where it belongs', () => {
    expect(problemsOf({ budget: tokenBucket({ capacity: 10, refillPerSecond: 1 }) })).toEqual([
      {
        path: 'budget',
        message: 'is a budget, not the name of one',
        suggestion: "write `budget: 'api'`, and among the options `budgets: {api: …}`",
      },
    ])
  })

  it('that cannot be read is a problem, not a crash', () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error('no')
        },
      },
    )
    expect(pathsOf({ budget: hostile })).toEqual(['budget'])
  })
})
