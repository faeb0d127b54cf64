/**
 * What the adaptive budget promises under any history: retries are clocked by fast successes, waste is bounded, an
 * outage is met with next to no retries, the lines are in order, and no waiter is forgotten or woken twice.
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AdaptiveBudgetState, adaptiveBudget } from '../../packages/reprise/src/core/budgets/adaptive.js'
import { AdaptiveHistory, cheap, COMBINATIONS, type Event, history, outage } from './adaptive-history.js'

/** Sums of fractions are compared with this tolerance. */
const TOLERANCE = 1e-6

const paidIn = (events: readonly Event[]): Extract<Event, { type: 'launch' }>[] =>
  events.filter((event) => event.type === 'launch').filter(({ way }) => way === 'paid')

/** What lets one more retry go: a fast success, a grant that was not used, or a call after a long time without any. */
const mintsCredit = (event: Event): boolean =>
  event.type === 'unused' || event.type === 'anew' || (event.type === 'success' && event.mints)

/** By how much the retries in any interval exceed the credit there can have been at its start and what came in. */
function worstExcess(events: readonly Event[]): number {
  let worst = 0
  events.forEach((first, from) => {
    if (first.type !== 'launch' || first.way !== 'paid') return
    let credit = first.mostCredit
    for (const event of events.slice(from)) {
      if (mintsCredit(event)) credit++
      else if (event.type === 'launch' && event.way === 'paid') credit--
      worst = Math.max(worst, -credit)
    }
  })
  return worst
}

/** All numbers anywhere in a value. */
const numbersIn = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [value]

const roundTrip = (state: unknown): unknown => JSON.parse(JSON.stringify(state))

describe.each(COMBINATIONS)('an adaptive budget with bulkhead $bulkhead and strict $strict', (options) => {
  it('allows retries in any interval only for the credit at its start, fast successes and unused grants', () => {
    fc.assert(
      fc.property(history, (actions) => {
        expect(worstExcess(new AdaptiveHistory(options).play(actions).events)).toBe(0)
      }),
    )
  })

  it('allows retries only for the one credit it starts with, fast successes and unused grants', () => {
    fc.assert(
      fc.property(history, (actions) => {
        let credit = 1
        for (const event of new AdaptiveHistory(options).play(actions).events) {
          if (mintsCredit(event)) credit++
          else if (event.type === 'launch' && event.way === 'paid') credit--
          expect(credit).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })

  it('allows no retry more than a patience after the last fast success, unless retries have helped a client with few calls', () => {
    fc.assert(
      fc.property(history, (actions) => {
        for (const { isFresh } of paidIn(new AdaptiveHistory(options).play(actions).events)) expect(isFresh).toBe(true)
      }),
    )
  })

  it('wastes no more retries than four, a fifth of the successes and the probes', () => {
    fc.assert(
      fc.property(history, (actions) => {
        let tokens = 4
        for (const event of new AdaptiveHistory(options).play(cheap(actions)).events) {
          if (event.type === 'unused') tokens++
          else if (event.type === 'success') tokens += 0.2 + (event.returns ? 1 : 0)
          else if (event.type === 'launch' && event.way === 'paid') tokens--
          expect(tokens).toBeGreaterThanOrEqual(-TOLERANCE)
        }
      }),
    )
  })

  it('wastes no more retries in any interval than the tokens at its start, a fifth of the successes and the probes', () => {
    fc.assert(
      fc.property(history, history, (before, after) => {
        const run = new AdaptiveHistory(options).play(cheap(before))
        let tokens = run.budget.snapshot().waste
        const from = run.events.length
        run.play(cheap(after))
        for (const event of run.events.slice(from)) {
          if (event.type === 'unused') tokens++
          else if (event.type === 'success') tokens += 0.2 + (event.returns ? 1 : 0)
          else if (event.type === 'launch' && event.way === 'paid') tokens--
          expect(tokens).toBeGreaterThanOrEqual(-TOLERANCE)
        }
      }),
    )
  })

  it('in a total outage allows no more retries than the credit that may be kept, however many calls fail', () => {
    fc.assert(
      fc.property(history, outage, (before, during) => {
        const run = new AdaptiveHistory(options).play(before)
        const from = run.events.length
        run.play(during)
        const events = run.events.slice(from)
        const retries = paidIn(events)
        const most = (retries[0]?.mostCredit ?? 0) + events.filter(({ type }) => type === 'anew').length
        expect(retries.length).toBeLessThanOrEqual(most)
      }),
    )
  })

  it('from a fresh start in an outage allows one retry besides probes, and none if it is strict', () => {
    fc.assert(
      fc.property(outage, (actions) => {
        const { events } = new AdaptiveHistory(options).play(actions)
        const most = 1 + events.filter(({ type }) => type === 'anew').length
        expect(paidIn(events).length).toBeLessThanOrEqual(options.strict === true ? 0 : most)
      }),
    )
  })

  it('has exactly the attempts in flight that were allowed and not concluded', () => {
    fc.assert(
      fc.property(history, (actions) => {
        const run = new AdaptiveHistory(options)
        run.play(actions, () => expect(run.budget.inFlight).toBe(run.running.length))
      }),
    )
  })

  it('has no attempts in line but those that wait, and at most maxParked', () => {
    fc.assert(
      fc.property(history, (actions) => {
        const run = new AdaptiveHistory(options)
        run.play(actions, () => {
          expect(run.budget.parked).toBeGreaterThanOrEqual(0)
          expect(run.budget.parked).toBeLessThanOrEqual(Math.min(8, run.line.length))
        })
      }),
    )
  })

  it('passes over no waiter that has the time', () => {
    fc.assert(
      fc.property(history, (actions) => {
        const run = new AdaptiveHistory(options)
        run.play(actions, () => {
          const inTime = run.inTime(true).length + run.inTime(false).length
          expect(run.budget.parked).toBeGreaterThanOrEqual(inTime)
        })
      }),
    )
  })

  it('has an empty line after all waiters have left in any order', () => {
    fc.assert(
      fc.property(history, fc.array(fc.nat(50), { minLength: 100, maxLength: 100 }), (actions, picks) => {
        const run = new AdaptiveHistory(options).play(actions)
        for (const pick of picks) run.act({ type: 'leave', pick })
        expect([run.line.length, run.budget.parked, run.budget.wakeAtMs()]).toEqual([0, 0, Infinity])
      }),
    )
  })

  it('names a time to be polled at exactly while an attempt is in line', () => {
    fc.assert(
      fc.property(history, (actions) => {
        const run = new AdaptiveHistory(options)
        run.play(actions, () => expect(run.budget.wakeAtMs() < Infinity).toBe(run.budget.parked > 0))
      }),
    )
  })

  it('lets no retry out of line while a first attempt waits that has the time', () => {
    fc.assert(
      fc.property(history, (actions) => {
        const run = new AdaptiveHistory(options)
        run.onWake = ({ request }) => {
          if (request.launch > 1) expect(run.inTime(true)).toEqual([])
        }
        run.play(actions)
      }),
    )
  })

  it('serves first attempts, and retries, first come first served until one of them may have been passed over', () => {
    fc.assert(
      fc.property(history, (actions) => {
        const run = new AdaptiveHistory(options)
        run.onWake = (waiting) => expect(run.isInOrder(waiting)).toBe(true)
        run.play(actions)
      }),
    )
  })

  it('never has a number that is not finite, less than nothing, or a share above 1', () => {
    fc.assert(
      fc.property(history, (actions) => {
        const run = new AdaptiveHistory(options)
        run.play(actions, () => {
          const { waste, rate, window, worth } = run.budget.snapshot()
          const numbers = numbersIn({ waste, rate, window, worth })
          const shares = numbersIn({ worth, fastShare: window.fastShare }) as number[]
          const isWrong = (number: unknown): boolean => !Number.isFinite(number)
          const isNoShare = (share: number): boolean => share < -TOLERANCE || share > 1 + TOLERANCE
          // One comparison for all of them: it is made after every action.
          expect([numbers.filter(isWrong), shares.filter(isNoShare), waste >= -TOLERANCE]).toEqual([[], [], true])
          expect(run.budget.wakeAtMs()).not.toBeNaN()
          expect(worth.value).toBeGreaterThanOrEqual(0.01)
        })
      }),
    )
  })

  it('keeps what it has learned and what is in flight in a snapshot, but no credit', () => {
    fc.assert(
      fc.property(history, (actions) => {
        const run = new AdaptiveHistory(options).play(actions)
        const { rate, ...rest } = run.budget.snapshot()
        const successor = adaptiveBudget(options)
        successor.restore(roundTrip({ rate, ...rest }))
        const restored: AdaptiveBudgetState = successor.snapshot()
        expect(restored).toMatchObject(rest)
        expect(restored.rate.atMs).toBe(rate.atMs)
        expect(restored.rate.perSecond).toBeCloseTo(rate.perSecond)
        expect(successor.inFlight).toBe(run.running.length)
        const request = { key: 'k', kind: 'retry', ref: { name: 'b', cost: 1 }, deadlineMs: Infinity } as const
        expect(successor.allowAttempt({ ...request, attempt: 2, launch: 2, now: run.now }).allowed).toBe(false)
      }),
    )
  })

  it('behaves the same after it was restored from a snapshot, from the text of it and from a snapshot of that', () => {
    fc.assert(
      fc.property(history, history, (before, after) => {
        const state: unknown = new AdaptiveHistory(options).play(before).budget.snapshot()
        const copy = adaptiveBudget(options)
        copy.restore(roundTrip(state))
        const [expected, ...others] = [state, roundTrip(state), roundTrip(copy.snapshot())].map((each) => {
          const run = new AdaptiveHistory(options)
          run.budget.restore(each)
          return run.play(after).answers
        })
        for (const answers of others) expect(answers).toEqual(expected)
      }),
    )
  })

  it('wakes all waiters in the end if attempts succeed, each once and none that has left', () => {
    fc.assert(
      fc.property(history, (actions) => {
        const run = new AdaptiveHistory(options).play(actions)
        for (let i = 0; i < 500 && run.budget.parked > 0; i++) {
          if (run.running.length > 0) run.act({ type: 'end', pick: 0, result: 'success', latencyMs: 1 })
          else {
            run.now = Math.max(run.now + 1, run.budget.wakeAtMs())
            run.act({ type: 'poll', random: 0.5 })
          }
        }
        expect(run.budget.parked).toBe(0)
        expect(run.budget.wakeAtMs()).toBe(Infinity)
      }),
    )
  })

  it('probes when it is polled at the times it names, until no attempt waits, though nothing ever ends', () => {
    fc.assert(
      fc.property(history, (actions) => {
        const run = new AdaptiveHistory(options).play(actions)
        for (let polls = 0; polls < 500 && run.budget.parked > 0; polls++) {
          run.now = Math.max(run.now + 1, run.budget.wakeAtMs())
          run.act({ type: 'poll', random: 0.5 })
        }
        expect(run.budget.parked).toBe(0)
      }),
    )
  })
})
