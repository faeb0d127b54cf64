/** The simulation tests that the first description of the retry strategies asks for by name. */
import { normalizePolicy, type PolicyInput } from 'reprise'
import { decide, initialState } from 'reprise/core'
import { simulate } from 'reprise/simulate'
import { seededRandom } from 'reprise/testing'
import { describe, expect, it } from 'vitest'
import { known } from './subjects.js'

/** When callers that fail together wake again, in whole milliseconds. */
function wakeTimes(input: PolicyInput, callers: number): Set<number> {
  const { policy } = normalizePolicy(input)
  const random = seededRandom(7)
  const failure = { type: 'failure', retryable: true, retryAfterMs: undefined } as const
  const verdicts = Array.from({ length: callers }, () =>
    decide(policy, initialState(null), failure, 0, random, { breaker: undefined }),
  )
  return new Set(verdicts.map((verdict) => (verdict.type === 'retry' ? Math.round(verdict.dueAtMs) : -1)))
}

describe('a thundering herd', () => {
  const policy: PolicyInput = { attempts: 3, backoff: 'exponential', initialDelay: '1s' }

  it('of 20 callers wakes at 15 times or more with jitter', () => {
    for (const jitter of ['full', 'equal', 'decorrelated', 'proportional'] as const) {
      expect(wakeTimes({ ...policy, jitter }, 20).size).toBeGreaterThanOrEqual(15)
    }
  })

  it('of 20 callers wakes at one time without', () => {
    expect(wakeTimes({ ...policy, jitter: false }, 20)).toEqual(new Set([1000]))
  })
})

const SIZE = { clients: 50, capacity: 500 } as const

describe('a circuit breaker', () => {
  it('cuts the attempts of an outage to a fraction, and costs successes when failures are chance', () => {
    const during = (name: string): number => simulate(SIZE, known(name), 1).amplification.mean
    expect(during('breaker')).toBeLessThan(0.3)
    expect(during('exponential-3')).toBeGreaterThan(2.5)
    const errors = { ...SIZE, fault: 'errors', amount: 0.2 } as const
    const broken = simulate(errors, known('breaker'), 1).success.during
    expect(broken).toBeLessThan(simulate(errors, known('exponential-3'), 1).success.during)
  }, 60_000)
})
