/**
 * Budgets that break their contract: promises where an answer is due, errors that nobody would see, and grants that are
 * given back twice or end their own call.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  allOf,
  type Budget,
  BudgetError,
  type BudgetRequest,
  type ConcurrencyBudget,
  concurrencyBudget,
  type Decision,
  perKey,
  type RepriseEvent,
  retry,
} from 'reprise'
import { type Ask, failing, Manual, callFixture, wayFixture, turn, WAYS } from './call-fixture.js'

const down = new Error('down')
const ALLOWED: Decision = { allowed: true, reason: 'allowed' }
/** A rejection that nobody has asked for yet. */
const redisDown = (): Promise<never> => Promise.reject(new Error('redis down'))
const noAnswer = redisDown as unknown as () => never

const unhandled: unknown[] = []
const note = (reason: unknown): void => void unhandled.push(reason)

beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', note)
})

afterEach(async () => {
  await turn()
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

describe.each(WAYS)('a rejecting promise leaves no unhandled rejection in a call %s', (way) => {
  test('as the answer of allowAttempt, also with recoverHookErrors', async () => {
    // @ts-expect-error -- the types refuse an asynchronous budget too
    const api: Budget = { allowAttempt: async () => redisDown() }
    const refused = await wayFixture(way, { budget: 'api' }, { budgets: { api } }).play(() => 'never')
    expect(refused.error).toBeInstanceOf(BudgetError)
    expect((refused.error as Error).message).toMatch(/^Budget api answered with a promise/)
    const options = { budgets: { api }, recoverHookErrors: true }
    const recovered = await wayFixture(way, { budget: 'api' }, options).play(() => 'never')
    expect(recovered.error).toMatchObject({ reason: 'panic_in_budget', cause: { code: 'invalid_budget' } })
  })

  test('as the `allowed` of a decision', async () => {
    const api: Budget = { allowAttempt: () => ({ allowed: noAnswer(), reason: 'later' }) }
    const refused = await wayFixture(way, { budget: 'api' }, { budgets: { api } }).play(() => 'never')
    expect((refused.error as Error).message).toMatch(/^Budget api answered with a promise/)
  })

  test('as the grant that wakes a parked attempt, in time or too late', async () => {
    let wakeLate: (grant: Decision) => void = () => undefined
    const api: Budget = {
      maxParkMs: 1000,
      allowAttempt: () => ({ allowed: false, reason: 'line' }),
      park(request, wake) {
        if (request.key === 'late') wakeLate = wake
        else wake(noAnswer())
        return () => undefined
      },
    }
    const { clock, executor, play } = wayFixture(way, { budget: 'api' }, { budgets: { api } })
    expect((await play(() => 'never')).error).toBeInstanceOf(BudgetError)
    const late = executor.run('late', () => 'never').catch((error: unknown) => error)
    await clock.runAll()
    expect(await late).toMatchObject({ reason: 'park_expired' })
    wakeLate(noAnswer())
  })

  test('as the answer of peek, which is refused instead of counting as a yes', async () => {
    const api: Budget = { allowAttempt: () => ALLOWED, peek: noAnswer }
    for (const budget of [api, allOf(api)]) {
      const call = await wayFixture(way, { budget: 'api' }, { budgets: { api: budget } }).play(failing(down))
      expect(call.error).toMatchObject({ code: 'invalid_budget' })
      expect((call.error as Error).message).toMatch(/peek answered with a promise/)
    }
  })

  test('as the answer of denialReason, park, wakeAtMs and of leaving the line', async () => {
    const peeked: Budget = { allowAttempt: () => ALLOWED, peek: () => false, denialReason: noAnswer }
    const denied = await wayFixture(way, { budget: 'api' }, { budgets: { api: peeked } }).play(failing(down))
    expect(denied.timeline?.budgetReason).toBe('budget_denied')
    for (const park of [noAnswer, () => noAnswer]) {
      const allowAttempt = (): Decision => ({ allowed: false, reason: 'line' })
      const parking: Budget = { maxParkMs: 1000, allowAttempt, park, wakeAtMs: noAnswer }
      const call = await wayFixture(way, { budget: 'api' }, { budgets: { api: parking } }).play(() => 'never')
      expect(call.error).toMatchObject({ reason: 'park_expired' })
    }
  })
})

describe('the error of a hook that is recovered', () => {
  /** What the host was warned of meanwhile. */
  async function warningsOf(act: () => Promise<unknown>): Promise<string[]> {
    const warnings: string[] = []
    const listen = (warning: Error): void => void warnings.push(warning.message)
    process.on('warning', listen)
    await act()
    await turn()
    process.off('warning', listen)
    return warnings
  }

  const throwing =
    (text: string, when: (ask: Ask) => boolean = () => true) =>
    (request: BudgetRequest): Decision => {
      if (when(request)) throw new Error(text)
      return ALLOWED
    }

  test('is reported when a budget, its peek or a predicate threw it', async () => {
    const second = ({ attempt }: Ask): boolean => attempt === 2
    const api: Budget = { allowAttempt: throwing('ask of api threw', second) }
    const peeked: Budget = {
      allowAttempt: () => ALLOWED,
      peek: () => throwing('peek threw')({} as BudgetRequest).allowed,
    }
    const options = { budgets: { api, peeked }, recoverHookErrors: true }
    const failIf = (): boolean => throwing('predicate threw')({} as BudgetRequest).allowed
    const retryOn = [failIf]
    const warnings = await warningsOf(async () => {
      expect((await wayFixture('alone', { budget: 'api' }, options).play(failing(down))).error).toBe(down)
      expect((await wayFixture('alone', { budget: 'peeked' }, options).play(failing(down))).error).toBe(down)
      expect((await wayFixture('alone', { retryOn }, options).play(failing(down))).error).toBe(down)
      expect((await wayFixture('alone', { failIf }, options).play(() => 'fine')).value).toBe('fine')
    })
    for (const text of ['ask of api threw', 'peek threw', 'predicate threw']) {
      expect(warnings).toContainEqual(expect.stringContaining(text))
    }
  })

  test('of a hedge’s budget is reported though nothing is recovered', async () => {
    const spare: Budget = { allowAttempt: throwing('ask of spare threw') }
    const { clock, call } = wayFixture('alone', { hedge: { delay: 10, budget: 'spare' } }, { budgets: { spare } })
    const warnings = await warningsOf(async () => {
      const slow = call(() => clock.sleep(100).then(() => 'fine'))
      await clock.runAll()
      expect(slow.value).toBe('fine')
    })
    expect(warnings).toContainEqual(expect.stringContaining('ask of spare threw'))
  })

  test('is on the event of the decision, recovered or not', async () => {
    for (const recoverHookErrors of [true, false]) {
      const api: Budget = { allowAttempt: throwing('broken') }
      const { events, play } = wayFixture('observed', { budget: 'api' }, { budgets: { api }, recoverHookErrors })
      await play(() => 'never')
      expect(events.find(({ type }) => type === 'budget_decision')).toMatchObject({
        allowed: false,
        reason: 'panic_in_budget',
        error: { message: 'broken' },
      })
    }
  })
})

describe('a grant that a wrapper releases twice', () => {
  /** Forwards to `inner`, and gives every grant back twice. */
  const twice = (inner: Budget): Budget => ({
    allowAttempt(request) {
      const { release, ...decision } = inner.allowAttempt(request)
      return {
        ...decision,
        release(outcome) {
          release?.(outcome)
          release?.(outcome)
        },
      }
    },
  })

  test.each([
    ['concurrencyBudget', (pool: ConcurrencyBudget) => pool],
    ['perKey', (pool: ConcurrencyBudget) => perKey(() => pool)],
    ['allOf', (pool: ConcurrencyBudget) => allOf(pool, settledOnly(pool))],
  ])('by %s frees its own place and nobody else’s', async (_name, wrap) => {
    const pool = concurrencyBudget({ max: 4 })
    const { executor } = callFixture({ attempts: 1, budget: 'pool' }, { budgets: { pool: twice(wrap(pool)) } })
    const manual = new Manual()
    const calls = [executor.run('job', manual.operation), executor.run('job', manual.operation)]
    const before = pool.inUse
    manual.at(0).resolve('first')
    await calls[0]
    expect(pool.inUse).toBe(before / 2)
    manual.at(1).resolve('second')
    await calls[1]
    expect(pool.inUse).toBe(0)
  })

  /** The same pool as a budget whose decisions have no release. */
  function settledOnly(pool: ConcurrencyBudget): Budget {
    return {
      allowAttempt: (request) => ({ ...pool.allowAttempt(request), release: undefined }),
      settle: (request, outcome) => pool.settle(request, outcome),
      peek: () => true,
    }
  }
})

describe.each(WAYS)('a success stays a success in a call %s', (way) => {
  test.each(['release', 'conclude', 'settle'] as const)('whose budget aborts the caller in %s', async (hook) => {
    const controller = new AbortController()
    const abort = (): void => controller.abort(new Error('too late'))
    const api: Budget = {
      allowAttempt: () => (hook === 'release' ? { ...ALLOWED, release: abort } : ALLOWED),
      ...(hook !== 'release' && { [hook]: abort }),
    }
    const { clock, events, play } = wayFixture(way, { budget: 'api', timeout: '1m' }, { budgets: { api } })
    const call = await play(() => 'fine', { signal: controller.signal })
    expect(call).toMatchObject({ state: 'fulfilled', value: 'fine' })
    expect(clock.pending).toBe(0)
    if (way === 'observed') expect(events.at(-1)).toMatchObject({ type: 'call_succeeded' })
  })

  test('whose observer aborts the caller when the attempt has succeeded', async () => {
    const controller = new AbortController()
    const onEvent = ({ type }: RepriseEvent): void => {
      if (type === 'attempt_finished') controller.abort()
    }
    const { play } = wayFixture(way, {}, { observers: [{ onEvent }] })
    expect(await play(() => 'fine', { signal: controller.signal })).toMatchObject({ value: 'fine' })
  })
})

test('a source of randomness that answers with a promise rejects the call and says so', async () => {
  const call = retry(failing(down), { jitter: 'full' }, { random: noAnswer })
  await expect(call).rejects.toThrow('random answered with a promise: it must be synchronous')
})

test('a source of randomness that throws rejects the call with its error', async () => {
  const broken = new Error('no entropy')
  const random = (): never => {
    throw broken
  }
  await expect(retry(failing(down), { jitter: 'full' }, { random })).rejects.toBe(broken)
})
