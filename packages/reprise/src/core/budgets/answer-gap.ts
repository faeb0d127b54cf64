/**
 * A time without an answer of some kind, and how many attempts say so: those in flight when it began, or, if more have
 * ended in it without such an answer, these. Imports nothing.
 */
export class AnswerGap {
  /** When it began; `Infinity` while no attempt is in flight that could have an answer. */
  sinceMs = Infinity
  /** Attempts that have ended in it without such an answer. */
  ended = 0
  private inFlight = 0

  get attempts(): number {
    return Math.max(this.inFlight, this.ended)
  }

  /** The first attempt begins it, and those that start with it. */
  started(now: number): void {
    if (this.sinceMs === Infinity) this.beginAgain(now, 1)
    else if (this.sinceMs === now) this.inFlight++
  }

  /** An answer ends it; while attempts are in flight the next one begins at once. */
  beginAgain(now: number, inFlight: number): void {
    this.sinceMs = inFlight > 0 ? now : Infinity
    this.inFlight = inFlight
    this.ended = 0
  }

  end(): void {
    this.sinceMs = Infinity
  }
}
