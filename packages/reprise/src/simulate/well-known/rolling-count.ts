/**
 * How often something happened in the last so many seconds, in constant memory: one count per second.
 * Invariant: a clock that goes back counts in the latest second. Imports nothing.
 */

export class RollingCount {
  private readonly seconds: Uint32Array
  private latest = -1
  private sum = 0

  constructor(windowSeconds: number) {
    this.seconds = new Uint32Array(windowSeconds)
  }

  add(now: number): void {
    this.advance(now)
    this.seconds[this.latest % this.seconds.length]!++
    this.sum++
  }

  total(now: number): number {
    this.advance(now)
    return this.sum
  }

  /** Empties the seconds that `now` has left behind. */
  private advance(now: number): void {
    const second = Math.floor(now / 1000)
    const size = this.seconds.length
    for (let step = Math.min(second - this.latest, size); step > 0; step--) {
      const place = (second - step + 1) % size
      this.sum -= this.seconds[place] as number
      this.seconds[place] = 0
    }
    this.latest = Math.max(this.latest, second)
  }
}
