/**
 * The line of a budget that parks: its order, its polls, and who may not stand in it.
 */
import { describe, expect, test } from 'vitest'
import { type Budget, timelineOf } from 'reprise'
import { Manual, ParkingLot, callFixture, turn, watch } from './call-fixture.js'

const down = new Error('down')

describe('a line', () => {
  test('is served in order, one for each place that becomes free', async () => {
    const lot = new ParkingLot(2)
    const { clock, executor } = callFixture({ attempts: 1, budget: 'lot' }, { budgets: { lot } })
    const order: number[] = []
    let running = 0
    const calls = Array.from({ length: 8 }, (_, index) =>
      watch(
        executor.run('job', async () => {
          order.push(index)
          expect(++running).toBeLessThanOrEqual(2)
          await clock.sleep(1000)
          running--
        }),
        clock,
      ),
    )
    await clock.runAll()
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(calls.map((call) => call.atMs)).toEqual([1000, 1000, 2000, 2000, 3000, 3000, 4000, 4000])
    expect(lot.free).toBe(2)
    expect(lot.asks).toHaveLength(8)
  })

  test('is polled when it says, also when it changes its mind, and not while nobody stands in it', async () => {
    const lot = new ParkingLot(1)
    lot.pollAtMs = 500
    const { clock, executor } = callFixture({ attempts: 1, budget: 'lot' }, { budgets: { lot } })
    const manual = new Manual()
    watch(executor.run('job', manual.operation))
    expect(clock.pending).toBe(0)
    await clock.advance(1000)
    expect(lot.polls).toEqual([])
    const parked = watch(
      executor.run('job', () => 'x'),
      clock,
    )
    lot.pollAtMs = 4000
    const later = watch(
      executor.run('job', () => 'y'),
      clock,
    )
    await clock.advance(500)
    expect(lot.polls).toEqual([])
    await clock.runAll()
    expect(lot.polls[0]).toBe(4000)
    expect(parked.atMs).toBe(4000)
    expect(later.atMs).toBe(4000)
    manual.at(0).resolve('z')
    await turn()
    expect(clock.pending).toBe(0)
  })

  test('is polled with the time of the executor and its chance', async () => {
    let polled: [number, number] | undefined
    const lot: Budget = {
      maxParkMs: 5000,
      allowAttempt: ({ now }) => ((dueMs ??= now + 300), { allowed: false, reason: 'line' }),
      park: () => () => undefined,
      wakeAtMs: () => dueMs ?? Infinity,
      poll: (now, random) => {
        polled = [now, random()]
        dueMs = Infinity
      },
    }
    let dueMs: number | undefined
    const { clock, executor } = callFixture({ budget: 'lot' }, { budgets: { lot }, random: () => 0.25 })
    watch(executor.run('job', () => 'never'))
    const asked = dueMs
    await clock.runAll()
    expect(polled).toEqual([asked, 0.25])
  })

  test('does not stop the clock when a budget always wants to be polled now', async () => {
    let polls = 0
    const lot: Budget = {
      maxParkMs: 50,
      allowAttempt: () => ({ allowed: false, reason: 'line' }),
      park: () => () => undefined,
      wakeAtMs: () => (polls < 1000 ? 0 : Infinity),
      poll: () => void polls++,
    }
    const { clock, executor } = callFixture({ budget: 'lot' }, { budgets: { lot } })
    const call = watch(executor.run('job', () => 'never'))
    await clock.runAll()
    expect(call.error).toMatchObject({ reason: 'park_expired' })
    expect(polls).toBeLessThan(100)
  })

  test('is not for hedges: a hedge that finds no place is denied', async () => {
    const lot = new ParkingLot(1)
    const { clock, executor } = callFixture(
      { hedge: { delay: '1s', budget: 'lot' }, budget: 'lot' },
      { budgets: { lot } },
    )
    const manual = new Manual()
    const inspection = executor.inspect('job', manual.operation)
    await clock.advance(1000)
    expect(lot.line).toHaveLength(0)
    manual.at(0).resolve('x')
    expect((await inspection).timeline.attempts.map((attempt) => attempt.outcome)).toEqual(['success', 'denied'])
  })

  test('of a call without a deadline shows its whole time on the timeline', async () => {
    const lot = new ParkingLot(1, 2000)
    const { clock, executor } = callFixture({ attempts: 2, budget: 'lot' }, { budgets: { lot } })
    const call = watch(
      executor.run('job', async () => {
        await clock.sleep(10_000)
        lot.free = -1
        throw down
      }),
    )
    await clock.runAll()
    expect(timelineOf(call.error)?.elapsedMs).toBe(13_000)
  })
})
