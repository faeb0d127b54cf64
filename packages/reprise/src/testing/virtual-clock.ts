/**
 * A clock that stands still until it is told to go on: waits of hours pass in no time, in order.
 * Between two timers the promises they woke run to their ends, so that what they start is scheduled first.
 * Imports core only.
 */
import { parseDuration } from '../core/duration.js'
import { expectOptions } from '../core/options.js'
import type { DurationInput } from '../core/policy.js'
import type { Clock, Timer } from '../core/time.js'

/** A clock for tests: time passes only when the test says so. */
export interface VirtualClock extends Clock {
  /**
   * Lets this much time pass, milliseconds or `1h30m`, firing what becomes due on the way in order of time.
   * @example await clock.advance('1h30m')
   */
  advance(duration: DurationInput): Promise<void>
  /**
   * Goes from timer to timer until none is left.
   * @example
   * const pending = retry(() => fetchPrice('tea'), { attempts: 5 }, { clock })
   * await clock.runAll()
   * await pending
   */
  runAll(): Promise<void>
  /**
   * A wait on this clock, for operations in tests. Rejects with the signal's reason when it aborts.
   * @example
   * const api = createExecutor({ clock })
   * const slow = api.run('price', ({ signal }) => clock.sleep('2s', signal))
   */
  sleep(duration: DurationInput, signal?: AbortSignal): Promise<void>
  /** How many timers are scheduled. */
  readonly pending: number
}

interface Entry {
  readonly timer: Timer
  readonly atMs: number
}

/** A program that schedules for ever would otherwise hang its test. */
const MAX_TIMERS_PER_RUN = 1_000_000

class Virtual implements VirtualClock {
  private readonly startMs: number
  /** In the order they were scheduled, which is the order at equal times. */
  private readonly entries = new Map<Timer, Entry>()
  private elapsedMs = 0

  constructor(startMs: number) {
    this.startMs = startMs
  }

  get pending(): number {
    return this.entries.size
  }

  wallMs(): number {
    return this.startMs + this.elapsedMs
  }

  monotonicMs(): number {
    return this.elapsedMs
  }

  schedule(timer: Timer, atMs: number): void {
    this.entries.delete(timer)
    this.entries.set(timer, { timer, atMs })
  }

  cancel(timer: Timer): void {
    this.entries.delete(timer)
  }

  async advance(duration: DurationInput): Promise<void> {
    const ms = msOf(duration)
    if (!(ms >= 0)) throw new RangeError(`A clock cannot advance by ${ms} ms`)
    await this.runUntil(this.elapsedMs + ms)
  }

  async runAll(): Promise<void> {
    await this.runUntil(Infinity)
  }

  sleep(duration: DurationInput, signal?: AbortSignal): Promise<void> {
    const atMs = this.elapsedMs + msOf(duration)
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error)
      const stop = (): void => {
        this.cancel(timer)
        reject(signal?.reason as Error)
      }
      const timer: Timer = {
        fire: () => {
          signal?.removeEventListener('abort', stop)
          resolve()
        },
      }
      this.schedule(timer, atMs)
      signal?.addEventListener('abort', stop, { once: true })
    })
  }

  private async runUntil(endMs: number): Promise<void> {
    await settled()
    for (let fired = 0; fired < MAX_TIMERS_PER_RUN; fired++) {
      const next = this.earliest()
      if (next === undefined || next.atMs > endMs) {
        // Another advance that ran meanwhile may have gone further already.
        if (endMs !== Infinity) this.elapsedMs = Math.max(this.elapsedMs, endMs)
        return
      }
      this.entries.delete(next.timer)
      this.elapsedMs = Math.max(this.elapsedMs, next.atMs)
      next.timer.fire()
      await settled()
    }
    throw new Error(`More than ${MAX_TIMERS_PER_RUN} timers fired: does something schedule itself for ever?`)
  }

  private earliest(): Entry | undefined {
    let earliest: Entry | undefined
    for (const entry of this.entries.values()) {
      if (earliest === undefined || entry.atMs < earliest.atMs) earliest = entry
    }
    return earliest
  }
}

/** A number is not bounded, as waits of years are of use in tests. */
function msOf(duration: DurationInput): number {
  return typeof duration === 'number' ? duration : parseDuration(duration)
}

/** Until every promise that can go on has gone on: a turn of the event loop lies behind all microtasks. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve)
    else setTimeout(resolve, 0)
  })
}

/**
 * Makes a clock for tests. Its monotonic time begins at 0.
 * @example
 * const time = virtualClock()
 * const call = retry(() => fetchPrice('tea'), { attempts: 5 }, { clock: time })
 * await time.runAll()
 * await call
 */
export function virtualClock(
  options: {
    /**
     * Where its wall time begins: milliseconds since the epoch.
     * @default 0
     * @example const time = virtualClock({ startMs: Date.UTC(2026, 0, 1) })
     */
    readonly startMs?: number
  } = {},
): VirtualClock {
  expectOptions('virtualClock', options, { startMs: [Number.isFinite, 'a number of milliseconds since the epoch'] })
  return new Virtual(options.startMs ?? 0)
}
