/**
 * Time and chance as the rest of the library receives them: arguments, never globals. Imports nothing.
 */

/** Something a clock can wake. A clock may keep fields of its own on the object while it is scheduled. */
export interface Timer {
  /**
   * Called by the clock when the time has come.
   * @example clock.schedule({ fire: () => console.log('now') }, clock.monotonicMs() + 100)
   */
  fire(): void
}

/**
 * Where times and timers come from. `systemClock` is the default; `virtualClock` of `reprise/testing` is one for tests.
 */
export interface Clock {
  /**
   * Milliseconds since the Unix epoch; may jump. Used where a date of the world is meant.
   * @example new Date(clock.wallMs()).toISOString()
   */
  wallMs(): number
  /**
   * Milliseconds that only ever grow, from an arbitrary zero. Used for every length of time.
   * @example
   * const startMs = clock.monotonicMs()
   * await fetchPrice('tea')
   * const elapsedMs = clock.monotonicMs() - startMs
   */
  monotonicMs(): number
  /**
   * Fires `timer` once at `atMs` of the monotonic clock, never before. A timer is scheduled at most once at a time.
   * @example clock.schedule({ fire: () => console.log('now') }, clock.monotonicMs() + 100)
   */
  schedule(timer: Timer, atMs: number): void
  /**
   * Forgets a scheduled timer; one that is not scheduled is no fault.
   * @example
   * const timer = { fire: () => console.log('now') }
   * clock.schedule(timer, clock.monotonicMs() + 100)
   * clock.cancel(timer)
   */
  cancel(timer: Timer): void
  /**
   * `monotonicMs` as of this turn of the event loop: cheaper, and good enough for budgets and breakers.
   * @default `monotonicMs`
   * @example const nearlyNowMs = clock.turnMs()
   */
  turnMs?(): number
  /**
   * Fires `timer` not before `delayMs` have passed, which may be counted from a cheaper reading than the exact one.
   * @default `schedule`, counted from `monotonicMs`
   * @example clock.scheduleIn({ fire: () => console.log('now') }, 100)
   */
  scheduleIn?(timer: Timer, delayMs: number): void
  /**
   * Fires `timer` as soon as the running code has ended, without starving other timers.
   * @default the next microtask
   * @example clock.soon({ fire: () => console.log('now') })
   */
  soon?(timer: Timer): void
}

/** A number in [0, 1). */
export type Random = () => number

/** The draw that belongs to the n-th failure of a call. */
export type Draw = (failure: number) => number
