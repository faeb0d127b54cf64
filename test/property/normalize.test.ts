/**
 * Whatever is handed in as a policy: it comes out normalised or is refused with a `PolicyError`, and leaves no trace.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PolicyError } from '../../packages/reprise/src/core/errors.js'
import { normalizePolicy } from '../../packages/reprise/src/core/normalize.js'
import { POLICY_FIELDS } from '../../packages/workflow/src/document/policy-fields.js'
import { snakeCase } from '../../packages/workflow/src/document/spelling.js'

const KEYS = [
  ...POLICY_FIELDS.map(({ name }) => name.slice(name.lastIndexOf('.') + 1)).flatMap((name) => [name, snakeCase(name)]),
  ...['fixed', 'linear', 'exponential', 'fibonacci', 'custom', 'type'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'on_failure', 'attemps', ''],
]

const hostile = (): never => {
  throw new Error('hostile')
}

const leaf = fc.oneof(
  fc.constantFrom<unknown[]>(true, false, null, undefined, 0, -1, 1.5, 3, Number.NaN, Infinity, 2 ** 53 + 1, 3n),
  fc.constantFrom('fixed', 'linear', 'custom', 'network', '5xx', '1s', '5', 'share', 'full', 'a*a*a*b', '(', 'attempt'),
  fc.constantFrom<unknown[]>(Symbol('leaf'), () => true, hostile, new Proxy({}, { ownKeys: hostile, get: hostile })),
  fc.constant(Object.defineProperty({}, 'attempts', { get: hostile, enumerable: true })),
  fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withSparseArray: true }),
)

/** Built like JSON.parse builds: `__proto__` is a key like any other. */
const record = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .array(fc.tuple(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...KEYS) }, fc.string()), values), {
      maxLength: 8,
    })
    .map((pairs) => Object.fromEntries(pairs))

const junk = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof({ depthSize: 'small' }, leaf, record(tie('any')), fc.array(tie('any'), { maxLength: 4 })),
})).any

describe('junk', () => {
  it('is normalised or refused with a PolicyError, and touches no prototype', () => {
    const before = Reflect.ownKeys(Object.prototype)
    fc.assert(
      fc.property(fc.oneof(junk, record(junk)), (input) => {
        try {
          const { policy, notes } = normalizePolicy(input)
          expect(normalizePolicy(policy).policy).toBe(policy)
          expect(notes.every((note) => note.endsWith('.'))).toBe(true)
        } catch (error) {
          if (!(error instanceof PolicyError)) throw error
          expect(error.problems.length).toBeGreaterThan(0)
        }
      }),
      { numRuns: 2000 },
    )
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before)
  })
})

// ── the two spellings ────────────────────────────────────────────────────────────────────────────

const duration = fc.constantFrom('0ms', '5ms', '1.5s', '30s', '2m30s', '1h')
const count = fc.integer({ min: 1, max: 1000 })
const budget = fc.oneof(
  fc.constantFrom('api', ' padded ', ''),
  fc.record({ name: fc.constant('db'), cost: fc.constantFrom(-1, 0, 1, 2) }),
)

const partial = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { requiredKeys: [] })

const camelPolicy = partial({
  attempts: count,
  backoff: fc.oneof(
    fc.constantFrom('fixed', 'linear', 'fibonacci'),
    fc.constantFrom(1, 2, 2.5).map((base) => ({ exponential: { base } })),
    fc.array(duration, { minLength: 1, maxLength: 3 }).map((delays) => ({ type: 'custom', delays })),
  ),
  initialDelay: duration,
  maxDelay: duration,
  jitter: fc.constantFrom(true, false, 'full', 'equal', 'decorrelated'),
  jitterFactor: fc.constantFrom(0, 0.3, 1),
  retryOn: fc.array(fc.oneof(fc.constantFrom('network', '5xx'), fc.record({ exitCode: fc.constantFrom(1, 75) }))),
  retryBudget: duration,
  attemptTimeout: duration,
  timeout: duration,
  maxRetryAfter: duration,
  budget,
  breaker: partial({
    key: fc.constant('api'),
    failureThreshold: count,
    recoveryTimeout: duration,
    halfOpenMaxCalls: count,
  }),
  hedge: fc.record(
    {
      percentile: fc.constantFrom(50, 95, 99.9),
      maxHedges: fc.integer({ min: 1, max: 9 }),
      cancelOnFirstTerminal: fc.boolean(),
      budget: fc.oneof(budget, fc.constant('share')),
    },
    { requiredKeys: ['percentile'] },
  ),
})

function snakeTwin(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeTwin)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snakeTwin(inner),
    ]),
  )
}

describe('a policy', () => {
  it('means the same in camelCase and in snake_case', () => {
    fc.assert(
      fc.property(camelPolicy, (input) => {
        expect(normalizePolicy(snakeTwin(input)).policy).toStrictEqual(normalizePolicy(input).policy)
      }),
      { numRuns: 500 },
    )
  })

  it('comes back as it is when it has been normalised', () => {
    fc.assert(
      fc.property(camelPolicy, (input) => {
        const result = normalizePolicy(input)
        expect(normalizePolicy(result.policy)).toBe(result)
      }),
    )
  })
})
