/**
 * When to try a dependency that nobody calls: with nothing in flight and no attempt for a while, one of those who wait
 * may go. The while is jittered, so that many clients do not probe together, and doubles until something succeeds.
 * Chance comes with the poll: until then the earliest possible time is the one to wake at. Imports types of core only.
 */
import type { Random } from '../time.js'

const MIN_MS = 1000
const MAX_MS = 10_000
/** Jitter: from half the interval to one and a half. */
const LEAST = 0.5

export class IdleProbe {
  private lastAttemptMs = -Infinity
  private doublings = 0
  private dueMs: number | undefined = undefined

  /** An attempt starts. */
  attempted(now: number): void {
    this.lastAttemptMs = now
    this.dueMs = undefined
  }

  succeeded(): void {
    this.doublings = 0
    this.dueMs = undefined
  }

  /** When to poll next. */
  wakeAtMs(callsPerSecond: number): number {
    return this.dueMs ?? this.lastAttemptMs + this.intervalMs(callsPerSecond) * LEAST
  }

  /** Whether to probe now. If so, the next time is further away. */
  isDue(now: number, callsPerSecond: number, random: Random): boolean {
    this.dueMs ??= this.lastAttemptMs + this.intervalMs(callsPerSecond) * (LEAST + random())
    if (now < this.dueMs) return false
    this.doublings++
    return true
  }

  private intervalMs(callsPerSecond: number): number {
    const usualMs = Math.max(MIN_MS, 2000 / callsPerSecond)
    return Math.min(MAX_MS, usualMs * 2 ** this.doublings)
  }
}
