/**
 * The time of this turn of the event loop.
 * A clock read costs about as much as the rest of a successful call, but telling where a turn ends costs more: so the
 * clock is read plainly until reads come thick and fast, and only then one reading serves the turn, at most
 * `READS_PER_READING` times. A reading is never kept past the end of its turn. Imports nothing.
 */

/** Reads closer together than this are part of a burst. */
const BURST_GAP_MS = 0.02
/** So many in a row before a reading is shared; after a turn that was a burst, fewer do. */
const BURST_READS = 32
const BURST_READS_AGAIN = 2
/** In a burst without end the clock is read again after so many uses. */
const READS_PER_READING = 32

/** Whoever has relied on shared readings hears how old they had become, and when sharing ends with the turn. */
export interface TurnListener {
  /** The reading shared until now was at most `lagMs` old when it was last used. */
  lagged(lagMs: number): void
  ended(): void
}

export class TurnTime {
  readonly #read: () => number
  readonly #listener: TurnListener
  #lastMs = -1
  #uses = 0
  #streak = 0
  #sharing = false

  constructor(read: () => number, listener: TurnListener) {
    this.#read = read
    this.#listener = listener
  }

  /** Whether one reading serves several uses, until the end of this turn at most. */
  get shares(): boolean {
    return this.#sharing
  }

  nowMs(): number {
    if (this.#uses > 0) {
      this.#uses--
      return this.#lastMs
    }
    return this.#refresh()
  }

  /** Reads the clock if others rely on a shared reading, so that they hear how old it is before anything fires by it. */
  settle(): void {
    if (this.#sharing) this.#refresh()
  }

  #refresh(): number {
    const now = this.#read()
    const gap = now - this.#lastMs
    this.#lastMs = now
    if (this.#sharing) {
      this.#uses = READS_PER_READING
      this.#listener.lagged(gap)
    } else if (gap > BURST_GAP_MS) this.#streak = 0
    else if (++this.#streak >= BURST_READS) this.#share()
    return now
  }

  #share(): void {
    if (typeof setImmediate !== 'function') return
    this.#sharing = true
    this.#uses = READS_PER_READING
    setImmediate(() => {
      this.#sharing = false
      this.#uses = 0
      this.#streak = BURST_READS - BURST_READS_AGAIN
      this.#listener.lagged(this.#read() - this.#lastMs)
      this.#listener.ended()
    })
  }
}
