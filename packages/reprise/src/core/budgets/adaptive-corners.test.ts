/** Corners in which an adaptive budget once stood still, forgot, or gave away what was not paid. */
import { describe, expect, it } from 'vitest'
import { requestAt, stateAt } from '../../../../../test/adaptive-fixture.js'
import { adaptiveBudget } from './adaptive.js'
import { AttemptWindow } from './attempt-window.js'
import { RetryWorth } from './retry-worth.js'

const LIMITS = { attemptTimeoutMs: 1000 }

describe('an adaptive budget', () => {
  it('does not take an idle time after an aborted hedge for silence', () => {
    const budget = adaptiveBudget({ bulkhead: true })
    const hedge = requestAt(50, 2, { ...LIMITS, kind: 'hedge' })
    budget.allowAttempt(requestAt(0, 1, LIMITS))
    budget.allowAttempt(hedge)
    budget.conclude(hedge, { result: 'success', latencyMs: 10, won: true, now: 60 })
    budget.conclude(requestAt(60, 1, LIMITS), { result: 'aborted', latencyMs: 60, won: false, now: 60 })
    expect(budget.allowAttempt(requestAt(600, 1, LIMITS)).allowed).toBe(true)
  })

  it('says when to probe for a retry though it has counted no call, also after a restart', () => {
    const taken = adaptiveBudget()
    taken.allowAttempt(requestAt(0, 2, LIMITS))
    taken.conclude(requestAt(0, 2, LIMITS), { result: 'failure', latencyMs: 1, won: false, now: 1 })
    taken.park(requestAt(1, 2, LIMITS), () => undefined)
    expect(taken.wakeAtMs()).toBe(1000)
    const restarted = adaptiveBudget()
    restarted.restore(stateAt(0, { rate: 0 }))
    restarted.park(requestAt(1, 2, LIMITS), () => undefined)
    expect(restarted.wakeAtMs()).toBe(-Infinity)
  })

  it('lets the next probe go when one was not used, and gives it no credit', () => {
    const budget = adaptiveBudget()
    budget.restore(stateAt(0, { rate: 1 }))
    const woken: string[] = []
    const probe = requestAt(0, 2, LIMITS)
    budget.park(probe, ({ reason }) => woken.push(reason))
    budget.park(requestAt(0, 2, LIMITS), ({ reason }) => woken.push(reason))
    budget.poll(0, () => 0.5)
    expect(woken).toEqual(['probe'])
    budget.conclude(probe, { result: 'aborted', latencyMs: 0, won: false, now: 0 })
    expect(woken).toEqual(['probe'])
    budget.poll(0, () => 0.5)
    expect(woken).toEqual(['probe', 'probe'])
  })

  it('returns no token for a probe that helped', () => {
    const budget = adaptiveBudget()
    budget.restore(stateAt(0, { rate: 1, waste: 1 }))
    const probe = requestAt(0, 2, LIMITS)
    budget.park(probe, () => undefined)
    budget.poll(0, () => 0.5)
    budget.conclude(probe, { result: 'success', latencyMs: 1, won: true, now: 1 })
    expect(budget.snapshot().waste).toBeCloseTo(1.2)
  })
})

describe('a budget with a bulkhead that cannot park', () => {
  it('lets a call go as the probe some time after one that was late', () => {
    const budget = adaptiveBudget({ bulkhead: true, maxParked: 0 })
    budget.allowAttempt(requestAt(0, 1, LIMITS))
    budget.conclude(requestAt(1000, 1, LIMITS), { result: 'timeout', latencyMs: 1000, won: false, now: 1000 })
    expect(budget.allowAttempt(requestAt(20_000, 1, { ...LIMITS, deadlineMs: 30_000 })).allowed).toBe(true)
    expect(budget.allowAttempt(requestAt(20_600, 1, LIMITS)).reason).toBe('no_slot')
  })
})

describe('a budget that was idle for half a minute', () => {
  it('has forgotten a silence, and lets any number of calls go', () => {
    const budget = adaptiveBudget({ bulkhead: true })
    budget.allowAttempt(requestAt(0, 1, LIMITS))
    budget.conclude(requestAt(1000, 1, LIMITS), { result: 'timeout', latencyMs: 1000, won: false, now: 1000 })
    for (let call = 0; call < 50; call++) expect(budget.allowAttempt(requestAt(60_000, 1, LIMITS)).allowed).toBe(true)
    expect(budget.inFlight).toBe(50)
  })

  it('keeps a silence while attempts are in flight', () => {
    const budget = adaptiveBudget({ bulkhead: true })
    budget.restore(stateAt(0, { fastShare: 1 }))
    const patient = { attemptTimeoutMs: 100_000 }
    budget.allowAttempt(requestAt(0, 1, patient))
    expect(budget.allowAttempt(requestAt(60_000, 1, patient)).allowed).toBe(false)
  })
})

describe('a budget without a bulkhead', () => {
  it('remembers whether answers were fast for patiences, not for answers', () => {
    const budget = adaptiveBudget()
    const answer = (now: number, latencyMs: number): void => {
      budget.allowAttempt(requestAt(now, 1, LIMITS))
      budget.conclude(requestAt(now, 1, LIMITS), { result: 'success', latencyMs, won: true, now })
    }
    for (let call = 0; call < 1000; call++) answer(call * 20, 1)
    for (let call = 0; call < 40; call++) answer(20_000, 900)
    expect(budget.snapshot().window.fastShare).toBeGreaterThan(0.9)
  })
})

describe('a window of attempts', () => {
  it('is not silent with nothing in flight', () => {
    const window = new AttemptWindow()
    window.started(0)
    window.ended()
    expect(window.hasRoom(5000, 1000)).toBe(true)
  })

  it('reads a share of fast answers above 1 as 1', () => {
    const window = new AttemptWindow()
    window.restore({ fastShare: 100, spells: 8 })
    expect(window.snapshot()).toMatchObject({ fastShare: 1, spells: 8 })
  })
})

describe('the worth of retries', () => {
  it('does not rise with a restart', () => {
    const worth = new RetryWorth()
    for (let retry = 0; retry < 50; retry++) worth.retryEnded(false, 0, 1000)
    for (let retry = 0; retry < 50; retry++) worth.retryEnded(true, 0, 1000)
    expect(worth.value).toBe(0.01)
    const restarted = new RetryWorth()
    restarted.restore(worth.snapshot())
    restarted.firstEnded(true, false, 5000, 1000)
    expect(restarted.value).toBe(0.01)
    restarted.firstEnded(true, false, 6000, 1000)
    expect(restarted.value).toBeCloseTo(0.015, 4)
  })

  it('is read as the least there is from a snapshot that has none', () => {
    const worth = new RetryWorth()
    worth.restore({ help: 0, firsts: 0, late: 0, value: 0 })
    worth.firstEnded(true, false, 0, 1000)
    expect(worth.value).toBe(0.01)
  })

  it('counts a share that has faded to next to nothing as none', () => {
    const worth = new RetryWorth()
    for (let call = 0; call < 2000; call++) worth.firstEnded(false, call === 0, call, 1000)
    expect(worth.snapshot()).toMatchObject({ firsts: 0, late: 0 })
  })
})
