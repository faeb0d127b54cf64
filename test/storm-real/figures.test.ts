import { describe, expect, it } from 'vitest'
import { backS, realFigures } from './figures.mjs'
import { judge } from './goals.mjs'
import { SHORT } from './rig.mjs'

const scenario = { ...SHORT['brown-out'], beforeMs: 2000, faultMs: 3000, afterMs: 10_000 }

/** A hundred calls in each of the 15 seconds, of which this many fail. */
function secondsWith(failed: Readonly<Record<number, number>>) {
  const calls = Array.from({ length: 15 }, () => 100)
  const succeeded = calls.map((count, second) => count - (failed[second] ?? 0))
  return { calls, attempts: calls, useful: succeeded, succeeded }
}

describe('a policy is back', () => {
  it('at once when 99 % of the calls of every 5 s after the fault succeed', () => {
    expect(backS(secondsWith({ 2: 100, 3: 100, 4: 100, 7: 5 }), scenario)).toBe(0)
  })

  it('after the last 5 s that fall short, not after the first that do not', () => {
    expect(backS(secondsWith({ 5: 50, 6: 50, 9: 6 }), scenario)).toBe(5)
  })

  it('never when the last 5 s fall short', () => {
    expect(backS(secondsWith({ 14: 6 }), scenario)).toBeNull()
  })
})

describe('the figures of a replay', () => {
  it('count success from the beginning of the fault, and goodput against what the server can do in it', () => {
    const report = { seconds: secondsWith({ 0: 100, 2: 60, 3: 60, 4: 60 }), latenciesMs: [], stops: {} }
    const { during, after, success, goodput } = realFigures(report, scenario)
    expect({ during, after }).toEqual({ during: 0.4, after: 1 })
    expect(success).toBeCloseTo((3 * 40 + 1000) / 1300)
    // Five of eight workers answer 62.5 of 100 calls/s.
    expect(goodput).toBeCloseTo(40 / 62.5)
  })
})

describe('the goals of a storm', () => {
  const report = { seconds: secondsWith({}), latenciesMs: [], stops: {} }
  const good = realFigures(report, scenario)

  it('are missed by a policy that is more than half a point worse than no retries', () => {
    const goalsAt = (success: number) =>
      judge(
        'burst',
        new Map([
          ['none', good],
          ['recommended', { ...good, success }],
        ]),
      )
    expect(goalsAt(0.996).map(({ met }) => met)).toEqual([true])
    expect(goalsAt(0.994).map(({ met }) => met)).toEqual([false])
  })

  it('are not judged where no retries were not replayed', () => {
    expect(judge('burst', new Map([['recommended', good]]))).toEqual([])
  })
})
