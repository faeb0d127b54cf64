import { adaptiveBudget } from 'reprise'
import { type Report, type ScenarioInput, simulate } from 'reprise/simulate'
import { describe, expect, it } from 'vitest'
import { ADAPTIVE, known, NONE, RECOMMENDED } from './subjects.js'
import { HalfARetryPerSuccess, NoWorth, recommendedWith, withBudget } from './variants.js'

const PATIENCE_MS = 60_000
/** Clients with 7.5 calls a second, as in the comparison of policies, and half as many. */
const SIZE = { clients: 50, capacity: 500 } as const
const BUSY: ScenarioInput = { load: 0.85, after: '60s' }

function run(scenario: ScenarioInput, subject = ADAPTIVE): Report {
  return simulate({ ...SIZE, ...scenario }, subject, 1)
}

describe('what our budget is made of, shown by leaving it out', { timeout: PATIENCE_MS }, () => {
  it('is back soon after a hang, and after a long one', () => {
    for (const during of ['30s', '125s'] as const) {
      const { recoveryMs, success } = run({ ...BUSY, during })
      expect(recoveryMs).toBeLessThanOrEqual(10_000)
      expect(success.after).toBeGreaterThan(0.85)
    }
  })

  it('collapses with half a retry for every success', () => {
    const { recoveryMs, success } = run(
      BUSY,
      withBudget('half', () => new HalfARetryPerSuccess()),
    )
    expect(recoveryMs).toBeNull()
    expect(success.after).toBeLessThan(0.6)
  })

  it('uses what is left in a long brown-out only if first attempts are held', () => {
    const brownOut: ScenarioInput = { fault: 'capacity', amount: 0.625, load: 0.85, during: '120s', after: '60s' }
    expect(run(brownOut, RECOMMENDED).goodput).toBeGreaterThan(0.75)
    const free = recommendedWith('free', () => adaptiveBudget())
    expect(run(brownOut, free).goodput).toBeLessThan(0.4)
  })

  it('stops retrying a dead shard only if it learns that retries do not help', () => {
    const shard: ScenarioInput = { fault: 'refuse', faultShare: 0.1, during: '60s', after: '10s' }
    expect(run(shard, RECOMMENDED).parts?.hit.amplification).toBeLessThan(1.8)
    const blind = recommendedWith('blind', () => new NoWorth())
    expect(run(shard, blind).parts?.hit.amplification).toBeGreaterThan(2)
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
