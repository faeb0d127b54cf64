/**
 * What the adaptive budget promises under any history: retries are clocked by successes, waste is bounded, an outage is
 * met with next to no retries, the line is in order, and nobody in it is forgotten or woken twice.
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adaptiveBudget } from '../../packages/reprise/src/core/budgets/index.js'
import { COMBINATIONS, type Event, outage, Story, story } from './adaptive-story.js'

/** Sums of fractions are compared with this much grace. */
const GRACE = 1e-6

const paid = (event: Event): boolean => event.type === 'launch' && event.way === 'paid'
const count = (events: readonly Event[], matches: (event: Event) => boolean): number => events.filter(matches).length

/** By how much paid launches in any interval exceed the credit there can have been and what came in; 0 if none does. */
function worstExcess(events: readonly Event[]): number {
  let worst = 0
  let mostCredit = 0
  events.forEach((first, from) => {
    let balance = from === 0 ? 0 : mostCredit
    mostCredit = Math.max(mostCredit, first.maxCredit)
    for (const event of events.slice(from)) {
      if (event.type !== 'launch') balance++
      else if (event.way === 'paid') balance--
      worst = Math.max(worst, -balance)
    }
  })
  return worst
}

describe.each(COMBINATIONS)('an adaptive budget, bulkhead $bulkhead, strict $strict', (options) => {
  it('lets retries go in any interval only for credit that was there, successes and grants handed back', () => {
    fc.assert(
      fc.property(story(), (actions) => {
        expect(worstExcess(new Story(options).play(actions).events)).toBe(0)
      }),
    )
  })

  it('lets retries go only when a model of the credit has one', () => {
    fc.assert(
      fc.property(story(), (actions) => {
        let credit = 0
        for (const event of new Story(options).play(actions).events) {
          if (event.type !== 'launch') credit++
          else if (event.way === 'paid') {
            expect(credit).toBeGreaterThanOrEqual(1)
            credit--
          }
        }
      }),
    )
  })

  it('wastes no more than five and a fifth of the successes', () => {
    fc.assert(
      fc.property(story(), (actions) => {
        let left = 5
        for (const event of new Story(options).play(actions).events) {
          if (event.type === 'launch') left -= event.cost
          else left += event.refund + (event.type === 'success' ? 0.2 : 0)
          expect(left).toBeGreaterThanOrEqual(-GRACE)
        }
      }),
    )
  })

  it('in a total outage lets no more retries go than a tenth of a second’s calls, or one, however many calls fail', () => {
    fc.assert(
      fc.property(story(), outage, (before, during) => {
        const scene = new Story(options).play(before)
        const from = scene.events.length
        let mostCredit = scene.maxCredit
        scene.play(during, () => {
          mostCredit = Math.max(mostCredit, scene.maxCredit)
        })
        expect(count(scene.events.slice(from), paid)).toBeLessThanOrEqual(mostCredit)
      }),
    )
  })

  it('from a fresh start in an outage lets no retry go but probes', () => {
    fc.assert(
      fc.property(outage, (actions) => {
        expect(count(new Story(options).play(actions).events, paid)).toBe(0)
      }),
    )
  })

  it('never has less than nothing of anything, nor more than its places and its most waste', () => {
    fc.assert(
      fc.property(story(), (actions) => {
        const scene = new Story(options)
        let mostWaste = 5
        scene.play(actions, () => {
          const { budget } = scene
          mostWaste = Math.max(mostWaste, 2 * scene.rateNow)
          const { waste, used } = budget.snapshot()
          expect(waste).toBeGreaterThanOrEqual(-GRACE)
          expect(waste).toBeLessThanOrEqual(mostWaste + GRACE)
          expect(used).toBe(budget.inFlight)
          expect(budget.inFlight).toBeGreaterThanOrEqual(0)
          expect(budget.parked).toBeGreaterThanOrEqual(0)
          expect(budget.parked).toBeLessThanOrEqual(Math.min(8, scene.line.length))
        })
      }),
    )
  })

  it('serves its line in order as long as nobody has been passed over', () => {
    fc.assert(
      fc.property(story(), (actions) => {
        const scene = new Story(options)
        scene.onWake = (waiting) => {
          if (!scene.mayBeOverrun) expect(waiting).toBe(scene.line[0])
        }
        scene.play(actions)
      }),
    )
  })

  it('passes nobody over who has the time', () => {
    fc.assert(
      fc.property(story(), (actions) => {
        const scene = new Story(options)
        scene.play(actions, () => {
          const inTime = scene.line.filter((waiting) => !waiting.mayBeLate)
          expect(scene.budget.parked).toBeGreaterThanOrEqual(inTime.length)
        })
      }),
    )
  })

  it('comes back from a snapshot with the same waste, floor and flight, and without credit', () => {
    fc.assert(
      fc.property(story(), (actions) => {
        const scene = new Story(options).play(actions)
        const state = scene.budget.snapshot()
        const heir = adaptiveBudget(options)
        heir.restore(JSON.parse(JSON.stringify(state)))
        const { rate, ...rest } = heir.snapshot()
        const { rate: _rate, ...before } = state
        expect(rest).toEqual(before)
        expect(rate.atMs).toBe(state.rate.atMs)
        expect(rate.perSecond).toBeCloseTo(state.rate.perSecond)
        expect(heir.inFlight).toBe(scene.budget.inFlight)
        const request = { key: 'k', kind: 'retry', ref: { name: 'b', cost: 1 }, deadlineMs: Infinity } as const
        expect(heir.allowAttempt({ ...request, attempt: 2, now: scene.now }).allowed).toBe(false)
      }),
    )
  })

  it('says when to poll exactly while somebody waits', () => {
    fc.assert(
      fc.property(story(), (actions) => {
        const scene = new Story(options)
        scene.play(actions, () => {
          expect(scene.budget.wakeAtMs() < Infinity).toBe(scene.budget.parked > 0)
        })
      }),
    )
  })

  it('wakes everybody who waits in the end, each once and nobody who has left', () => {
    fc.assert(
      fc.property(story(), (actions) => {
        const scene = new Story(options).play(actions)
        // Long enough to be past a clock that was set back, too.
        for (let i = 0; i < 20_000 && scene.budget.parked > 0; i++) {
          // A first attempt in every place that comes free would keep the line as long as it is.
          if (scene.running.length > 0) scene.act({ type: 'end', pick: 0, result: 'success', latencyMs: 1 })
          else scene.act({ type: 'first', limits: { deadlineMs: 10, attemptTimeoutMs: undefined } })
          scene.act({ type: 'time', ms: 1 })
        }
        expect(scene.budget.parked).toBe(0)
        expect(scene.budget.wakeAtMs()).toBe(Infinity)
      }),
    )
  })

  it('probes when told to poll at the time it says, until nobody waits, though nothing ever ends', () => {
    fc.assert(
      fc.property(story(), (actions) => {
        const scene = new Story(options).play(actions)
        for (let polls = 0; polls < 500 && scene.budget.parked > 0; polls++) {
          scene.now = Math.max(scene.now + 1, scene.budget.wakeAtMs())
          scene.act({ type: 'poll', random: 0.5 })
        }
        expect(scene.budget.parked).toBe(0)
      }),
    )
  })
})
