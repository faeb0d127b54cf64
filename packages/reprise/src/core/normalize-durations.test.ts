import { describe, expect, it } from 'vitest'
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

describe('a duration in words', () => {
  it.each([
    ['5 minutes', '5m'],
    ['30 s', '30s'],
    ['1.5 Hours', '1.5h'],
    ['200 milliseconds', '200ms'],
    ['10sec', '10s'],
    ['2 days', '2d'],
  ])('%s is answered with %s', (written, meant) => {
    expect(problemsOf({ timeout: written })).toMatchObject([{ suggestion: `did you mean \`${meant}\`?` }])
    expect(normalizePolicy({ timeout: meant }).policy.timeoutMs).toBeGreaterThan(0)
  })

  it.each(['5 months', 'soon', '5', 'm'])('%s has no short form', (written) => {
    expect(problemsOf({ timeout: written })[0]).not.toHaveProperty('suggestion')
  })
})
