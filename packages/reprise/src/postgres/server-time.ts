/**
 * The server's time, known between two answers without asking again: what the server said last, and what has passed here
 * since. Never ahead of the server's clock, so that nothing happens too early; and it goes back only if that clock was
 * set back. Imports a type of the ledger's port.
 */
import type { LedgerTime } from '../ledger/ledger-time.js'

/** So long what was heard is trusted: the clocks may drift apart, and a machine may have slept. */
const FRESH_MS = 1000

export class ServerTime {
  private readonly monotonicMs: () => number
  /** For tests: a clock in place of the server's. */
  private readonly given: LedgerTime | undefined
  private aheadMs: number | undefined = undefined
  private heardAtMs = -Infinity

  constructor(given?: LedgerTime, monotonicMs: () => number = () => performance.now()) {
    this.given = given
    this.monotonicMs = monotonicMs
  }

  /** To be noted when a statement is sent. */
  get sentAtMs(): number {
    return this.monotonicMs()
  }

  /** A statement that was sent at `sentAtMs` has come back with the server's time. */
  heard(serverMs: number, sentAtMs: number): void {
    const now = this.monotonicMs()
    const [least, most] = [serverMs - now, serverMs - sentAtMs]
    // The best of what is known; if even the most that is possible now is less, the server's clock was set back.
    const known = this.aheadMs
    this.aheadMs = known === undefined || most < known ? least : Math.max(known, least)
    this.heardAtMs = now
  }

  get isFresh(): boolean {
    return this.given !== undefined || this.monotonicMs() - this.heardAtMs < FRESH_MS
  }

  now(): number {
    return this.given?.nowMs() ?? this.monotonicMs() + (this.aheadMs ?? 0)
  }
}
