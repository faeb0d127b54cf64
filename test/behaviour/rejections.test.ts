/**
 * What a failed call rejects with and which word it stops with, in the order the checks are made.
 */
import { describe, expect, test } from 'vitest'
import {
  BreakerOpenError,
  BudgetDeniedError,
  CallTimeoutError,
  isRepriseError,
  type PolicyInput,
  RepriseError,
  ResultError,
  RetryBudgetExhaustedError,
} from 'reprise'
import { failing, Recorder, wayFixture, WAYS } from './call-fixture.js'

const down = new Error('down')
const gone = Object.assign(new Error('gone'), { status: 410 })

function retryLater(seconds: number | string): Error {
  return Object.assign(new Error('busy'), { status: 503, headers: { 'retry-after': String(seconds) } })
}

describe.each(WAYS)('a call %s', (way) => {
  test.each([{ attempts: 3 }, { attempts: 3, retryOn: [() => true] }] as const)(
    'is not retried with %o when its error says that it is not retryable',
    async (policy) => {
      const operation = failing(Object.assign(new Error('no such program'), { retryable: false }))
      const call = await wayFixture(way, policy).play(operation)
      expect(operation.calls).toBe(1)
      expect(call.state).toBe('rejected')
    },
  )

  describe.each([
    ['undefined', undefined],
    ['null', null],
    ['zero', 0],
    ['a text', 'x'],
    ['an error', down],
  ])('that fails with %s', (_, thrown) => {
    test('rejects with it when attempts are exhausted', async () => {
      const operation = failing(thrown)
      const call = await wayFixture(way, { attempts: 2 }).play(operation)
      expect(operation.calls).toBe(2)
      expect(call.state).toBe('rejected')
      expect(call.error).toBe(thrown)
    })

    test('rejects with it at once when it is not retryable', async () => {
      const operation = failing(thrown)
      const call = await wayFixture(way, { attempts: 5, retryOn: [() => false] }).play(operation)
      expect(operation.calls).toBe(1)
      expect(call).toMatchObject({ state: 'rejected', atMs: 0 })
      expect(call.error).toBe(thrown)
    })

    test('rejects with it when a later attempt is denied', async () => {
      const api = new Recorder(({ attempt }) => attempt === 1)
      const call = await wayFixture(way, { attempts: 5, budget: 'api' }, { budgets: { api } }).play(failing(thrown))
      expect(call.state).toBe('rejected')
      expect(call.error).toBe(thrown)
    })

    test('has it as the cause when the time budget is exhausted', async () => {
      const call = await wayFixture(way, { attempts: 5, retryBudget: '1s' }).play(failing(thrown))
      expect(call.error).toBeInstanceOf(RetryBudgetExhaustedError)
      expect('cause' in (call.error as Error)).toBe(true)
      expect((call.error as Error).cause).toBe(thrown)
    })
  })

  test('rejects with the error of the last attempt, not of the first', async () => {
    const errors = [new Error('1'), new Error('2'), new Error('3')]
    const call = await wayFixture(way, { attempts: 3 }).play(failing(...errors))
    expect(call.error).toBe(errors[2])
    expect(call.timeline?.attempts.map((attempt) => attempt.error)).toEqual(errors)
  })

  test('tells each attempt what the one before failed with', async () => {
    const seen: unknown[] = []
    await wayFixture(way, { attempts: 3 }).play((context) => {
      seen.push(context.previousError)
      throw new Error(String(context.attempt))
    })
    expect(seen.map((error) => (error as Error | undefined)?.message)).toEqual([undefined, '1', '2'])
  })

  test('counts a result that failIf refuses as a failure that carries the value', async () => {
    const call = await wayFixture(way, { attempts: 2, failIf: (value: number) => value < 3 }).play(() => 2)
    expect(call.error).toBeInstanceOf(ResultError)
    expect((call.error as ResultError).value).toBe(2)
    expect(call.timeline?.attempts).toHaveLength(2)
  })

  test('obeys a Retry-After that is longer than the computed delay', async () => {
    const call = await wayFixture(way, { attempts: 2, maxDelay: '2s' }).play(failing(retryLater(20), down))
    expect(call.atMs).toBe(20_000)
    expect(call.timeline?.totalDelayMs).toBe(20_000)
  })

  test('does not jitter a Retry-After', async () => {
    const { play } = wayFixture(way, { attempts: 2, jitter: 'full' }, { random: () => 0.1 })
    expect((await play(failing(retryLater(7), down))).atMs).toBe(7000)
  })

  test('keeps its own delay where that is longer than Retry-After', async () => {
    const call = await wayFixture(way, { attempts: 2, initialDelay: '5s' }).play(failing(retryLater(2), down))
    expect(call.atMs).toBe(5000)
  })

  test('reads Retry-After as a date of the wall clock', async () => {
    const { clock, play } = wayFixture(way, { attempts: 2 })
    const date = new Date(clock.wallMs() + 30_000).toUTCString()
    expect((await play(failing(retryLater(date), down))).atMs).toBe(30_000)
  })

  test('reads Retry-After from a response that failIf refused', async () => {
    const response = { status: 503, headers: new Headers({ 'Retry-After': '9' }) }
    const { play } = wayFixture(way, { attempts: 2, failIf: (value: { status: number }) => value.status >= 500 })
    expect((await play(() => response)).atMs).toBe(9000)
  })

  test('stops at once at a Retry-After longer than it obeys, rather than coming early', async () => {
    const error = retryLater(61)
    const operation = failing(error)
    const call = await wayFixture(way, { attempts: 5 }).play(operation)
    expect(operation.calls).toBe(1)
    expect(call.atMs).toBe(0)
    expect(call.error).toBe(error)
    expect(call.timeline?.stopReason).toBe('retry_after_too_long')
    const longer = await wayFixture(way, { attempts: 2, maxRetryAfter: '61s' }).play(failing(error, down))
    expect(longer.atMs).toBe(61_000)
  })

  test('counts a Retry-After toward the time budget', async () => {
    const call = await wayFixture(way, { attempts: 5, retryBudget: '10s' }).play(failing(retryLater(6)))
    expect(call.timeline?.attempts).toHaveLength(2)
    expect(call.timeline?.stopReason).toBe('retry_budget_exhausted')
    expect(call.timeline?.totalDelayMs).toBe(6000)
  })

  describe('stops with the reason of the first check that says no:', () => {
    const cases: [name: string, policy: PolicyInput, errors: unknown[], reason: string, errorType: unknown][] = [
      ['not retryable before attempts', { attempts: 1, retryOn: [{ pattern: 'x' }] }, [gone], 'not_retryable', gone],
      ['attempts before Retry-After', { attempts: 1 }, [retryLater(999)], 'attempts_exhausted', undefined],
      ['attempts before the time budget', { attempts: 1, retryBudget: '1ms' }, [down], 'attempts_exhausted', down],
      [
        'Retry-After before the time budget',
        { retryBudget: '1ms' },
        [retryLater(999)],
        'retry_after_too_long',
        undefined,
      ],
      [
        'the time budget before the deadline',
        { retryBudget: '1ms', timeout: '500ms' },
        [down],
        'retry_budget_exhausted',
        RetryBudgetExhaustedError,
      ],
      [
        'the deadline before the breaker',
        { timeout: '500ms', breaker: { failureThreshold: 1 } },
        [down],
        'timeout',
        CallTimeoutError,
      ],
      ['the deadline before the budget', { timeout: '500ms', budget: 'closed' }, [down], 'timeout', CallTimeoutError],
      [
        'the breaker before the budget',
        { breaker: { failureThreshold: 1 }, budget: 'closed' },
        [down],
        'breaker_open',
        BreakerOpenError,
      ],
      ['the budget last', { budget: 'closed' }, [down], 'budget_denied', down],
    ]

    test.each(cases)('%s', async (_, policy, errors, reason, expected) => {
      const closed = Object.assign(new Recorder(({ attempt }) => attempt === 1), { peek: () => false })
      const operation = failing(...errors)
      const call = await wayFixture(way, policy, { budgets: { closed } }).play(operation)
      expect(operation.calls).toBe(1)
      expect(call.atMs).toBe(0)
      expect(call.timeline?.stopReason).toBe(reason)
      if (typeof expected === 'function') {
        expect(call.error).toBeInstanceOf(expected)
        expect(isRepriseError(call.error, reason as 'timeout')).toBe(true)
        expect((call.error as Error).cause).toBe(errors[0])
      } else if (expected !== undefined) {
        expect(call.error).toBe(expected)
      }
    })
  })

  test('rejects with a BudgetDeniedError that says who denied what, when its first attempt is denied', async () => {
    const operation = failing(down)
    const api = new Recorder(() => 'too_busy')
    const call = await wayFixture(way, { budget: 'api' }, { budgets: { api } }).play(operation)
    expect(operation.calls).toBe(0)
    expect(call.error).toBeInstanceOf(BudgetDeniedError)
    expect(call.error).toBeInstanceOf(RepriseError)
    expect(call.error).toMatchObject({
      code: 'budget_denied',
      key: 'job',
      budget: 'api',
      reason: 'too_busy',
      attempt: 1,
    })
    expect(call.timeline).toMatchObject({ stopReason: 'budget_denied', budgetReason: 'too_busy', totalDelayMs: 0 })
    expect(call.timeline?.attempts).toHaveLength(1)
    expect(call.timeline?.attempts[0]).toMatchObject({ attempt: 1, launch: 1, outcome: 'denied', budgetAllowed: false })
  })
})
