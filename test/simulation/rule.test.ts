import { describe, expect, it } from 'vitest'
import { compare, isWorse, judgeTrial, TOLERANCE, type Trial } from './rule.js'
import { tryAtRandom } from './search.js'
import { ADAPTIVE, known } from './subjects.js'

const PATIENCE_MS = 180_000

const FLAPPING = { fault: 'flap', serviceShape: 'fixed', before: 1, during: 75_000, after: 60_000 } as const

/** Exponential answers, and a minute of trouble that clients with a history meet. */
const LONG = { before: 40_000, during: 60_000, after: 60_000 } as const

describe('the rule that retries are never worse than none', { timeout: PATIENCE_MS }, () => {
  it('holds in 30 random scenarios of its domain with a fixed seed', () => {
    const found = Array.from({ length: 30 }, (_, seed) => tryAtRandom(seed, 'inside'))
    const worse = found.filter(({ verdict }) => isWorse(verdict))
    expect(worse.map(({ seed, verdict }) => ({ seed, difference: verdict.difference }))).toEqual([])
  })

  it('is hardly broken with a fresh seed', () => {
    const seed = Math.floor(Math.random() * 1_000_000)
    console.log('fresh seed of the search:', seed)
    const found = Array.from({ length: 10 }, (_, index) => tryAtRandom(seed + index, 'inside'))
    // One scenario in a hundred may be worse: two of ten are a chance of one in two hundred. A search of 2 000 finds a few
    // that are worse by more than 3 points, so what a chance of one in thousands may show is bounded more widely.
    const worse = found.filter(({ verdict }) => isWorse(verdict))
    expect(worse.length).toBeLessThanOrEqual(1)
    expect(worse.filter(({ verdict }) => verdict.difference < -0.1).map((one) => one.seed)).toEqual([])
    const differences = found.map(({ verdict }) => verdict.difference)
    expect(differences.reduce((sum, difference) => sum + difference, 0) / found.length).toBeGreaterThan(0)
  })

  it('is broken by retries without a budget, with every seed', () => {
    const scenario = { fault: 'hang', before: 20_000, during: 15_000, clients: 25, capacity: 250 } as const
    const trial = { scenario, attemptTimeoutMs: 1000, timeoutMs: 10_000 } as const
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

  /**
   * Found by searches: 2 to 29 points worse while a few attempts in a row without an answer, or without a fast one, were
   * taken for trouble though that happens by chance, and first answers after a silence for those of an outage.
   */
  it.each<[string, Trial]>([
    [
      'an outage of a nearly saturated server with a call of each client in two attempt timeouts',
      {
        scenario: { fault: 'hang', clients: 87, load: 0.944, capacity: 184, serviceTime: 22.7, queue: 431, ...LONG },
        attemptTimeoutMs: 293,
        timeoutMs: 4735,
      },
    ],
    [
      'errors that clients with less than a call in an attempt timeout see',
      {
        scenario: {
          ...{ fault: 'errors', amount: 0.388, clients: 120, load: 0.746, capacity: 303, serviceTime: 225 },
          ...LONG,
        },
        attemptTimeoutMs: 417,
        timeoutMs: 7784,
      },
    ],
    [
      'answers that are late in a fifth of the cases, while nothing is wrong',
      {
        scenario: { fault: 'none', clients: 65, load: 0.776, capacity: 128, serviceTime: 2477, queue: 2226, ...LONG },
        attemptTimeoutMs: 3828,
        timeoutMs: 10_584,
      },
    ],
    [
      'a deadline of two attempt timeouts, slow answers and lost capacity',
      {
        scenario: {
          ...{ fault: 'capacity', amount: 0.774, clients: 19, load: 0.5, capacity: 407, serviceTime: 248 },
          ...{ queue: 120, errorRate: 0.147, before: 1, during: 43_000, after: 60_000 },
        },
        attemptTimeoutMs: 481,
        timeoutMs: 1149,
      },
    ],
    [
      'a cold start on a dependency whose answers take four fifths of the attempt timeout',
      {
        scenario: {
          ...{ fault: 'none', clients: 4, load: 0.946, capacity: 314, serviceTime: 1107, serviceShape: 'fixed' },
          ...{ queue: 1426, before: 1, during: 10_600, after: 60_000, restartAt: 4096 },
        },
        attemptTimeoutMs: 1402,
        timeoutMs: 8680,
      },
    ],
  ])('holds for %s', (_, trial) => {
    expect(judgeTrial(trial, 1).difference).toBeGreaterThan(-TOLERANCE)
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
