import { describe, expect, it } from 'vitest'
import type { Budget } from '../core/budget.js'
import { countBudget } from '../core/budgets/count.js'
import { ALLOWED, DENIED } from '../core/gate.js'
import type { PolicyInput } from '../core/policy.js'
import { SERVICE_SHAPES } from './chance.js'
import { FAULT_KINDS, type ScenarioInput } from './scenario.js'
import { simulate } from './simulate.js'
import type { Subject } from './subject.js'

const SMALL: ScenarioInput = { clients: 10, capacity: 200, before: '10s', during: '10s', after: '20s' }
const ONCE: Subject = { name: 'once', policy: { attempts: 1, attemptTimeout: '1s', timeout: '10s' } }
const THRICE: Subject = {
  name: 'thrice',
  policy: { attempts: 3, initialDelay: '100ms', jitter: 'full', attemptTimeout: '1s', timeout: '10s' },
}

describe('a simulation', () => {
  it.each(FAULT_KINDS)('of %s gives the same bytes for the same seed, others for another', (fault) => {
    const run = (seed: number): string => JSON.stringify(simulate({ ...SMALL, fault }, THRICE, seed))
    expect(run(1)).toBe(run(1))
    expect(run(1)).not.toBe(run(2))
  })

  it('sees the same calls whatever the policy', () => {
    const calls = (subject: Subject): readonly number[] => simulate(SMALL, subject, 3).seconds.calls
    expect(calls(ONCE)).toEqual(calls(THRICE))
  })

  it.each(SERVICE_SHAPES)('serves at its capacity and no more, with %s service times', (serviceShape) => {
    const overloaded = { ...SMALL, fault: 'none', load: 2, serviceShape, queue: '100ms', during: '60s' } as const
    const { goodput } = simulate(overloaded, ONCE, 1)
    expect(goodput).toBeGreaterThan(0.9)
    expect(goodput).toBeLessThan(1.1)
  })

  it('waits as queueing theory says: M/M/1 at load 0.5 has a mean time in the system of two service times', () => {
    const single = { clients: 50, capacity: 100, serviceTime: '10ms', load: 0.5, fault: 'none', queue: '10s' } as const
    const { latencyMs } = simulate({ ...single, before: '1s', during: '600s', after: '1s' }, ONCE, 1)
    // The time in the system is exponential with mean 20 ms: its median is 20 ln 2, its 99th percentile 20 ln 100.
    expect(latencyMs.p50).toBeGreaterThan(20 * Math.LN2 * 0.9)
    expect(latencyMs.p50).toBeLessThan(20 * Math.LN2 * 1.1)
    expect(latencyMs.p99).toBeGreaterThan(20 * Math.log(100) * 0.85)
    expect(latencyMs.p99).toBeLessThan(20 * Math.log(100) * 1.15)
  })

  it('fails as often as it is told, and as seldom as retries make it', () => {
    const errors = { ...SMALL, load: 0.3, fault: 'errors', amount: 0.3, during: '60s' } as const
    expect(simulate(errors, ONCE, 1).success.during).toBeCloseTo(0.7, 1)
    expect(simulate(errors, THRICE, 1).success.during).toBeCloseTo(1 - 0.3 ** 3, 1)
    expect(simulate({ ...SMALL, fault: 'none', errorRate: 0.5 }, ONCE, 1).success.total).toBeCloseTo(0.5, 1)
  })

  it('hits the share of the traffic that the fault is of, and serves the rest', () => {
    const { parts, goodput } = simulate({ ...SMALL, faultShare: 0.2, during: '60s' }, ONCE, 1)
    expect(parts?.hit.success).toBeLessThan(0.05)
    expect(parts?.rest.success).toBeGreaterThan(0.99)
    expect((parts?.hit.calls ?? 0) / (parts?.rest.calls ?? 1)).toBeCloseTo(0.25, 1)
    expect(goodput).toBeGreaterThan(0.9)
    expect(simulate(SMALL, ONCE, 1).parts).toBeNull()
  })

  it('gives calls to the part that is hit a key of their own, if it is told to', () => {
    const keysOf = (scenario: ScenarioInput): Set<string> => {
      const keys = new Set<string>()
      const budget: Budget = { allowAttempt: ({ key }) => (keys.add(key), ALLOWED) }
      const policy = { attempts: 1, budget: 'seen' }
      simulate({ ...SMALL, ...scenario }, { name: 'seen', policy, budgets: { seen: () => budget } }, 1)
      return keys
    }
    expect(keysOf({ faultShare: 0.2, keyed: true })).toEqual(new Set(['hit', 'rest']))
    expect(keysOf({ faultShare: 0.2 })).toEqual(new Set(['']))
  })

  it('makes the calls of a burst at once, and more calls in an overload', () => {
    const callsIn = (scenario: ScenarioInput, second: number): number =>
      simulate({ ...SMALL, ...scenario }, ONCE, 1).seconds.calls[second] ?? 0
    const usual = callsIn({ fault: 'none' }, 10)
    expect(callsIn({ fault: 'none', burst: 1000 }, 10)).toBe(usual + 1000)
    const overloaded = simulate({ ...SMALL, fault: 'overload', amount: 2, during: '60s' }, ONCE, 1)
    const calls = (from: number, to: number): number =>
      overloaded.seconds.calls.slice(from, to).reduce((sum, count) => sum + count, 0)
    expect(calls(10, 70) / 60 / (calls(70, 90) / 20)).toBeCloseTo(2, 0)
  })

  it('replaces all clients by new ones with new budgets when they restart', () => {
    const made: Budget[] = []
    const budget = (): Budget => (made.push({ allowAttempt: () => ALLOWED }), made.at(-1) as Budget)
    const subject = { name: 'made', policy: { attempts: 1, budget: 'made' }, budgets: { made: budget } }
    const before = simulate({ ...SMALL, fault: 'none' }, subject, 1)
    const after = simulate({ ...SMALL, fault: 'none', restartAt: '15s' }, subject, 1)
    expect(made).toHaveLength(10 + 20)
    expect(after.calls / before.calls).toBeCloseTo(1, 1)
  })

  it('counts the calls of the subject alone beside neighbours, which retry without a budget', () => {
    const alone = simulate({ ...SMALL, load: 0.6 }, ONCE, 1)
    const beside = simulate({ ...SMALL, load: 0.6, neighbours: 0.5 }, ONCE, 1)
    expect(beside.calls / alone.calls).toBeCloseTo(0.5, 1)
    expect(beside.success.after).toBeLessThan(alone.success.after)
    expect(beside.goodput).toBeNull()
  })

  it('tells a budget of a timeout at once, and of its operation when that ends, if it ignores its signal', () => {
    const endsOf = (ignoresSignal: boolean): [concluded: number, settledThen: number] => {
      let concluded = 0
      let settled = 0
      let settledThen = 0
      const budget: Budget = {
        allowAttempt: () => ALLOWED,
        conclude: (_request, { now }) => {
          if (now > 19_000 && now < 20_000 && concluded++ === 0) settledThen = settled
        },
        settle: (_request, { now }) => void (now > 12_000 && settled++),
      }
      const policy = { attempts: 1, attemptTimeout: '1s', timeout: '5s', budget: 'ends' }
      simulate({ ...SMALL, ignoresSignal }, { name: 'ends', policy, budgets: { ends: () => budget } }, 1)
      return [concluded, settledThen]
    }
    const [concluded, settledThen] = endsOf(true)
    expect(concluded).toBeGreaterThan(0)
    expect(settledThen).toBeLessThan(endsOf(false)[1])
  })

  it('lets nothing through in a hang or a refusal, and answers again after it', () => {
    for (const fault of ['hang', 'refuse'] as const) {
      const report = simulate({ ...SMALL, fault, load: 0.3 }, ONCE, 1)
      expect(report.success.during).toBeLessThan(0.01)
      expect(report.goodput).toBeNull()
      expect(report.recoveryMs).toBeLessThanOrEqual(3000)
      expect(report.seconds.useful.slice(25).every((useful) => useful > 0)).toBe(true)
    }
  })

  it('works off what its clients have given up on: a queue outlives the hang', () => {
    const { recoveryMs } = simulate({ ...SMALL, load: 0.75, after: '60s' }, ONCE, 1)
    expect(recoveryMs).toBeGreaterThanOrEqual(2000)
  })

  it('works by turns when it flaps, and slower or with fewer workers when told so', () => {
    const goodput = (input: ScenarioInput): number => simulate({ ...SMALL, load: 0.3, ...input }, ONCE, 1).goodput ?? 0
    const flapping = simulate({ ...SMALL, load: 0.3, fault: 'flap' }, ONCE, 1).seconds.useful
    expect(flapping[11]).toBe(0)
    expect(flapping[13]).toBeGreaterThan(30)
    expect(goodput({ fault: 'capacity', amount: 0.5 })).toBeGreaterThan(0.95)
    expect(goodput({ fault: 'slow', amount: 2 })).toBeGreaterThan(0.95)
    expect(simulate({ ...SMALL, fault: 'capacity', amount: 0 }, ONCE, 1).success.during).toBeLessThan(0.05)
  })

  it('asks the budgets that the policy names, one for each client, and peeks where the process would', () => {
    const budgets = { few: () => countBudget({ total: 2 }) }
    const subject: Subject = {
      ...THRICE,
      policy: { ...(THRICE.policy as PolicyInput), budget: 'few' },
      budgets,
    }
    const report = simulate({ ...SMALL, fault: 'refuse' }, subject, 1)
    expect(report.attempts - report.calls).toBe(2 * 10)
  })

  it('hedges without retries, and counts what a hedge costs', () => {
    const policy = { attempts: 1, hedge: { delay: '50ms' }, timeout: '10s' } as const
    const slowTail = { ...SMALL, fault: 'none', serviceShape: 'long-tail', load: 0.2 } as const
    const plain = simulate(slowTail, ONCE, 1)
    const hedged = simulate(slowTail, { name: 'hedged', policy }, 1)
    expect(hedged.latencyMs.p99).toBeLessThan(plain.latencyMs.p99 / 2)
    expect(hedged.extra).toBeGreaterThan(0.01)
    expect(hedged.wasted).toBeLessThanOrEqual(hedged.extra)
  })

  it('concludes every attempt that a budget allowed, right before it is settled, and grants that were not used', () => {
    let [allowed, settled, unused, hedgeAsks] = [0, 0, 0, 0]
    let concluding: unknown
    const budget: Budget = {
      allowAttempt: ({ kind }) => {
        // Every third hedge is refused at its second ask, when it has a grant already.
        if (kind === 'hedge' && ++hedgeAsks % 6 === 0) return DENIED
        allowed++
        return ALLOWED
      },
      conclude: ({ launch }, outcome) => {
        expect(concluding).toBeUndefined()
        concluding = { launch, outcome }
        if (outcome.result === 'aborted' && outcome.latencyMs === 0) unused++
      },
      settle: ({ launch }, outcome) => {
        expect({ launch, outcome }).toEqual(concluding)
        concluding = undefined
        settled++
      },
    }
    const hedge = { delay: '50ms', budget: { name: 'both', share: true } }
    const policy = { ...(THRICE.policy as object), budget: 'both', hedge } as Subject['policy']
    const scenario = { ...SMALL, load: 0.3, before: '5s', after: '30s' } as const
    simulate(scenario, { ...THRICE, policy, budgets: { both: () => budget } }, 1)
    expect(allowed).toBeGreaterThan(1000)
    expect(unused).toBeGreaterThan(10)
    // What still runs when the simulation ends has no outcome.
    expect(allowed - settled).toBeLessThan(50)
  })

  it('ends calls without a timeout too', () => {
    const { success } = simulate({ ...SMALL, load: 0.3 }, { name: 'patient', policy: { attempts: 1 } }, 1)
    expect(success.total).toBeGreaterThan(0.9)
  })
})
