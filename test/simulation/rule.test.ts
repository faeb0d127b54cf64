import { describe, expect, it } from 'vitest'
import { compare, isWorse, judgeTrial, type Trial } from './rule.js'
import { tryAtRandom } from './search.js'
import { ADAPTIVE, known } from './subjects.js'

const PATIENCE_MS = 180_000

const FLAPPING = { fault: 'flap', serviceShape: 'fixed', before: 1, during: 75_000, after: 60_000 } as const

describe('the rule that retries are never worse than none', { timeout: PATIENCE_MS }, () => {
  it('holds in 40 random scenarios of its domain with a fixed seed', () => {
    const found = Array.from({ length: 40 }, (_, seed) => tryAtRandom(seed, 'inside'))
    const worse = found.filter(({ verdict }) => isWorse(verdict))
    expect(worse.map(({ seed, verdict }) => ({ seed, difference: verdict.difference }))).toEqual([])
  })

  it('is hardly broken with a fresh seed', () => {
    const seed = Math.floor(Math.random() * 1_000_000)
    console.log('fresh seed of the search:', seed)
    const found = Array.from({ length: 10 }, (_, index) => tryAtRandom(seed + index, 'inside'))
    // One scenario in a hundred may be worse: two of ten are a chance of one in two hundred.
    const worse = found.filter(({ verdict }) => isWorse(verdict))
    expect(worse.length).toBeLessThanOrEqual(1)
    expect(worse.filter(({ verdict }) => verdict.difference < -0.03).map((one) => one.seed)).toEqual([])
    const differences = found.map(({ verdict }) => verdict.difference)
    expect(differences.reduce((sum, difference) => sum + difference, 0) / found.length).toBeGreaterThan(0)
  })

  it('is broken by retries without a budget, with every seed', () => {
    const trial = { scenario: { fault: 'hang', before: 20_000 }, attemptTimeoutMs: 1000, timeoutMs: 10_000 } as const
    const broken = judgeTrial(trial, 1, known('exponential-3'))
    expect(isWorse(broken)).toBe(true)
    expect(broken.again.map(isWorse)).toEqual([true, true, true])
    const [one, two, three] = broken.again.map(({ difference }) => difference) as [number, number, number]
    expect(broken.difference).toBeCloseTo((one + two + three) / 3)
    const kept = judgeTrial(trial, 1)
    expect(isWorse(kept)).toBe(false)
    expect(kept.again).toEqual([])
  })

  /** Found by searches: 9, 14 and 16 points worse while chance was taken for silence, and the end of a silence for usual. */
  it.each<[string, number, Trial]>([
    [
      'a part of the dependency that flaps, behind one budget',
      -0.04,
      {
        scenario: {
          ...FLAPPING,
          clients: 18,
          load: 0.72,
          capacity: 182,
          serviceTime: 163,
          queue: 1495,
          faultShare: 0.4,
        },
        attemptTimeoutMs: 512,
        timeoutMs: 2600,
      },
    ],
    [
      'the same with fast answers',
      -0.04,
      {
        scenario: {
          ...FLAPPING,
          clients: 18,
          load: 0.72,
          capacity: 182,
          serviceTime: 60,
          queue: 1495,
          faultShare: 0.4,
        },
        attemptTimeoutMs: 512,
        timeoutMs: 2600,
      },
    ],
    [
      'flapping at load 0.96 from a cold start',
      0,
      {
        scenario: {
          ...FLAPPING,
          clients: 1,
          load: 0.96,
          capacity: 232,
          serviceTime: 359,
          queue: 3474,
          errorRate: 0.17,
        },
        attemptTimeoutMs: 2674,
        timeoutMs: 37_952,
      },
    ],
  ])('hardly suffers from %s', (_, least, trial) => {
    for (const seed of [1, 2]) expect(judgeTrial(trial, seed).difference).toBeGreaterThan(least)
  })

  /** Found by a search and not mended: the bulkhead leaves the server to neighbours that retry without a budget. */
  it('is broken by greedy neighbours of a flapping server, by at most 22 points, and not without the bulkhead', () => {
    const scenario = {
      ...FLAPPING,
      serviceShape: 'lognormal',
      clients: 2,
      load: 0.915,
      capacity: 92,
      serviceTime: 160,
      queue: 1043,
      before: 7000,
      during: 150_000,
      neighbours: 0.3,
    } as const
    const trial: Trial = { scenario, attemptTimeoutMs: 1290, timeoutMs: 5919 }
    const alone: Trial = { ...trial, scenario: { ...scenario, neighbours: 0 } }
    expect(compare(trial, 1).difference).toBeGreaterThan(-0.22)
    expect(isWorse(compare(trial, 1, ADAPTIVE))).toBe(false)
    expect(compare(alone, 1).difference).toBeGreaterThan(0)
  })
})
