/** `admit` of decide.ts: what is asked before an attempt, in order. */
import { describe, expect, it } from 'vitest'
import { Breaker } from './breaker.js'
import type { Decision } from './budget.js'
import { type Admission, admit, type LaunchGates } from './decide.js'
import { initialState, type RetryState } from './state.js'

const NOW = 100_000
const ALLOW: Decision = { allowed: true, reason: 'allowed' }
const DENY: Decision = { allowed: false, reason: 'no more of that' }

interface Situation {
  aborted: boolean
  state: Partial<RetryState>
  breaker: Breaker | undefined
  ask: () => Decision
  parks: boolean
}

const calm = (): Situation => ({ aborted: false, state: {}, breaker: undefined, ask: () => ALLOW, parks: false })

const makeBreaker = (): Breaker =>
  new Breaker('api', { key: 'api', failureThreshold: 1, recoveryTimeoutMs: 1000, halfOpenMaxCalls: 1 })
const openSince = (ms: number): Breaker => {
  const breaker = makeBreaker()
  breaker.open(ms)
  return breaker
}

function run(situation: Situation): { admission: Admission; asked: string[] } {
  const asked: string[] = []
  const gates: LaunchGates = {
    aborted: situation.aborted,
    parks: situation.parks,
    get now() {
      asked.push('now')
      return NOW
    },
    get breaker() {
      asked.push('breaker')
      return situation.breaker
    },
    ask: () => {
      asked.push('ask')
      return situation.ask()
    },
  }
  return { admission: admit({ ...initialState(null), ...situation.state }, gates), asked }
}

const CHECKS: ReadonlyArray<{ reason: string; spoil: (situation: Situation) => void }> = [
  { reason: 'aborted', spoil: (s) => void (s.aborted = true) },
  { reason: 'timeout', spoil: (s) => void (s.state.deadlineAtMs = NOW) },
  {
    reason: 'retry_budget_exhausted',
    spoil: (s) => {
      s.state.resumed = true
      s.state.failures = 1
      s.state.expiresAtMs = NOW
    },
  },
  { reason: 'breaker_open', spoil: (s) => void (s.breaker = openSince(NOW)) },
  { reason: 'budget_denied', spoil: (s) => void (s.ask = () => DENY) },
]
const BEFORE_THE_BUDGET = CHECKS.slice(0, -1)

describe('before an attempt', () => {
  it('an attempt that nothing forbids starts, the budget having been asked once and no clock read', () => {
    expect(run(calm())).toEqual({
      admission: { type: 'start', epoch: 0, decision: ALLOW },
      asked: ['breaker', 'ask'],
    })
  })

  it.each(BEFORE_THE_BUDGET)('$reason stops, and the budget is not asked', ({ reason, spoil }) => {
    const situation = calm()
    spoil(situation)
    const { admission, asked } = run(situation)
    expect(admission).toEqual({ type: 'stop', reason, decision: undefined })
    expect(asked).not.toContain('ask')
  })

  const pairs = CHECKS.flatMap((first, i) => CHECKS.slice(i + 1).map((second) => ({ first, second })))
  it.each(pairs)('$first.reason comes before $second.reason', ({ first, second }) => {
    const situation = calm()
    first.spoil(situation)
    second.spoil(situation)
    const { admission, asked } = run(situation)
    expect(admission).toEqual({ type: 'stop', reason: first.reason, decision: undefined })
    expect(asked).not.toContain('ask')
  })

  it('an abort does not even look at the clock', () => {
    const situation = calm()
    for (const check of CHECKS) check.spoil(situation)
    expect(run(situation).asked).toEqual([])
  })

  it('is in time until the deadline itself', () => {
    const situation = calm()
    situation.state.deadlineAtMs = NOW + 0.001
    expect(run(situation).admission.type).toBe('start')
  })
})

describe('the date of the time budget', () => {
  const dated = (fields: Partial<RetryState>): Admission => {
    const situation = calm()
    situation.state = { resumed: true, failures: 1, expiresAtMs: NOW, ...fields }
    return run(situation).admission
  }

  it('ends a resumed call once it has come', () => {
    expect(dated({})).toMatchObject({ type: 'stop', reason: 'retry_budget_exhausted' })
    expect(dated({ expiresAtMs: NOW + 1 }).type).toBe('start')
  })

  it('is compared with the time at which the attempt was due, where that is told', () => {
    const state = { ...initialState(null), resumed: true, failures: 1, expiresAtMs: NOW }
    const gates = { aborted: false, now: NOW + 5, breaker: undefined, ask: () => ALLOW, parks: false }
    expect(admit(state, { ...gates, dueMs: NOW - 1 }).type).toBe('start')
    expect(admit(state, { ...gates, dueMs: NOW })).toMatchObject({ type: 'stop' })
  })

  it('says nothing of a call that was not resumed, has no budget, or has not failed yet', () => {
    expect(dated({ resumed: false }).type).toBe('start')
    expect(dated({ expiresAtMs: null }).type).toBe('start')
    expect(dated({ failures: 0 }).type).toBe('start')
  })
})

describe('a denial by the budget', () => {
  it('stops with the decision that was given', () => {
    const situation = { ...calm(), ask: () => DENY }
    expect(run(situation).admission).toEqual({ type: 'stop', reason: 'budget_denied', decision: DENY })
  })

  it('is a place in line where the budget has one', () => {
    const situation = { ...calm(), ask: () => DENY, parks: true }
    expect(run(situation).admission).toEqual({ type: 'park', decision: DENY })
  })

  it('is none if the budget allows, line or not', () => {
    const situation = { ...calm(), parks: true }
    expect(run(situation).admission.type).toBe('start')
  })

  it('gives the slot of a probe back, as does a place in line and a budget that throws', () => {
    for (const [ask, parks] of [
      [() => DENY, false],
      [() => DENY, true],
    ] as const) {
      const breaker = openSince(NOW - 1000)
      run({ ...calm(), breaker, ask, parks })
      expect(run({ ...calm(), breaker }).admission.type).toBe('start')
    }
    const breaker = openSince(NOW - 1000)
    const ask = (): Decision => {
      throw new Error('broken budget')
    }
    expect(() => run({ ...calm(), breaker, ask })).toThrow('broken budget')
    expect(run({ ...calm(), breaker }).admission.type).toBe('start')
    expect(run({ ...calm(), breaker }).admission).toMatchObject({ reason: 'breaker_open' })
  })

  it('passes on what the budget throws, without a breaker too', () => {
    const ask = (): Decision => {
      throw new Error('broken budget')
    }
    expect(() => run({ ...calm(), ask })).toThrow('broken budget')
  })
})

describe('the breaker', () => {
  it('that is closed admits without reading a clock, and its epoch goes with the attempt', () => {
    const breaker = makeBreaker()
    breaker.reset()
    const { admission, asked } = run({ ...calm(), breaker })
    expect(admission).toMatchObject({ type: 'start', epoch: breaker.admit(0) })
    expect(asked).not.toContain('now')
  })

  it('that is open refuses until its time has passed, then lets one probe through', () => {
    expect(run({ ...calm(), breaker: openSince(NOW - 999) }).admission).toMatchObject({ reason: 'breaker_open' })
    const breaker = openSince(NOW - 1000)
    expect(run({ ...calm(), breaker }).admission.type).toBe('start')
    expect(run({ ...calm(), breaker }).admission).toMatchObject({ reason: 'breaker_open' })
  })
})
