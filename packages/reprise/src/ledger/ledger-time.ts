/**
 * The two times of a ledger without a server: that of tasks, which never runs backwards, and that of the wall, by which
 * processes on one machine compare leases. Imports core only.
 */
import { epochOffsetMs, type TimeSource } from '../core/epoch-time.js'

/** The process's own clock, of which a ledger only reads the time. */
const HOST: TimeSource = { wallMs: () => Date.now(), monotonicMs: () => performance.now() }

export class LedgerTime {
  private readonly clock: TimeSource
  private readonly offsetMs: number

  constructor(clock: TimeSource = HOST) {
    this.clock = clock
    this.offsetMs = epochOffsetMs(clock)
  }

  nowMs(): number {
    return this.clock.monotonicMs() + this.offsetMs
  }

  wallMs(): number {
    return this.clock.wallMs()
  }
}
