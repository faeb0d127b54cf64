/** Whether this process still takes work, and the writes that a stop waits for. Imports nothing. */

export class Activity {
  isStopped = false
  /** Writes that may still begin something. */
  private readonly pending = new Set<Promise<unknown>>()

  /** A stop waits for this work. */
  readonly track = <T>(work: Promise<T>): Promise<T> => {
    const done = work.finally(() => this.pending.delete(done))
    this.pending.add(done)
    return done
  }

  get hasPending(): boolean {
    return this.pending.size > 0
  }

  /** Resolves when what is pending now has ended, however. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.pending)
  }
}
