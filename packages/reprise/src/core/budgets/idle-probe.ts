/**
 * When to try a dependency that nobody calls: with nothing in flight and no attempt for a while, one of those who wait
 * may go. The while is jittered, so that many clients do not probe together, and doubles until something succeeds; a
 * retry that failed has told as much as a first probe. Chance comes with the poll: until then the earliest possible
 * time is the one to wake at. Imports types of core only.
 */
import type { Random } from '../time.js'

const MIN_MS = 1000
/** Silence of so many calls' time is no chance: until then the next call tells as much as a probe would. */
const SILENT_CALLS = 4
const MAX_MS = 10_000
/** Jitter: from half the interval to one and a half. */
const LEAST = 0.5

export class IdleProbe {
  private lastAttemptMs = -Infinity
  private doublings = 0
  private everSucceeded = false
  private jitter: number | undefined = undefined
  /** As far as the last look at it could tell. */
  private dueMs = -Infinity

  /** An attempt starts. */
  attempted(now: number): void {
    this.lastAttemptMs = now
    this.jitter = undefined
  }

  succeeded(): void {
    this.everSucceeded = true
    this.doublings = 0
    this.jitter = undefined
  }

  retryFailed(): void {
    this.doublings = Math.max(1, this.doublings)
  }

  /** The probe was not made after all. */
  unused(): void {
    this.doublings = Math.max(0, this.doublings - 1)
    this.jitter = 0
    this.dueMs = this.lastAttemptMs
  }

  /** When to look again. */
  wakeAtMs(callsPerSecond: number): number {
    return this.jitter === undefined ? this.lastAttemptMs + this.intervalMs(callsPerSecond) * LEAST : this.dueMs
  }

  /** Whether to probe now. If so, the next time is further away. */
  isDue(now: number, callsPerSecond: number, random: Random): boolean {
    this.jitter ??= LEAST + random()
    this.dueMs = this.lastAttemptMs + this.intervalMs(callsPerSecond) * this.jitter
    if (now < this.dueMs) return false
    this.doublings++
    return true
  }

  private intervalMs(callsPerSecond: number): number {
    return Math.min(MAX_MS, this.firstIntervalMs(callsPerSecond) * 2 ** this.doublings)
  }

  private firstIntervalMs(callsPerSecond: number): number {
    // Nothing is known yet: somebody has to find out.
    if (!this.everSucceeded) return MIN_MS
    return Math.max(MIN_MS, (SILENT_CALLS * 1000) / callsPerSecond)
  }
}
