/**
 * The decision function over random policies, outcomes, seeds and cut points: pure, within every limit, and the same
 * whether the call went on in one process or its state was stored and read back any number of times.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Breaker } from '../../packages/reprise/src/core/breaker.js'
import type { Decision } from '../../packages/reprise/src/core/budget.js'
import { admit, advance, decide, type Outcome, type Verdict } from '../../packages/reprise/src/core/decide.js'
import { normalizePolicy } from '../../packages/reprise/src/core/normalize.js'
import type { BackoffInput, Policy, PolicyInput } from '../../packages/reprise/src/core/policy.js'
import {
  drawsOf,
  initialState,
  type RetryState,
  snapshot,
  type StoredState,
} from '../../packages/reprise/src/core/state.js'

const BACKOFFS: readonly BackoffInput[] = [
  'fixed',
  'linear',
  { linear: { increment: 70 } },
  'exponential',
  { exponential: { base: 1.5 } },
  'fibonacci',
  { custom: { delays: [5, 0, 900, 40] } },
  { custom: { formula: 'initial * attempt ^ 2' } },
  { custom: { formula: 'previous * 2 - initial / 3' } },
]
const JITTERS: ReadonlyArray<NonNullable<PolicyInput['jitter']>> = [false, true, 'full', 'equal', 'decorrelated']
const STRATEGIES = BACKOFFS.flatMap((backoff) => JITTERS.map((jitter) => ({ backoff, jitter })))

const durationMs = fc.oneof(fc.constantFrom(0, 0.5, 1, 100, 1000), fc.integer({ min: 0, max: 5000 }))
const limits: fc.Arbitrary<PolicyInput> = fc.record(
  {
    attempts: fc.integer({ min: 1, max: 12 }),
    initialDelay: durationMs,
    maxDelay: durationMs,
    jitterFactor: fc.double({ min: 0, max: 1, noNaN: true }),
    retryBudget: fc.integer({ min: 0, max: 20_000 }).map((ms) => `${ms}ms`),
    timeout: fc.integer({ min: 0, max: 30_000 }),
    maxRetryAfter: fc.integer({ min: 0, max: 5000 }),
  },
  { requiredKeys: [] },
)
const strategy = fc.constantFrom(...STRATEGIES)
const policies = fc.tuple(limits, strategy).map(([input, chosen]) => normalizePolicy({ ...input, ...chosen }).policy)
const seed = fc.integer({ min: 0, max: 2 ** 32 - 1 })

/** One attempt as the driver meets it: how long it ran, how it ended, what the gates said, whether the state was stored. */
interface Step {
  readonly runMs: number
  readonly outcome: Outcome
  readonly allots: boolean
  readonly peeks: boolean
  readonly cut: boolean
  readonly awayMs: number
}

const mostly = fc.integer({ min: 0, max: 19 }).map((n) => n > 0)
const failure = fc.record({
  type: fc.constant('failure' as const),
  retryable: mostly,
  retryAfterMs: fc.option(fc.integer({ min: 0, max: 5500 }), { nil: undefined, freq: 8 }),
})
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  { weight: 20, arbitrary: failure },
  { weight: 1, arbitrary: fc.constant({ type: 'success' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'aborted' as const }) },
)
const step: fc.Arbitrary<Step> = fc.record({
  runMs: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 3000, noNaN: true })),
  outcome,
  allots: mostly,
  peeks: mostly,
  cut: fc.boolean(),
  awayMs: fc.integer({ min: 0, max: 10_000 }),
})
const steps = fc.array(step, { minLength: 1, maxLength: 15 })
const startMs = fc.constantFrom(0, 1_700_000_000_000.25)

const answer = (allowed: boolean): Decision => ({ allowed, reason: allowed ? 'allowed' : 'none left' })

type Keep = (state: RetryState, step: Step) => RetryState

/** Drives a call from failure to failure as any driver does; `keep` may replace the state between two attempts. */
function drive(policy: Policy, callSeed: number, fromMs: number, taken: readonly Step[], keep: Keep): Verdict[] {
  const verdicts: Verdict[] = []
  let state = initialState(policy.timeoutMs === undefined ? null : fromMs + policy.timeoutMs)
  let now = fromMs
  for (const next of taken) {
    now += next.runMs
    state.launched++
    const gates = { breaker: undefined, peek: () => next.peeks, allot: () => answer(next.allots) }
    const verdict = decide(policy, state, next.outcome, now, drawsOf(callSeed), gates)
    verdicts.push(verdict)
    if (verdict.type !== 'retry') break
    advance(state, verdict)
    now = verdict.dueAtMs
    state = keep(state, next)
  }
  return verdicts
}

const restore = (stored: StoredState): RetryState => JSON.parse(JSON.stringify(stored)) as StoredState

describe('decide and admit', () => {
  const states: fc.Arbitrary<RetryState> = fc.record({
    failures: fc.integer({ min: 0, max: 12 }),
    launched: fc.integer({ min: 1, max: 30 }),
    totalDelayMs: fc.double({ min: 0, max: 30_000, noNaN: true }),
    lastDelayMs: fc.double({ min: 0, max: 5000, noNaN: true }),
    expiresAtMs: fc.option(fc.integer({ min: 0, max: 20_000 })),
    deadlineAtMs: fc.option(fc.integer({ min: 0, max: 20_000 })),
    resumed: fc.boolean(),
  })
  const now = fc.integer({ min: 0, max: 20_000 })

  it('change nothing and answer the same to the same question', () => {
    fc.assert(
      fc.property(
        policies,
        states,
        step,
        now,
        seed,
        (policy, state, { outcome: ended, allots, peeks }, at, callSeed) => {
          const frozen = Object.freeze({ ...state })
          const ask = (): Verdict =>
            decide(policy, frozen, Object.freeze({ ...ended }), at, drawsOf(callSeed), {
              breaker: undefined,
              peek: () => peeks,
              allot: () => answer(allots),
            })
          expect(ask()).toStrictEqual(ask())
          expect(frozen).toEqual(state)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('charge an allotment once for a retry, and never for a stop', () => {
    const opened = fc.option(fc.integer({ min: 0, max: 40_000 }))
    const property = fc.property(policies, states, step, now, opened, (policy, state, given, at, openMs) => {
      let charged = 0
      const breaker = new Breaker('k', { key: 'k', failureThreshold: 1, recoveryTimeoutMs: 9000, halfOpenMaxCalls: 1 })
      if (openMs !== null) breaker.open(openMs)
      const allot = (): Decision => {
        if (given.allots) charged++
        return answer(given.allots)
      }
      const gates = { breaker, peek: () => given.peeks, allot }
      const verdict = decide(policy, { ...state }, given.outcome, at, drawsOf(7), gates)
      expect(charged).toBe(verdict.type === 'retry' ? 1 : 0)
    })
    fc.assert(property, { numRuns: 2000 })
  })

  it('admit alike as long as their breaker is in the same state', () => {
    const decision = fc.constantFrom<Decision[]>({ allowed: true, reason: 'a' }, { allowed: false, reason: 'b' })
    const opened = fc.option(fc.integer({ min: 0, max: 20_000 }))
    fc.assert(
      fc.property(
        states,
        fc.boolean(),
        fc.boolean(),
        now,
        decision,
        opened,
        (state, aborted, parks, at, said, openMs) => {
          const frozen = Object.freeze({ ...state })
          const ask = (): unknown => {
            const breaker = new Breaker('k', {
              key: 'k',
              failureThreshold: 1,
              recoveryTimeoutMs: 1000,
              halfOpenMaxCalls: 1,
            })
            if (openMs !== null) breaker.open(openMs)
            return admit(frozen, { aborted, parks, now: at, breaker, ask: () => said })
          }
          expect(ask()).toStrictEqual(ask())
          expect(frozen).toEqual(state)
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('a call that goes on from its stored state', () => {
  it.each(STRATEGIES)('decides as if it had never stopped: %j', (chosen) => {
    fc.assert(
      fc.property(limits, seed, startMs, steps, (input, callSeed, fromMs, taken) => {
        const { policy } = normalizePolicy({ ...input, ...chosen })
        const uninterrupted = drive(policy, callSeed, fromMs, taken, (state) => state)
        const stored = drive(policy, callSeed, fromMs, taken, (state, { cut }) =>
          cut ? restore(snapshot(state, callSeed)) : state,
        )
        expect(stored).toStrictEqual(uninterrupted)
      }),
      { numRuns: 100 },
    )
  })

  it('finds its seed in what was stored', () => {
    fc.assert(
      fc.property(seed, fc.integer({ min: 1, max: 1000 }), (callSeed, n) => {
        const stored = JSON.parse(JSON.stringify(snapshot(initialState(null), callSeed))) as StoredState
        expect(drawsOf(stored.seed)(n)).toBe(drawsOf(callSeed)(n))
      }),
    )
  })

  it('from a lost owner is never more lenient: the same decisions up to one that the date forbids', () => {
    fc.assert(
      fc.property(policies, seed, startMs, steps, (policy, callSeed, fromMs, taken) => {
        const live = drive(policy, callSeed, fromMs, taken, (state) => state)
        const resumed = drive(policy, callSeed, fromMs, taken, (state, { cut }) =>
          cut ? { ...restore(snapshot(state, callSeed)), resumed: true } : state,
        )
        const last = resumed.at(-1)
        if (last?.type === 'stop' && last.reason === 'retry_budget_exhausted') resumed.pop()
        expect(resumed).toStrictEqual(live.slice(0, resumed.length))
        if (last?.type !== 'stop' || last.reason !== 'retry_budget_exhausted') expect(resumed).toHaveLength(live.length)
      }),
      { numRuns: 2000 },
    )
  })

  it('from a lost owner neither retries nor starts once the date has come', () => {
    fc.assert(
      fc.property(policies, seed, steps, (policy, callSeed, taken) => {
        fc.pre(policy.retryBudgetMs !== undefined)
        let firstFailureMs: number | undefined
        const state = initialState(null)
        let now = 0
        for (const next of taken) {
          now += next.runMs
          const verdict = decide(policy, state, next.outcome, now, drawsOf(callSeed), { breaker: undefined })
          if (verdict.type !== 'retry') return
          firstFailureMs ??= now
          const endMs = firstFailureMs + (policy.retryBudgetMs ?? 0)
          expect(verdict.expiresAtMs).toBe(endMs)
          if (state.resumed) expect(now).toBeLessThan(endMs)
          advance(state, verdict)
          state.resumed = true
          now = verdict.dueAtMs + next.awayMs
          const gates = {
            aborted: false,
            parks: false,
            now,
            breaker: undefined,
            ask: () => ({ allowed: true, reason: '' }),
          }
          const admission = admit(state, gates)
          expect(admission.type).toBe(now >= endMs ? 'stop' : 'start')
          if (admission.type === 'stop') return
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('the limits of a policy', () => {
  it('hold: attempts, time budget, deadline, Retry-After and the cap of each delay', () => {
    fc.assert(
      fc.property(policies, seed, startMs, steps, (policy, callSeed, fromMs, taken) => {
        const states: RetryState[] = []
        const verdicts = drive(policy, callSeed, fromMs, taken, (state) => {
          states.push({ ...state })
          return state
        })
        expect(verdicts.length).toBeLessThanOrEqual(policy.attempts)
        const last = states.at(-1)
        expect(last?.totalDelayMs ?? 0).toBeLessThanOrEqual(policy.retryBudgetMs ?? Infinity)
        const excess = policy.jitter === 'proportional' ? 1 + policy.jitterFactor / 2 : 1
        verdicts.forEach((verdict, i) => {
          if (verdict.type !== 'retry') return
          const ended = taken[i]?.outcome as Extract<Outcome, { type: 'failure' }>
          const asked = ended.retryAfterMs ?? 0
          expect(asked).toBeLessThanOrEqual(policy.maxRetryAfterMs)
          expect(verdict.delayMs).toBeGreaterThanOrEqual(asked)
          expect(verdict.delayMs).toBeLessThanOrEqual(Math.max(asked, policy.maxDelayMs * excess))
          if (policy.jitter === 'decorrelated') {
            expect(verdict.delayMs).toBeGreaterThanOrEqual(Math.min(policy.initialDelayMs, policy.maxDelayMs))
          }
          if (policy.timeoutMs !== undefined) expect(verdict.dueAtMs).toBeLessThan(fromMs + policy.timeoutMs)
          expect(states[i]).toMatchObject({ failures: i + 1, launched: i + 1, lastDelayMs: verdict.delayMs })
        })
      }),
      { numRuns: 3000 },
    )
  })
})

describe('the draws of a seed', () => {
  const BINS = 64
  /** Chi-square with 63 degrees of freedom exceeds 150 once in 10⁸ samples of a fair source. */
  const MAX_CHI_SQUARE = 150

  function chiSquare(draws: Iterable<number>): number {
    const bins = new Uint32Array(BINS)
    let total = 0
    for (const chance of draws) {
      const bin = Math.floor(chance * BINS)
      bins[bin] = (bins[bin] ?? 0) + 1
      total++
    }
    const expected = total / BINS
    return bins.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
  }
  const indices = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

  it('are numbers in [0, 1), for every seed and every failure', () => {
    fc.assert(
      fc.property(
        fc.oneof(seed, fc.integer(), fc.double({ noNaN: true })),
        fc.integer({ min: 0, max: 10_000 }),
        (s, n) => {
          const chance = drawsOf(s)(n)
          expect(chance).toBeGreaterThanOrEqual(0)
          expect(chance).toBeLessThan(1)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('are even over the failures of one call', () => {
    for (const s of [0, 1, 42, 0x9e3779b9, 2 ** 32 - 1]) {
      expect(chiSquare(indices(20_000).map((n) => drawsOf(s)(n + 1)))).toBeLessThan(MAX_CHI_SQUARE)
    }
  })

  it('are even over the calls, at whichever failure and with neighbouring seeds', () => {
    for (const n of [1, 2, 3, 10, 999]) {
      expect(chiSquare(indices(20_000).map((s) => drawsOf(s)(n)))).toBeLessThan(MAX_CHI_SQUARE)
    }
  })

  it('of one failure say nothing of the next', () => {
    const pairs = indices(40_000).map((s) => {
      const draw = drawsOf(s)
      return (Math.floor(draw(1) * 8) * 8 + Math.floor(draw(2) * 8)) / BINS
    })
    expect(chiSquare(pairs)).toBeLessThan(MAX_CHI_SQUARE)
  })
})
