import { type Report, type ScenarioInput, simulate } from 'reprise/simulate'
import { describe, expect, it } from 'vitest'
import { ADAPTIVE, known, NONE, RECOMMENDED } from './subjects.js'
import {
  BulkheadThatNeverLearns,
  FloorThatFollows,
  FloorThatForgets,
  HalfARetryPerSuccess,
  NoLatencyGate,
  withBudget,
} from './variants.js'

const PATIENCE_MS = 60_000
const BUSY: ScenarioInput = { load: 0.85, after: '60s' }

function run(scenario: ScenarioInput, subject = ADAPTIVE): Report {
  return simulate(scenario, subject, 1)
}

describe('what our budget is made of, shown by leaving it out', { timeout: PATIENCE_MS }, () => {
  it('is back soon after a hang, and after a long one', () => {
    for (const during of ['30s', '125s'] as const) {
      const { recoveryMs, success } = run({ ...BUSY, during })
      expect(recoveryMs).toBeLessThanOrEqual(10_000)
      expect(success.after).toBeGreaterThan(0.85)
    }
  })

  it.each([
    ['half a retry per success', '30s', () => new HalfARetryPerSuccess()],
    ['credit for late answers too', '30s', () => new NoLatencyGate()],
    ['a floor that follows the latency', '30s', () => new FloorThatFollows()],
    ['a floor that a long outage empties', '125s', () => new FloorThatForgets()],
  ] as const)('collapses with %s', (name, during, make) => {
    const { recoveryMs, success } = run({ ...BUSY, during }, withBudget(name, make))
    expect(recoveryMs).toBeNull()
    expect(success.after).toBeLessThan(0.6)
  })

  it('starves behind a bulkhead that never learns, when a dependency has become slow for good', () => {
    const shift: ScenarioInput = {
      fault: 'slow',
      amount: 10,
      clients: 1,
      capacity: 4000,
      load: 0.015,
      during: '110s',
      after: '1s',
    }
    const stiff = run(
      shift,
      withBudget('stiff', () => new BulkheadThatNeverLearns()),
    )
    expect(run(shift, NONE).success.during).toBeGreaterThan(0.99)
    expect(stiff.success.during).toBeLessThan(0.7)
    expect(run(shift, RECOMMENDED).success.during).toBeGreaterThan(0.999)
  })
})

describe('what the policies that everybody uses do in the same outage', { timeout: PATIENCE_MS }, () => {
  it.each(['exponential-3', 'exponential-5', 'unlimited'])('%s never comes back', (name) => {
    const { amplification, recoveryMs } = run({}, known(name))
    expect(recoveryMs).toBeNull()
    expect(amplification.mean).toBeGreaterThan(2.5)
  })

  it('without retries there is no storm, and no help', () => {
    const outage = run({}, NONE)
    expect(outage.amplification).toEqual({ worst: 1, mean: 1 })
    expect(outage.recoveryMs).toBeLessThan(8000)
    expect(run({ fault: 'errors', amount: 0.2 }, NONE).success.during).toBeCloseTo(0.8, 1)
  })
})
