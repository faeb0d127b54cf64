import { describe, expect, it } from 'vitest'
import { clockReading } from '../../../../test/clock-reading.js'
import { OptionsError } from '../core/errors.js'
import { LedgerTime } from './ledger-time.js'
import { MemoryLedger } from './memory-ledger.js'

describe('the time of a ledger', () => {
  it('goes on with the monotonic side of its clock, and that of leases with the wall', async () => {
    let [now, wall] = [10, 1000]
    const ledger = new MemoryLedger({
      clock: clockReading(
        () => now,
        () => wall,
      ),
    })
    expect([await ledger.now(), await ledger.leaseNow()]).toEqual([1000, 1000])
    now += 5
    wall -= 500
    expect([await ledger.now(), await ledger.leaseNow()]).toEqual([1005, 500])
  })

  it('is that of the system without a clock', () => {
    const time = new LedgerTime()
    const apartMs = Math.abs(time.nowMs() - Date.now())
    expect(apartMs).toBeLessThan(10_000)
    expect(Math.abs(time.wallMs() - Date.now())).toBeLessThan(10_000)
  })

  it('is not given by a function: a clock is one thing everywhere', () => {
    const message = 'Invalid options of MemoryLedger: clock: a function is not a clock such as virtualClock()'
    expect(() => new MemoryLedger({ clock: Date.now as never })).toThrow(message)
    expect(() => new MemoryLedger(Date.now as never)).toThrow(OptionsError)
  })
})
