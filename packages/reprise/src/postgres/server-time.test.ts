/** The server's time as it is known here: never ahead of it, and back only when it was set back. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServerTime } from './server-time.js'
import { clockReading } from '../../../../test/clock-reading.js'
import { LedgerTime } from '../ledger/ledger-time.js'

/** A question on its way: pauses before it, to the server, and back; and what somebody does to the server's clock. */
const questions = (setBy: fc.Arbitrary<number>) =>
  fc.array(fc.record({ pauseMs: delays, thereMs: ways, backMs: delays, setByMs: setBy }), {
    minLength: 1,
    maxLength: 30,
  })
const delays = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 50_000, noNaN: true }), fc.integer({ min: 0, max: 9 }))

/** Nothing arrives within the time it was sent: what rounding does is less than that. */
const ways = delays.map((delayMs) => delayMs + 0.01)

/** Times of so different a size cannot be added exactly. */
const ROUNDING_MS = 1e-3

interface Heard {
  /** What it is, and what it was known as just before and just after the answer came. */
  readonly trueMs: number
  readonly beforeMs: number
  readonly afterMs: number
  readonly thereMs: number
}

function ask(
  all: readonly { pauseMs: number; thereMs: number; backMs: number; setByMs: number }[],
  startMs: number,
): Heard[] {
  let hereMs = 0
  let aheadMs = startMs
  const time = new ServerTime(undefined, () => hereMs)
  return all.map(({ pauseMs, thereMs, backMs, setByMs }) => {
    hereMs += pauseMs
    aheadMs += setByMs
    const { sentAtMs } = time
    hereMs += thereMs
    const saidMs = hereMs + aheadMs
    hereMs += backMs
    const beforeMs = time.now()
    time.heard(saidMs, sentAtMs)
    return { trueMs: hereMs + aheadMs, beforeMs, afterMs: time.now(), thereMs }
  })
}

const starts = fc.double({ min: -1e6, max: 2e12, noNaN: true })

describe('the time of a server', () => {
  it('is never ahead of its clock, and never goes back, however long questions take', () => {
    fc.assert(
      fc.property(questions(fc.constant(0)), starts, (all, startMs) => {
        const heard = ask(all, startMs)
        for (const { trueMs, afterMs } of heard) expect(afterMs).toBeLessThanOrEqual(trueMs + ROUNDING_MS)
        for (const { beforeMs, afterMs } of heard.slice(1))
          expect(afterMs).toBeGreaterThanOrEqual(beforeMs - ROUNDING_MS)
      }),
    )
  })

  it('is as exact as the best answer so far', () => {
    const heard = ask(
      [
        { pauseMs: 0, thereMs: 5, backMs: 40, setByMs: 0 },
        { pauseMs: 10, thereMs: 5, backMs: 2, setByMs: 0 },
        { pauseMs: 10, thereMs: 5, backMs: 900, setByMs: 0 },
      ],
      1e12,
    )
    expect(heard.map(({ trueMs, afterMs }) => trueMs - afterMs)).toEqual([40, 2, 2])
  })

  it('follows a clock that is set, with the first answer; what cannot be told from a slow question stays', () => {
    const settings = fc.oneof(fc.constant(0), fc.integer({ min: -1e7, max: 1e7 }))
    fc.assert(
      fc.property(questions(settings), starts, (all, startMs) => {
        for (const { trueMs, afterMs, thereMs } of ask(all, startMs)) {
          expect(afterMs).toBeLessThanOrEqual(trueMs + thereMs + ROUNDING_MS)
        }
      }),
    )
  })

  it('goes back only if the clock was set back', () => {
    const forward = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1e7 }))
    fc.assert(
      fc.property(questions(forward), starts, (all, startMs) => {
        for (const { beforeMs, afterMs } of ask(all, startMs).slice(1)) {
          expect(afterMs).toBeGreaterThanOrEqual(beforeMs - ROUNDING_MS)
        }
      }),
    )
    const [, later] = ask(
      [
        { pauseMs: 0, thereMs: 1, backMs: 1, setByMs: 0 },
        { pauseMs: 0, thereMs: 1, backMs: 1, setByMs: -7_200_000 },
      ],
      1e12,
    )
    expect(later?.afterMs).toBe((later?.trueMs ?? 0) - 1)
  })

  it('is trusted for a second, and then asked for again', () => {
    let hereMs = 0
    const time = new ServerTime(undefined, () => hereMs)
    expect(time.isFresh).toBe(false)
    time.heard(1e12, 0)
    expect(time.isFresh).toBe(true)
    hereMs = 999
    expect([time.isFresh, time.now()]).toEqual([true, 1e12 + 999])
    hereMs = 1000
    expect(time.isFresh).toBe(false)
  })

  it('is a given clock where there is one', () => {
    const time = new ServerTime(new LedgerTime(clockReading(() => 42)))
    time.heard(1e12, 0)
    expect([time.isFresh, time.now()]).toEqual([true, 42])
  })
})
