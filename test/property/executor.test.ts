/**
 * The executor under random policies, operations, budgets and aborts on a virtual clock, ten thousand calls at a time.
 * Whatever happens: every allowed ask is concluded and given back exactly once, in this order, nothing is left behind,
 * and the timeline tells what the operation saw. A failure names its seed.
 */
import { getEventListeners } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  type Budget,
  concurrencyBudget,
  createExecutor,
  type RepriseEvent,
  ratioBudget,
  tokenBucket,
} from '../../packages/reprise/src/index.js'
import { seededRandom, virtualClock } from '../../packages/reprise/src/testing/index.js'
import { type Audit, audited, type Hears, Line } from './executor-budgets.js'
import { type Chance, chanceOf, randomPolicy } from './executor-chance.js'
import { checkCall, checkEvents, type ObservedCall } from './executor-checks.js'
import { RandomCall } from './random-call.js'

const FIXED_SEED = 20_240_229
const FRESH_SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
const CALLS = 10_000
const CALLS_PER_BATCH = 100

const unhandled: unknown[] = []
const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

beforeAll(() => void process.on('unhandledRejection', onUnhandled))
afterEach(() => void unhandled.splice(0))
afterAll(() => void process.off('unhandledRejection', onUnhandled))

class Mischief extends Error {}

function randomHears(chance: Chance, mustConclude: boolean): Hears {
  const conclude = mustConclude || chance.percent(50)
  return { conclude, end: chance.oneOf(conclude ? ['release', 'settle', 'nothing'] : ['release', 'settle']) }
}

/** Budgets of every kind, each of which counts what it gave and what came back. */
function makeBudgets(chance: Chance, mischief: () => void) {
  const lines = [
    new Line(chance.whole(1, 6), chance.oneOf(['settle', 'conclude']), 40),
    new Line(chance.whole(1, 6), 'poll', 25),
  ] as const
  const inner: Record<string, Budget> = {
    places: concurrencyBudget({ max: chance.whole(1, 40) }),
    tokens: tokenBucket({ capacity: chance.whole(1, 60), refillPerSecond: chance.whole(1, 2000) }),
    ratio: ratioBudget({ ratio: 0.5, minPerSecond: 20, window: '1s' }),
    line: lines[0],
    polled: lines[1],
  }
  const audits: Audit[] = []
  const budgets: Record<string, Budget> = {}
  for (const [name, budget] of Object.entries(inner)) {
    const [wrapped, audit] = audited(name, budget, randomHears(chance, budget === lines[0]), mischief)
    budgets[name] = wrapped
    audits.push(audit)
  }
  return { budgets, audits, lines }
}

/**
 * A hundred calls that share an executor, budgets, breakers and a signal. In `mischiefPercent` of the cases a hook throws,
 * and now and then one aborts the signal that calls share, in the midst of whatever is going on.
 */
async function runBatch(chance: Chance, mischiefPercent: number): Promise<ObservedCall[]> {
  const clock = virtualClock({ startMs: 1_700_000_000_000 })
  const shared = new AbortController()
  const mischief = (): void => {
    if (mischiefPercent === 0) return
    if (chance.whole(0, 400) === 0) shared.abort('a hook')
    if (chance.percent(mischiefPercent)) throw new Mischief('a hook threw')
  }
  const { budgets, audits, lines } = makeBudgets(chance, mischief)
  const keyed = Array.from({ length: 8 }, (_, i) => [`key-${i}`, randomPolicy(chance, mischief)] as const)
  const events: RepriseEvent[] = []
  const onEvent = (event: RepriseEvent): void => {
    events.push(event)
    mischief()
  }
  const executor = createExecutor({
    policies: Object.fromEntries(keyed),
    budgets,
    clock,
    random: chance.random,
    missingBudgetMode: chance.oneOf(['allow', 'deny']),
    recoverHookErrors: chance.percent(50),
    observers: chance.percent(50) ? [{ onEvent }] : [],
  })
  const calls = Array.from({ length: CALLS_PER_BATCH }, () => {
    const [key, policy] = chance.oneOf(keyed)
    return new RandomCall(executor, clock, chance, key, policy, shared)
  })
  if (chance.percent(50)) clock.schedule({ fire: () => shared.abort('everybody') }, chance.whole(100, 600))
  const running = calls.map((call) => call.run())
  await clock.runAll()
  await Promise.all(running)
  await turn()

  expect(clock.pending, 'timers left on the clock').toBe(0)
  for (const { signals } of calls) {
    for (const signal of signals) expect(getEventListeners(signal, 'abort'), 'listeners left on a signal').toEqual([])
  }
  for (const audit of audits) expect(audit, `budget ${audit.name}`).toMatchObject(audit.balanced())
  for (const line of lines) expect([line.inUse, line.length], 'a line that is left').toEqual([0, 0])
  expect(unhandled, 'unhandled rejections').toEqual([])
  checkEvents(events)
  return calls
}

/** How often each stop reason came up. */
async function runCalls(seed: number, calls: number, check: (call: ObservedCall) => void, mischiefPercent = 0) {
  const reasons = new Map<string, number>()
  const random = seededRandom(seed)
  for (let done = 0; done < calls; done += CALLS_PER_BATCH) {
    const batchSeed = Math.floor(random() * 2 ** 32)
    try {
      for (const call of await runBatch(chanceOf(seededRandom(batchSeed)), mischiefPercent)) {
        check(call)
        const word = call.timeline?.stopReason ?? 'success'
        reasons.set(word, (reasons.get(word) ?? 0) + 1)
      }
    } catch (error) {
      throw new Error(`SEED=${seed}, batch ${done / CALLS_PER_BATCH} (seed ${batchSeed}) failed`, { cause: error })
    }
  }
  return reasons
}

describe('random calls', () => {
  it(`leave nothing behind and tell what happened: ${CALLS} of them`, { timeout: 60_000 }, async () => {
    const reasons = await runCalls(FIXED_SEED, CALLS, checkCall)
    // Otherwise the test would no longer test what it says.
    const expected = ['aborted', 'attempts_exhausted', 'breaker_open', 'budget_denied', 'not_retryable']
    for (const word of [...expected, 'retry_after_too_long', 'retry_budget_exhausted', 'success', 'timeout']) {
      expect(reasons.get(word), word).toBeGreaterThan(20)
    }
  })

  it('do so with a seed that nobody has tried', { timeout: 60_000 }, async () => {
    console.log(`executor.test.ts: SEED=${FRESH_SEED} repeats this run`)
    await runCalls(FRESH_SEED, CALLS / 4, checkCall)
  })

  it('leave nothing behind when budgets, predicates and observers throw', { timeout: 60_000 }, async () => {
    const settled = ({ result }: ObservedCall): void => expect(result).toBeDefined()
    await runCalls(FIXED_SEED, CALLS / 4, settled, 3)
  })
})

describe('thousands of keys', () => {
  it('take no more room than the maps allow', async () => {
    const clock = virtualClock()
    const executor = createExecutor({
      clock,
      defaultPolicy: { attempts: 2, initialDelay: 0, breaker: { failureThreshold: 2 } },
    })
    const sizes = (): number[] =>
      Object.values((executor as unknown as { book: object }).book).flatMap((value: unknown) => {
        const { size } = (value ?? {}) as { size?: unknown }
        return typeof size === 'number' ? [size] : []
      })
    for (let i = 0; i < 12_000; i += 500) {
      const calls = Array.from({ length: 500 }, (_, j) =>
        executor.run(`key-${i + j}`, () => {
          if (j % 2 === 0) throw new Error('failed')
        }),
      )
      const settled = Promise.allSettled(calls)
      await clock.runAll()
      await settled
      for (const size of sizes()) expect(size).toBeLessThanOrEqual(10_000)
    }
    expect(sizes().toSorted((a, b) => a - b)).toEqual([0, 1000, 10_000])
    expect(clock.pending).toBe(0)
  })
})
