/**
 * Time and chance as the rest of the library receives them: arguments, never globals. Imports nothing.
 */

/** Something a clock can wake. A clock may keep fields of its own on the object while it is scheduled. */
export interface Timer {
  fire(): void
}

export interface Clock {
  /** Milliseconds since the Unix epoch; may jump. Used where a date of the world is meant. */
  wallMs(): number
  /** Milliseconds that only ever grow, from an arbitrary zero. Used for every length of time. */
  monotonicMs(): number
  /** Fires `timer` once at `atMs` of the monotonic clock, never before. A timer is scheduled at most once at a time. */
  schedule(timer: Timer, atMs: number): void
  /** Forgets a scheduled timer; one that is not scheduled is no fault. */
  cancel(timer: Timer): void
  /** `monotonicMs` as of this turn of the event loop: cheaper, and good enough for budgets and breakers. */
  turnMs?(): number
  /** Fires `timer` not before `delayMs` have passed, which may be counted from a cheaper reading than the exact one. */
  scheduleIn?(timer: Timer, delayMs: number): void
  /** Fires `timer` as soon as the running code has ended, without starving other timers. Absent: the next microtask. */
  soon?(timer: Timer): void
}

/** A number in [0, 1). */
export type Random = () => number

/** The draw that belongs to the n-th failure of a call. */
export type Draw = (failure: number) => number
