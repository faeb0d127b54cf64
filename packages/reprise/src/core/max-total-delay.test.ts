import { describe, expect, it } from 'vitest'
import { isRepriseError, type PolicyProblem } from './errors.js'
import { normalizePolicy } from './normalize.js'
import type { PolicyInput } from './policy.js'

function problemsOf(input: unknown): readonly PolicyProblem[] {
  try {
    normalizePolicy(input)
  } catch (error) {
    if (isRepriseError(error, 'invalid_policy')) return error.problems
  }
  throw new Error('It was not refused')
}

describe('the limit of all waits', () => {
  it('has two names in TypeScript, which may only say the same', () => {
    const retryBudgetOf = (input: PolicyInput): number | undefined => normalizePolicy(input).policy.retryBudgetMs
    expect(retryBudgetOf({ maxTotalDelay: '5s' })).toBe(5000)
    expect(retryBudgetOf({ maxTotalDelay: 5000, retryBudget: '5s' })).toBe(5000)
    expect(normalizePolicy({ maxTotalDelay: '5s' }).policy).toEqual(normalizePolicy({ retryBudget: '5s' }).policy)
    expect(problemsOf({ maxTotalDelay: '5s', retryBudget: '7s', attempts: 0 })).toEqual([
      { path: 'attempts', message: '0 is not a whole number from 1 to 1000' },
      {
        path: 'maxTotalDelay',
        message: 'is not what `retryBudget` says, its other name',
        suggestion: 'leave out one of the two',
      },
    ])
    expect(problemsOf({ maxTotalDelay: '5' })).toMatchObject([{ path: 'maxTotalDelay' }])
  })

  it('is retry_budget in a file', () => {
    const refused = { message: 'unknown field', suggestion: 'in a file it is `retry_budget`' }
    expect(problemsOf({ max_total_delay: '5s' })).toEqual([{ path: 'max_total_delay', ...refused }])
    expect(() => normalizePolicy({ maxTotalDelay: '5s' }, { needsUnits: true })).toThrow(refused.suggestion)
  })
})
