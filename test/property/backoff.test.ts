/**
 * Delays over all strategies, all jitters and up to 10 000 failures: finite, never negative, within their bounds.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffDelay, delayAfter } from '../../packages/reprise/src/core/backoff.js'
import { formatDuration, parseDuration } from '../../packages/reprise/src/core/duration.js'
import { compileFormula } from '../../packages/reprise/src/core/formula.js'
import { normalizePolicy } from '../../packages/reprise/src/core/normalize.js'
import type { BackoffInput, PolicyInput } from '../../packages/reprise/src/core/policy.js'

const MAX_MS = 365 * 86_400_000

const durationMs = fc.oneof(
  fc.constantFrom(0, 0.001, 1, 1000, 30_000, MAX_MS),
  fc.integer({ min: 0, max: 120_000 }),
  fc.integer({ min: 0, max: MAX_MS }),
)
const failures = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 10_000 }))
const chance = fc.oneof(fc.constantFrom(0, 1 - 2 ** -53), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }))

/** Arithmetic of every shape, sense or nonsense. */
const formula = fc.letrec<{ sum: string; term: string }>((tie) => ({
  sum: fc.oneof(
    { depthSize: 'small' },
    tie('term'),
    fc
      .tuple(tie('sum'), fc.constantFrom('+', '-', '*', '/', '%', '^'), tie('sum'))
      .map(([left, operator, right]) => `${left} ${operator} ${right}`),
    tie('sum').map((inner) => `(${inner})`),
    tie('sum').map((inner) => `-${inner}`),
  ),
  term: fc.oneof(
    fc.constantFrom('attempt', 'initial', 'max', 'previous'),
    fc.integer({ min: 0, max: 1_000_000 }).map(String),
    fc.constantFrom('0.5', '1.5', '1000000000000'),
  ),
})).sum

const validFormula = formula.filter((text) => typeof compileFormula(text) === 'function')

const backoff: fc.Arbitrary<BackoffInput> = fc.oneof(
  fc.constantFrom('fixed', 'linear', 'exponential', 'fibonacci'),
  durationMs.map((increment) => ({ linear: { increment } })),
  fc
    .oneof(fc.constantFrom(5e-324, 0.5, 1, 2, Number.MAX_SAFE_INTEGER), fc.double({ min: 0.01, max: 100, noNaN: true }))
    .map((base) => ({ exponential: { base } })),
  fc.array(durationMs, { minLength: 1, maxLength: 20 }).map((delays) => ({ custom: { delays } })),
  validFormula.map((text) => ({ custom: { formula: text } })),
)

const policy: fc.Arbitrary<PolicyInput> = fc.record({
  backoff,
  initialDelay: durationMs,
  maxDelay: durationMs,
  jitter: fc.constantFrom<NonNullable<PolicyInput['jitter']>[]>(false, true, 'full', 'equal', 'decorrelated'),
  jitterFactor: fc.double({ min: 0, max: 1, noNaN: true }),
})

describe('every delay', () => {
  it('is finite, never negative and within the cap, but for half of the proportional factor', () => {
    fc.assert(
      fc.property(policy, failures, durationMs, chance, (input, n, previousMs, draw) => {
        const normal = normalizePolicy(input).policy
        const delayMs = backoffDelay(normal, n, previousMs, () => draw)
        const excess = normal.jitter === 'proportional' ? 1 + normal.jitterFactor / 2 : 1
        expect(delayMs).toBeGreaterThanOrEqual(0)
        expect(delayMs).toBeLessThanOrEqual(normal.maxDelayMs * excess)
      }),
      { numRuns: 2000 },
    )
  })

  it('is drawn once with jitter and never without', () => {
    fc.assert(
      fc.property(policy, failures, durationMs, (input, n, previousMs) => {
        const normal = normalizePolicy(input).policy
        const drawn: number[] = []
        const draw = (failure: number): number => {
          drawn.push(failure)
          return 0.5
        }
        backoffDelay(normal, n, previousMs, draw)
        expect(drawn).toEqual(normal.jitter === 'none' ? [] : [n])
      }),
    )
  })

  it('lies between the bounds of its jitter', () => {
    fc.assert(
      fc.property(policy, failures, durationMs, chance, (input, n, previousMs, draw) => {
        const normal = normalizePolicy(input).policy
        const plainMs = backoffDelay({ ...normal, jitter: 'none' }, n, previousMs, () => draw)
        const delayMs = backoffDelay(normal, n, previousMs, () => draw)
        const half = normal.jitterFactor / 2
        const floor = Math.min(normal.initialDelayMs, normal.maxDelayMs)
        const [low, high] = {
          none: [plainMs, plainMs],
          proportional: [plainMs * (1 - half), plainMs * (1 + half)],
          full: [0, plainMs],
          equal: [plainMs / 2, plainMs],
          decorrelated: [floor, normal.maxDelayMs],
        }[normal.jitter]
        expect(delayMs).toBeGreaterThanOrEqual((low ?? 0) - 1e-3)
        expect(delayMs).toBeLessThanOrEqual((high ?? 0) + 1e-3)
      }),
      { numRuns: 1000 },
    )
  })

  it('is the same for the same draws, and finite after 10 000 failures', () => {
    fc.assert(
      fc.property(policy, chance, (input, draw) => {
        for (const random of [undefined, () => draw]) {
          const delayMs = delayAfter(input, 10_000, random)
          expect(delayMs).toBeGreaterThanOrEqual(0)
          expect(delayMs).toBeLessThan(Infinity)
          expect(delayAfter(input, 10_000, random)).toBe(delayMs)
        }
      }),
      { numRuns: 50 },
    )
  })
})

describe('a formula', () => {
  it('is parsed or refused with a place within the text, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(formula, fc.string({ maxLength: 600 }), fc.string({ unit: 'binary' })), (text) => {
        const compiled = compileFormula(text)
        if (typeof compiled === 'function') {
          expect(compiled({ attempt: 1, initial: 2, max: 3, previous: 4 })).toBeTypeOf('number')
        } else {
          expect(compiled.at).toBeGreaterThanOrEqual(0)
          expect(compiled.at).toBeLessThanOrEqual(text.length)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('means what JavaScript means by the same text', () => {
    // A minus before a power is a syntax error there, so powers are left out.
    const shared = validFormula.filter((text) => !text.includes('^')).map((text) => text.replaceAll('-', ' - '))
    const values = { attempt: 3, initial: 1000, max: 30_000, previous: 700 }
    fc.assert(
      fc.property(shared, (text) => {
        const compiled = compileFormula(text)
        const names = Object.keys(values)
        // oxlint-disable-next-line no-new-func typescript/no-implied-eval -- the reference to compare with
        const reference = new Function(...names, `return ${text}`) as (...args: number[]) => number
        expect(typeof compiled === 'function' && compiled(values)).toBe(reference(...Object.values(values)))
      }),
    )
  })
})

describe('a duration', () => {
  it('reads back as what was written, to the microsecond', () => {
    fc.assert(
      fc.property(fc.oneof(durationMs, fc.double({ min: 0, max: MAX_MS, noNaN: true })), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBeCloseTo(ms, 3)
        const text = formatDuration(ms)
        expect(formatDuration(parseDuration(text))).toBe(text)
      }),
      { numRuns: 1000 },
    )
  })

  it('of a whole number of milliseconds reads back exactly', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_MS }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms)
      }),
      { numRuns: 1000 },
    )
  })
})
