import { describe, expect, it } from 'vitest'
import { PolicyError, type PolicyProblem } from './errors.js'
import { normalizePolicy } from './normalize.js'
import type { Backoff } from './policy.js'

const backoffOf = (backoff: unknown): Backoff => normalizePolicy({ backoff }).policy.backoff

function problemsOf(backoff: unknown): readonly PolicyProblem[] {
  try {
    normalizePolicy({ backoff })
  } catch (error) {
    if (error instanceof PolicyError) return error.problems
    throw error
  }
  return []
}

const pathsOf = (backoff: unknown): string[] => problemsOf(backoff).map(({ path }) => path)

describe('a backoff', () => {
  it.each([
    ['fixed', { fixed: {} }, { type: 'fixed' }, { type: 'fixed' }],
    ['linear', { linear: null }, { type: 'linear' }, { type: 'linear', incrementMs: 1000 }],
    ['exponential', { exponential: {} }, { type: 'exponential' }, { type: 'exponential', base: 2 }],
    ['fibonacci', { fibonacci: undefined }, { type: 'fibonacci' }, { type: 'fibonacci' }],
  ])('is one form however %s is written', (word, nested, flat, normal) => {
    expect([word, nested, flat].map(backoffOf)).toEqual([normal, normal, normal])
  })

  it.each([
    [{ linear: { increment: '2s' } }, { type: 'linear', increment: 2000 }, { type: 'linear', incrementMs: 2000 }],
    [{ exponential: { base: 1.5 } }, { type: 'exponential', base: 1.5 }, { type: 'exponential', base: 1.5 }],
    [
      { custom: { delays: ['1s', 5] } },
      { type: 'custom', delays: [1000, '5ms'] },
      { type: 'custom', delaysMs: [1000, 5] },
    ],
    [{ custom: { formula: 'max' } }, { type: 'custom', formula: 'max' }, { type: 'custom', formula: 'max' }],
  ])('takes its parameters nested or flat: %j', (nested, flat, normal) => {
    expect([nested, flat].map(backoffOf)).toStrictEqual([normal, normal])
  })

  it('that is bare linear grows by the initial delay, wherever that is written', () => {
    const { policy } = normalizePolicy({ backoff: 'linear', initial_delay: '3s' })
    expect(policy.backoff).toEqual({ type: 'linear', incrementMs: 3000 })
  })

  it.each([3, true, null, [], () => 1])('is not %s', (backoff) => {
    expect(pathsOf(backoff)).toEqual(['backoff'])
  })

  it('names a known strategy', () => {
    expect(problemsOf('exponentail')).toEqual([
      {
        path: 'backoff',
        message: '"exponentail" is not one of fixed, linear, exponential, fibonacci, custom',
        suggestion: 'did you mean `exponential`?',
      },
    ])
    expect(pathsOf({ type: 'linar', increment: 'x' })).toEqual(['backoff.type'])
    expect(pathsOf({ type: undefined })).toEqual(['backoff.type'])
    expect(pathsOf({ linar: {} })).toEqual(['backoff.linar'])
    expect(pathsOf({ __proto__: null, constructor: {} })).toEqual(['backoff.constructor'])
  })

  it('names exactly one', () => {
    const message = 'needs exactly one of fixed, linear, exponential, fibonacci, custom'
    expect(problemsOf({})).toEqual([{ path: 'backoff', message }])
    expect(problemsOf({ linear: {}, fixed: {} })).toEqual([{ path: 'backoff', message }])
  })

  it('takes no parameter of another strategy', () => {
    expect(pathsOf({ fixed: { base: 2 } })).toEqual(['backoff.fixed.base'])
    expect(pathsOf({ type: 'linear', base: 2 })).toEqual(['backoff.base'])
    expect(pathsOf({ linear: '2s' })).toEqual(['backoff.linear'])
  })

  it.each([0, -2, Number.NaN, Infinity, Number('1e400'), 2 ** 53 + 1, '2', null])('has no base %s', (base) => {
    expect(pathsOf({ exponential: { base } })).toEqual(['backoff.exponential.base'])
    expect(pathsOf({ type: 'exponential', base })).toEqual(['backoff.base'])
  })
})

describe('a custom backoff', () => {
  it('needs either delays or a formula', () => {
    const message = 'needs exactly one of delays, formula'
    expect(problemsOf('custom')).toEqual([{ path: 'backoff', message }])
    expect(problemsOf({ custom: {} })).toEqual([{ path: 'backoff.custom', message }])
    expect(problemsOf({ type: 'custom', delays: [1], formula: '1' })).toEqual([{ path: 'backoff', message }])
  })

  it('has 1 to 1000 delays, each a duration', () => {
    expect(backoffOf({ custom: { delays: Array(1000).fill('1s') } })).toHaveProperty('delaysMs.length', 1000)
    expect(problemsOf({ custom: { delays: [] } })).toEqual([
      { path: 'backoff.custom.delays', message: 'needs a list of 1 to 1000 items' },
    ])
    expect(pathsOf({ custom: { delays: Array(1001).fill('1s') } })).toEqual(['backoff.custom.delays'])
    expect(pathsOf({ custom: { delays: '1s' } })).toEqual(['backoff.custom.delays'])
    expect(pathsOf({ custom: { delays: ['1s', 'x', undefined, -1] } })).toEqual(
      [1, 2, 3].map((index) => `backoff.custom.delays[${index}]`),
    )
  })

  it('has a formula that parses', () => {
    expect(problemsOf({ custom: { formula: 'attempt +' } })).toEqual([
      {
        path: 'backoff.custom.formula',
        message: 'at character 10: unexpected end: expected a number or one of attempt, initial, max, previous',
      },
    ])
    expect(pathsOf({ custom: { formula: 3 } })).toEqual(['backoff.custom.formula'])
  })
})
