/**
 * Budgets that let attempts wait in line instead of denying them.
 */
import { describe, expect, test } from 'vitest'
import { type Budget, BudgetDeniedError, BreakerOpenError, type Decision } from 'reprise'
import { failing, Manual, ParkingLot, wayFixture, turn, WAYS } from './call-fixture.js'

const down = new Error('down')

describe.each(WAYS)('a call %s', (way) => {
  const parkedAt = (lot: Budget, policy: object = {}) =>
    wayFixture(way, { attempts: 3, budget: 'lot', ...policy }, { budgets: { lot } })

  test('whose first attempt finds no place waits in line and runs once it is woken by a poll', async () => {
    const lot = new ParkingLot(0)
    lot.pollAtMs = 2500
    const { clock, call } = parkedAt(lot)
    const started: number[] = []
    const watched = call(() => (started.push(clock.monotonicMs()), 'done'))
    await clock.advance(2499)
    expect(watched.state).toBe('pending')
    expect(lot.line).toHaveLength(1)
    await clock.advance(1)
    expect(watched.value).toBe('done')
    expect(started).toEqual([2500])
    expect(lot.polls).toEqual([2500])
    expect(lot.asks).toHaveLength(1)
    expect(lot.settled).toMatchObject([{ launch: 1, outcome: { result: 'success', latencyMs: 0, won: true } }])
    expect(clock.pending).toBe(0)
  })

  test('whose later attempt finds no place waits after its backoff', async () => {
    const lot = new ParkingLot(1)
    const { clock, call } = parkedAt(lot, { attempts: 2 })
    const holder = new Manual()
    let failures = 0
    const watched = call(() => {
      if (failures++ === 0) {
        // Somebody else takes the place while this call waits for its time.
        setImmediate(() => call(holder.operation))
        throw down
      }
      throw new Error('again')
    })
    await clock.advance(1000)
    expect(lot.line).toHaveLength(1)
    await clock.advance(4000)
    holder.at(0).resolve('x')
    await turn()
    expect((watched.error as Error).message).toBe('again')
    expect(watched.atMs).toBe(5000)
    expect(watched.timeline?.attempts[1]).toMatchObject({
      launch: 2,
      startMs: 5000,
      delayBeforeMs: 1000,
      parkedMs: 4000,
      budgetAllowed: true,
      budgetReason: 'woken',
    })
    expect(watched.timeline).toMatchObject({ totalDelayMs: 1000, elapsedMs: 5000 })
  })

  test('is woken inside park itself', async () => {
    const lot: Budget = {
      allowAttempt: () => ({ allowed: false, reason: 'line' }),
      park: (_, wake) => {
        wake({ allowed: true, reason: 'at once' })
        return () => expect.unreachable('the line was left already')
      },
    }
    const { clock, call } = parkedAt(lot)
    const watched = call(() => 'done')
    await turn()
    expect(watched.value).toBe('done')
    expect(clock.pending).toBe(0)
  })

  test('counts its time in line toward its timeout, and ends there as a denial', async () => {
    const lot = new ParkingLot(0)
    const { clock, play } = parkedAt(lot, { timeout: '5s' })
    const call = await play(() => 'never')
    expect(call.atMs).toBe(5000)
    expect(call.error).toBeInstanceOf(BudgetDeniedError)
    expect(call.error).toMatchObject({ reason: 'park_expired', attempt: 1, budget: 'lot' })
    expect(call.timeline).toMatchObject({ stopReason: 'budget_denied', budgetReason: 'park_expired', elapsedMs: 5000 })
    expect(lot.line).toHaveLength(0)
    expect(lot.gaveUp).toBe(1)
    expect(clock.pending).toBe(0)
  })

  test('stands in line for 30 s, or for as long as the budget says', async () => {
    expect((await parkedAt(new ParkingLot(0)).play(() => 'never')).atMs).toBe(30_000)
    const call = await parkedAt(new ParkingLot(0, 700)).play(() => 'never')
    expect(call.atMs).toBe(700)
    expect(call.error).toMatchObject({ reason: 'park_expired' })
    expect(call.timeline?.attempts).toMatchObject([{ outcome: 'denied', parkedMs: 700, budgetReason: 'park_expired' }])
  })

  test('rejects with its last real error when a later attempt stood in line in vain', async () => {
    const lot = new ParkingLot(1, 2000)
    const { play } = parkedAt(lot)
    const call = await play(() => {
      lot.free = -1
      throw down
    })
    expect(call.error).toBe(down)
    expect(call.atMs).toBe(3000)
    expect(call.timeline).toMatchObject({
      stopReason: 'budget_denied',
      budgetReason: 'park_expired',
      totalDelayMs: 1000,
    })
    expect(call.timeline?.elapsedMs).toBe(3000)
    expect(call.timeline?.attempts.map((attempt) => [attempt.launch, attempt.outcome])).toEqual([
      [1, 'failure'],
      [2, 'denied'],
    ])
  })

  test('does not count its time in line toward the time budget', async () => {
    const lot = new ParkingLot(0)
    lot.pollAtMs = 20_000
    const call = await parkedAt(lot, { retryBudget: '3s' }).play(failing(down))
    expect(call.timeline?.attempts).toHaveLength(3)
    expect(call.timeline).toMatchObject({ stopReason: 'attempts_exhausted', totalDelayMs: 3000, elapsedMs: 23_000 })
  })

  test('ends where it was handed a denial out of the line', async () => {
    for (const failuresBefore of [0, 1]) {
      const lot: Budget = {
        allowAttempt: ({ attempt }) => ({ allowed: attempt <= failuresBefore, reason: 'line' }),
        park: (_, wake) => {
          wake({ allowed: false, reason: 'closing' })
          return () => undefined
        },
      }
      const operation = failing(down)
      const call = await parkedAt(lot).play(operation)
      expect(operation.calls).toBe(failuresBefore)
      expect(call.timeline).toMatchObject({ stopReason: 'budget_denied', budgetReason: 'closing' })
      if (failuresBefore === 0) expect(call.error).toMatchObject({ reason: 'closing' })
      else expect(call.error).toBe(down)
    }
  })

  test('fills in the reason of a grant that has none', async () => {
    for (const allowed of [true, false]) {
      const lot: Budget = {
        allowAttempt: () => ({ allowed: false, reason: 'line' }),
        park: (_, wake) => {
          wake({ allowed, reason: '' })
          return () => undefined
        },
      }
      const call = await parkedAt(lot, { attempts: 1 }).play(failing(down))
      expect(call.timeline?.attempts[0]?.budgetReason).toBe(allowed ? 'allowed' : 'budget_denied')
    }
  })

  test('leaves the line at an abort, at once and with the caller’s reason', async () => {
    const lot = new ParkingLot(0)
    lot.pollAtMs = 10_000
    const { clock, call } = parkedAt(lot)
    const controller = new AbortController()
    const watched = call(() => 'never', { signal: controller.signal })
    await clock.advance(1000)
    expect(clock.pending).toBeGreaterThan(0)
    controller.abort('enough')
    expect(lot.line).toHaveLength(0)
    expect(clock.pending).toBe(0)
    await turn()
    expect(watched.error).toBe('enough')
    expect(lot.settled).toEqual([])
  })

  test('gives a grant back as aborted when it was aborted in the turn of the grant', async () => {
    const lot = new ParkingLot(0)
    const { clock, call } = parkedAt(lot)
    const controller = new AbortController()
    const operation = failing(down)
    const watched = call(operation, { signal: controller.signal })
    await clock.advance(1000)
    lot.poll(1000)
    controller.abort('enough')
    await turn()
    expect(watched.error).toBe('enough')
    expect(operation.calls).toBe(0)
    expect(lot.settled).toMatchObject([{ launch: 1, outcome: { result: 'aborted', won: false, latencyMs: 0 } }])
    expect(lot.free).toBe(1)
  })

  test('gives back a grant that comes after it has left, and every grant but the first', async () => {
    const wakes: ((grant: Decision) => void)[] = []
    const released: string[] = []
    const grant = (): Decision => ({ allowed: true, reason: 'x', release: ({ result }) => void released.push(result) })
    const lot: Budget = {
      allowAttempt: () => ({ allowed: false, reason: 'line' }),
      park: (_, wake) => (wakes.push(wake), () => undefined),
      maxParkMs: 1000,
    }
    const { clock, call, play } = parkedAt(lot, { attempts: 1 })
    await play(() => 'never')
    wakes[0]?.(grant())
    expect(released).toEqual(['aborted'])
    const manual = new Manual()
    const watched = call(manual.operation)
    await turn()
    wakes[1]?.(grant())
    wakes[1]?.(grant())
    await turn()
    expect(manual.calls).toBe(1)
    expect(released).toEqual(['aborted', 'aborted'])
    manual.at(0).resolve('done')
    await turn()
    expect(watched.value).toBe('done')
    expect(released).toEqual(['aborted', 'aborted', 'success'])
    expect(clock.pending).toBe(0)
  })

  test('gives a grant back when the breaker has opened in the meantime', async () => {
    const lot = new ParkingLot(1)
    const { clock, call } = parkedAt(lot, { attempts: 1, breaker: { failureThreshold: 1 } })
    const manual = new Manual()
    const first = call(manual.operation)
    const second = call(() => 'never')
    await turn()
    expect(lot.line).toHaveLength(1)
    manual.at(0).reject(down)
    await turn()
    expect(first.error).toBe(down)
    expect(second.error).toBeInstanceOf(BreakerOpenError)
    expect(lot.free).toBe(1)
    expect(lot.settled.map(({ outcome }) => outcome.result)).toEqual(['failure', 'aborted'])
    expect(clock.pending).toBe(0)
  })

  test('is not peeked at by a budget that parks', async () => {
    const lot = Object.assign(new ParkingLot(1), {
      peek: () => expect.unreachable('a budget that parks is not asked to peek'),
    })
    const call = await parkedAt(lot, { attempts: 2 }).play(failing(down))
    expect(call.timeline?.attempts).toHaveLength(2)
  })

  test.each([true, false])('whose budget throws in park, hook errors recovered: %s', async (recoverHookErrors) => {
    const broken = new Error('broken park')
    const lot: Budget = {
      allowAttempt: ({ attempt }) => ({ allowed: attempt === 1, reason: 'line' }),
      park() {
        throw broken
      },
    }
    const { clock, play } = wayFixture(way, { attempts: 3, budget: 'lot' }, { budgets: { lot }, recoverHookErrors })
    const call = await play(failing(down))
    if (recoverHookErrors) expect(call.error).toBe(down)
    else expect(call.error).toMatchObject({ code: 'invalid_budget', cause: broken, lastError: down })
    expect(call.timeline?.budgetReason).toBe('panic_in_budget')
    expect(clock.pending).toBe(0)
  })

  test('survives a budget whose poll, wakeAtMs and leaving throw', async () => {
    const lot: Budget = {
      maxParkMs: 1000,
      allowAttempt: () => ({ allowed: false, reason: 'line' }),
      park: () => () => {
        throw new Error('broken leaving')
      },
      wakeAtMs: () => {
        if (asked++ > 1) throw new Error('broken wakeAtMs')
        return 500
      },
      poll() {
        throw new Error('broken poll')
      },
    }
    let asked = 0
    const call = await parkedAt(lot).play(() => 'never')
    expect(call.atMs).toBe(1000)
    expect(call.error).toMatchObject({ reason: 'park_expired' })
  })

  test('ends when it is woken with something that is no decision', async () => {
    const lot: Budget = {
      maxParkMs: 1000,
      allowAttempt: () => ({ allowed: false, reason: 'line' }),
      park: (_, wake) => {
        wake(undefined as never)
        return () => undefined
      },
    }
    const call = await parkedAt(lot).play(() => 'never')
    expect(call.state).toBe('rejected')
  })
})
