import { describe, expect, it } from 'vitest'
import { compare, isWorse } from './rule.js'
import { tryAtRandom } from './search.js'
import { known } from './subjects.js'

const PATIENCE_MS = 180_000

describe('the rule that retries are never worse than none', { timeout: PATIENCE_MS }, () => {
  it('holds in 40 random scenarios of its domain with a fixed seed', () => {
    const found = Array.from({ length: 40 }, (_, seed) => tryAtRandom(seed, 'inside'))
    const worse = found.filter(({ comparison }) => isWorse(comparison))
    expect(worse.map(({ seed, comparison }) => ({ seed, difference: comparison.difference }))).toEqual([])
  })

  it('is hardly broken with a fresh seed', () => {
    const seed = Math.floor(Math.random() * 1_000_000)
    console.log('fresh seed of the search:', seed)
    const found = Array.from({ length: 10 }, (_, index) => tryAtRandom(seed + index, 'inside'))
    // One scenario in a hundred may be worse, so ten of them say little: all of them together must not be.
    const mean = found.reduce((sum, { comparison }) => sum + comparison.difference, 0) / found.length
    expect(mean).toBeGreaterThan(0)
  })

  it('is broken by retries without a budget', () => {
    const trial = { scenario: { fault: 'hang', before: 20_000 }, attemptTimeoutMs: 1000, timeoutMs: 10_000 } as const
    expect(isWorse(compare(trial, 1, known('exponential-3')))).toBe(true)
    expect(isWorse(compare(trial, 1))).toBe(false)
  })
})
