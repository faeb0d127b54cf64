/** Whether this process still takes work, and the writes that a stop waits for. Imports its own layer. */
import type { Definition } from './definition.js'

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

/** Whether no attempt of these tasks may begin here: the process stops, or their run does. */
export function isStopped(activity: Activity, { conductor }: Definition): boolean {
  return activity.isStopped || conductor?.isStopped === true
}
