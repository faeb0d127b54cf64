/**
 * Joining and leaving a budget's line at its edges: aborted within `park` itself, and a line without a time limit.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createExecutor } from 'reprise'
import { ParkingLot, callFixture, turn, watch } from './call-fixture.js'

describe('a line', () => {
  it('is left by a call that is aborted within park', async () => {
    const controller = new AbortController()
    const lot = new ParkingLot(0)
    const park = lot.park.bind(lot)
    lot.park = (request, wake) => {
      const leave = park(request, wake)
      controller.abort('enough')
      return leave
    }
    const { clock, executor } = callFixture({ budget: 'lot' }, { budgets: { lot } })
    const call = watch(executor.run('job', () => 'never', { signal: controller.signal }))
    await turn()
    expect(call).toMatchObject({ state: 'rejected', error: 'enough' })
    expect(lot.line).toHaveLength(0)
    expect(clock.pending).toBe(0)
  })

  it('in which one may stand for ever can be stood in', async () => {
    const lot = new ParkingLot(0, Infinity)
    const executor = createExecutor({ defaultPolicy: { budget: 'lot' }, budgets: { lot } })
    const call = watch(executor.run('job', () => 'done'))
    await sleep(5)
    expect(call.state).toBe('pending')
    lot.line.shift()?.wake({ allowed: true, reason: 'woken' })
    await sleep(5)
    expect(call).toMatchObject({ state: 'fulfilled', value: 'done' })
  })
})
