import { describe, expect, it } from 'vitest'
import type { Budget, BudgetRequest, Decision } from './budget.js'
import { BudgetError } from './errors.js'
import {
  ALLOWED,
  BudgetPanic,
  askBudget,
  DENIED,
  hearsOfEnd,
  isFirstLaunch,
  mayPeek,
  NO_BUDGET,
  notFound,
  PARK_EXPIRED,
} from './gate.js'
import { BUDGET_REASONS } from './words.js'

const request: BudgetRequest = {
  key: 'k',
  attempt: 1,
  launch: 1,
  kind: 'retry',
  ref: { name: 'api', cost: 1 },
  now: 0,
  deadlineMs: Infinity,
}
const answering = (answer: unknown): Budget => ({ allowAttempt: () => answer as Decision })

it('a first launch is attempt 1, and neither a hedge of it nor a retry', () => {
  expect(isFirstLaunch(request)).toBe(true)
  expect(isFirstLaunch({ ...request, launch: 2, kind: 'hedge' })).toBe(false)
  expect(isFirstLaunch({ ...request, attempt: 2, launch: 2 })).toBe(false)
})

describe('asking a budget', () => {
  it('passes the request on and the decision back, both as they are', () => {
    const decision: Decision = { allowed: true, reason: 'because', release: () => {} }
    const asked: BudgetRequest[] = []
    const budget: Budget = { allowAttempt: (given) => (asked.push(given), decision) }
    expect(askBudget(budget, request)).toBe(decision)
    expect(asked).toEqual([request])
    expect(asked[0]).toBe(request)
  })

  it('keeps a reason of its own word for word', () => {
    expect(askBudget(answering({ allowed: false, reason: ' Not on Mondays ' }), request).reason).toBe(
      ' Not on Mondays ',
    )
  })

  it('fills in an empty reason', () => {
    expect(askBudget(answering({ allowed: true, reason: '' }), request)).toBe(ALLOWED)
    expect(askBudget(answering({ allowed: false }), request)).toBe(DENIED)
  })

  it('fills in an empty reason without losing the release, nor what it belongs to', () => {
    const decision = {
      allowed: true,
      reason: '',
      released: 0,
      release() {
        this.released++
      },
    }
    const filled = askBudget(answering(decision), request)
    expect(filled).toMatchObject({ allowed: true, reason: 'allowed' })
    filled.release?.({ result: 'success', latencyMs: 0, won: true, now: 0 })
    expect(decision.released).toBe(1)
  })

  it('refuses an answer that is to come, and says why', () => {
    const budget = answering(Promise.resolve(ALLOWED))
    expect(() => askBudget(budget, request)).toThrow(BudgetError)
    expect(() => askBudget(budget, request)).toThrow('Budget api answered with a promise')
  })

  it.each([undefined, null, true, 'yes', {}, { allowed: 1 }, { allowed: true, reason: 'x', release: 5 }])(
    'refuses %o, which is no decision',
    (answer) => {
      expect(() => askBudget(answering(answer), request)).toThrow(BudgetError)
      expect(() => askBudget(answering(answer), request)).toThrow(
        'answered with no decision: it is { allowed, reason, release? }',
      )
    },
  )

  it('lets an error of the budget through', () => {
    const error = new Error('broken')
    const budget: Budget = {
      allowAttempt: () => {
        throw error
      },
    }
    expect(() => askBudget(budget, request)).toThrow(error)
  })
})

describe('what a driver may skip', () => {
  const plain = answering(ALLOWED)
  const hear = (): void => undefined

  it('is to peek at a budget that parks attempts or hears of their ends', () => {
    const peekable: Budget = { ...plain, peek: () => true }
    expect([undefined, plain, peekable].map(mayPeek)).toEqual([false, false, true])
    expect(mayPeek({ ...peekable, park: () => hear })).toBe(false)
    expect(mayPeek({ ...peekable, settle: hear })).toBe(false)
    expect(mayPeek({ ...peekable, conclude: hear })).toBe(false)
  })

  it('is to tell the end of an attempt that neither budget nor decision wants to hear of', () => {
    expect([hearsOfEnd(undefined, NO_BUDGET), hearsOfEnd(plain, ALLOWED)]).toEqual([false, false])
    expect(hearsOfEnd(plain, { ...ALLOWED, release: hear })).toBe(true)
    expect(hearsOfEnd({ ...plain, settle: hear }, ALLOWED)).toBe(true)
    expect(hearsOfEnd({ ...plain, conclude: hear }, ALLOWED)).toBe(true)
  })
})

describe('decisions that need no budget', () => {
  it('treat a name nobody registered as told', () => {
    expect(notFound('allow')).toEqual({ allowed: true, reason: 'budget_not_found' })
    expect(notFound('deny')).toEqual({ allowed: false, reason: 'budget_not_found' })
    expect(notFound('deny')).toBe(notFound('deny'))
  })

  it('are frozen and speak in the shared words', () => {
    const decisions = [ALLOWED, DENIED, NO_BUDGET, PARK_EXPIRED, notFound('allow'), notFound('deny')]
    for (const decision of decisions) {
      expect(Object.isFrozen(decision)).toBe(true)
      expect(BUDGET_REASONS).toContain(decision.reason)
    }
    expect(decisions.map((decision) => decision.allowed)).toEqual([true, false, true, false, true, false])
    expect(BUDGET_REASONS).toContain(new BudgetPanic(undefined).reason)
  })
})
