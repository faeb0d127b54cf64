import { describe, expect, it } from 'vitest'
import { Breaker } from './breaker.js'
import { advance, decide, type Outcome, type RetryGates, type Verdict } from './decide.js'
import { normalizePolicy } from './normalize.js'
import type { PolicyInput } from './policy.js'
import { initialState, type RetryState } from './state.js'

const NOW = 100_000

/** Everything that `decide` looks at; nothing in it stops the call. */
interface Situation {
  policy: PolicyInput
  state: Partial<RetryState>
  outcome: Outcome
  allots: boolean
  breaker: Breaker | undefined
  peeks: boolean
}

const calm = (): Situation => ({
  policy: { attempts: 5, backoff: 'fixed', initialDelay: 1000 },
  state: {},
  outcome: { type: 'failure', retryable: true, retryAfterMs: undefined },
  allots: true,
  breaker: undefined,
  peeks: true,
})

const openUntil = (ms: number): Breaker => {
  const breaker = new Breaker('api', { key: 'api', failureThreshold: 1, recoveryTimeoutMs: 1, halfOpenMaxCalls: 1 })
  breaker.open(ms - 1)
  return breaker
}

function run(situation: Situation): { verdict: Verdict; asked: string[] } {
  const asked: string[] = []
  const gates: RetryGates = {
    get breaker() {
      asked.push('breaker')
      return situation.breaker
    },
    peek: () => {
      asked.push('peek')
      return situation.peeks
    },
    allot: () => {
      asked.push('allot')
      return { allowed: situation.allots, reason: situation.allots ? 'allowed' : 'none left' }
    },
  }
  const state = { ...initialState(null), ...situation.state }
  const draw = (): number => {
    asked.push('draw')
    return 0.5
  }
  const verdict = decide(normalizePolicy(situation.policy).policy, state, situation.outcome, NOW, draw, gates)
  return { verdict, asked }
}

/** Makes one check stop. */
interface Check {
  readonly name: string
  readonly reason: string
  readonly budgetReason?: string
  readonly asked: readonly string[]
  readonly spoil: (situation: Situation) => void
}

/** In the order of the checks. */
const CHECKS: readonly Check[] = [
  {
    name: 'not retryable',
    reason: 'not_retryable',
    asked: [],
    spoil: (s) => void (s.outcome = { ...s.outcome, retryable: false } as Outcome),
  },
  { name: 'attempts', reason: 'attempts_exhausted', asked: [], spoil: (s) => void (s.state.failures = 4) },
  {
    name: 'Retry-After too long',
    reason: 'retry_after_too_long',
    asked: [],
    spoil: (s) => void (s.outcome = { ...s.outcome, retryAfterMs: 60_001 } as Outcome),
  },
  {
    name: 'time budget',
    reason: 'retry_budget_exhausted',
    asked: [],
    spoil: (s) => {
      s.policy = { ...s.policy, retryBudget: 10_000 }
      s.state.totalDelayMs = 9001
    },
  },
  {
    name: 'time budget by the date of a resumed call',
    reason: 'retry_budget_exhausted',
    asked: [],
    spoil: (s) => {
      s.state.resumed = true
      s.state.expiresAtMs = NOW
    },
  },
  { name: 'deadline', reason: 'timeout', asked: [], spoil: (s) => void (s.state.deadlineAtMs = NOW + 1000) },
  {
    name: 'breaker',
    reason: 'breaker_open',
    asked: ['breaker'],
    spoil: (s) => void (s.breaker = openUntil(NOW + 1001)),
  },
  {
    name: 'peek',
    reason: 'budget_denied',
    asked: ['breaker', 'peek'],
    spoil: (s) => void (s.peeks = false),
  },
  {
    name: 'allotment',
    reason: 'budget_denied',
    budgetReason: 'none left',
    asked: ['breaker', 'peek', 'allot'],
    spoil: (s) => void (s.allots = false),
  },
]

describe('after an attempt', () => {
  it('a failure that nothing forbids is retried, every gate having been asked once and in order', () => {
    const { verdict, asked } = run(calm())
    expect(verdict).toEqual({ type: 'retry', delayMs: 1000, dueAtMs: NOW + 1000, expiresAtMs: null })
    expect(asked).toEqual(['breaker', 'peek', 'allot'])
  })

  it.each(CHECKS)('$name stops with $reason, and nothing behind it is asked', (check) => {
    const { reason, budgetReason, asked, spoil } = check
    const situation = calm()
    spoil(situation)
    const verdict = { type: 'stop', reason, ...(budgetReason !== undefined && { budgetReason }) }
    expect(run(situation)).toEqual({ verdict, asked })
  })

  const pairs = CHECKS.flatMap((first, i) => CHECKS.slice(i + 1).map((second) => ({ first, second })))
  it.each(pairs)('$first.name comes before $second.name', ({ first, second }) => {
    const situation = calm()
    second.spoil(situation)
    first.spoil(situation)
    expect(run(situation)).toEqual({ verdict: { type: 'stop', reason: first.reason }, asked: first.asked })
  })

  it.each([
    ['an abort', { type: 'aborted' }, { type: 'stop', reason: 'aborted' }],
    ['a success', { type: 'success' }, { type: 'succeed' }],
  ] as const)('%s comes before everything else', (_, outcome, verdict) => {
    const situation = calm()
    for (const check of CHECKS) check.spoil(situation)
    situation.outcome = outcome
    expect(run(situation)).toEqual({ verdict, asked: [] })
  })

  it('needs no gates but the place of the breaker', () => {
    const { policy } = normalizePolicy({ jitter: false })
    const outcome = { type: 'failure', retryable: true, retryAfterMs: undefined } as const
    const verdict = decide(policy, initialState(null), outcome, NOW, () => 0, { breaker: undefined })
    expect(verdict).toMatchObject({ type: 'retry', delayMs: 1000 })
  })

  it('gives a success as a shared frozen value', () => {
    const succeeded = { ...calm(), outcome: { type: 'success' } as const }
    expect(run(succeeded).verdict).toBe(run(succeeded).verdict)
    expect(Object.isFrozen(run(succeeded).verdict)).toBe(true)
  })

  it('passes on what a gate throws', () => {
    const { policy } = normalizePolicy({})
    const outcome = { type: 'failure', retryable: true, retryAfterMs: undefined } as const
    const peek = (): boolean => {
      throw new Error('broken budget')
    }
    const gates = { breaker: undefined, peek }
    expect(() => decide(policy, initialState(null), outcome, NOW, () => 0, gates)).toThrow('broken budget')
  })
})

describe('attempts', () => {
  it('count the failure that has just happened: 1 allows no retry', () => {
    const situation = calm()
    situation.policy = { attempts: 1 }
    expect(run(situation).verdict).toEqual({ type: 'stop', reason: 'attempts_exhausted' })
  })

  it('allow a retry up to the last but one failure', () => {
    const situation = calm()
    situation.state.failures = 3
    expect(run(situation).verdict.type).toBe('retry')
  })
})

describe('a retry whose charge is postponed', () => {
  it('waits as long as the allotment says, and is marked as not paid', () => {
    const { policy } = normalizePolicy({ attempts: 5, backoff: 'fixed', initialDelay: 1000 })
    const gates: RetryGates = {
      breaker: undefined,
      allot: () => ({ allowed: true, reason: 'parked', postponeMs: 7000 }),
    }
    const outcome = { type: 'failure', retryable: true, retryAfterMs: undefined } as const
    const verdict = decide(policy, initialState(null), outcome, NOW, () => 0.5, gates)
    expect(verdict).toMatchObject({ type: 'retry', delayMs: 7000, dueAtMs: NOW + 7000, postponed: true })
  })
})

describe('the delay', () => {
  it('is drawn once, before anything that depends on it is asked', () => {
    const situation = calm()
    situation.policy = { ...situation.policy, jitter: 'full' }
    const { verdict, asked } = run(situation)
    expect(verdict).toMatchObject({ delayMs: 500 })
    expect(asked).toEqual(['draw', 'breaker', 'peek', 'allot'])
  })

  it('belongs to the number of the failure', () => {
    const { policy } = normalizePolicy({ attempts: 9, jitter: 'full' })
    const drawn: number[] = []
    const draw = (failure: number): number => drawn.push(failure)
    const state = { ...initialState(null), failures: 6 }
    const outcome = { type: 'failure', retryable: true, retryAfterMs: undefined } as const
    decide(policy, state, outcome, NOW, draw, { breaker: undefined })
    expect(drawn).toEqual([7])
  })

  it('of decorrelated jitter grows from the one before', () => {
    const situation = calm()
    situation.policy = { initialDelay: 100, jitter: 'decorrelated' }
    situation.state.lastDelayMs = 1000
    expect(run(situation).verdict).toMatchObject({ delayMs: 100 + 0.5 * 2900 })
  })

  it('is the larger of backoff and Retry-After', () => {
    const situation = calm()
    situation.outcome = { type: 'failure', retryable: true, retryAfterMs: 2500 }
    expect(run(situation).verdict).toMatchObject({ delayMs: 2500, dueAtMs: NOW + 2500 })
    situation.outcome = { type: 'failure', retryable: true, retryAfterMs: 10 }
    expect(run(situation).verdict).toMatchObject({ delayMs: 1000 })
  })

  it('by Retry-After may exceed the cap, and is taken at its limit', () => {
    const situation = calm()
    situation.policy = { ...situation.policy, maxDelay: 2000, jitter: 'full' }
    situation.outcome = { type: 'failure', retryable: true, retryAfterMs: 60_000 }
    expect(run(situation).verdict).toMatchObject({ delayMs: 60_000 })
  })
})

describe('the time budget', () => {
  const budgeted = (totalDelayMs: number): Situation => {
    const situation = calm()
    situation.policy = { ...situation.policy, retryBudget: 5000 }
    situation.state.totalDelayMs = totalDelayMs
    return situation
  }

  it('may be used up exactly', () => {
    expect(run(budgeted(4000)).verdict.type).toBe('retry')
    expect(run(budgeted(4000.001)).verdict.type).toBe('stop')
  })

  it('counts Retry-After', () => {
    const situation = budgeted(0)
    situation.outcome = { type: 'failure', retryable: true, retryAfterMs: 5001 }
    expect(run(situation).verdict).toEqual({ type: 'stop', reason: 'retry_budget_exhausted' })
  })

  it('below the first delay leaves one run', () => {
    const situation = budgeted(0)
    situation.policy = { ...situation.policy, retryBudget: 999 }
    expect(run(situation).verdict).toEqual({ type: 'stop', reason: 'retry_budget_exhausted' })
  })

  it('expires so long after the first failure, and that date is never moved', () => {
    expect(run(budgeted(0)).verdict).toMatchObject({ expiresAtMs: NOW + 5000 })
    const later = budgeted(1000)
    later.state.failures = 1
    later.state.expiresAtMs = 3
    expect(run(later).verdict).toMatchObject({ type: 'retry', expiresAtMs: 3 })
  })

  it('of a call that was not resumed does not end by the date', () => {
    const situation = budgeted(0)
    situation.state.expiresAtMs = NOW - 1
    expect(run(situation).verdict.type).toBe('retry')
  })

  it('of a resumed call ends at the date, not before, and the sum still counts', () => {
    const situation = budgeted(0)
    situation.state.resumed = true
    situation.state.expiresAtMs = NOW + 1
    expect(run(situation).verdict.type).toBe('retry')
    situation.state.expiresAtMs = NOW
    expect(run(situation).verdict.type).toBe('stop')
    situation.state.expiresAtMs = NOW + 1
    situation.state.totalDelayMs = 4001
    expect(run(situation).verdict.type).toBe('stop')
  })

  it('of a resumed call that has not failed before has no date yet', () => {
    const situation = budgeted(0)
    situation.state.resumed = true
    expect(run(situation).verdict).toMatchObject({ type: 'retry', expiresAtMs: NOW + 5000 })
  })
})

describe('the deadline', () => {
  it('stops a wait that would not end before it', () => {
    const situation = calm()
    situation.state.deadlineAtMs = NOW + 1000
    expect(run(situation).verdict).toEqual({ type: 'stop', reason: 'timeout' })
    situation.state.deadlineAtMs = NOW + 1001
    expect(run(situation).verdict.type).toBe('retry')
  })
})

describe('the breaker', () => {
  it('stops only if it would still be open at the end of the wait', () => {
    const situation = calm()
    situation.breaker = openUntil(NOW + 1000)
    expect(run(situation).verdict.type).toBe('retry')
    situation.breaker = openUntil(NOW + 1000.5)
    expect(run(situation).verdict).toEqual({ type: 'stop', reason: 'breaker_open' })
  })
})

describe('advance', () => {
  it('applies a retry to the state: one failure more, the wait added and remembered', () => {
    const state = { ...initialState(99), failures: 1, launched: 2, totalDelayMs: 10, lastDelayMs: 10 }
    advance(state, { type: 'retry', delayMs: 25, dueAtMs: 50, expiresAtMs: 77 })
    expect(state).toEqual({
      failures: 2,
      launched: 2,
      totalDelayMs: 35,
      lastDelayMs: 25,
      expiresAtMs: 77,
      deadlineAtMs: 99,
      resumed: false,
    })
  })
})
