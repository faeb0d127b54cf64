/**
 * Whether the server answers: it is away once nothing has been heard from it for a while since the first question that is
 * still without an answer, and back with the next answer. A failure that the server states is an answer. Imports the
 * ledger's port.
 *
 * Invariant: one timer at most, and none while every question is answered in time.
 */
import type { StoreAvailability } from '../ledger/ledger.js'

/** A restart of a server that is well takes less. */
const SILENT_MS = 5000
const SECOND_LOOK_MS = 250

export class Availability {
  private readonly listeners = new Set<(state: StoreAvailability) => void>()
  /** Of this process's own time: when the first question was asked of those that nothing was heard after. */
  private silentSinceMs: number | undefined = undefined
  private lastFailure: string | undefined = undefined
  private timer: NodeJS.Timeout | undefined = undefined
  private isAwayNow = false
  private isDoubted = false
  private isEnded = false

  get isAway(): boolean {
    return this.isAwayNow
  }

  listen(heard: (state: StoreAvailability) => void): () => void {
    this.listeners.add(heard)
    return () => void this.listeners.delete(heard)
  }

  asked(): void {
    if (this.silentSinceMs !== undefined || this.isEnded) return
    this.silentSinceMs = performance.now()
    this.timer ??= this.lookIn(SILENT_MS)
  }

  /** The connection failed, and not the server's answer. */
  failed(error: unknown): void {
    this.lastFailure = error instanceof Error && error.message !== '' ? error.message : undefined
  }

  answered(): void {
    const { silentSinceMs } = this
    this.isDoubted = false
    this.silentSinceMs = undefined
    this.lastFailure = undefined
    if (!this.isAwayNow) return
    this.isAwayNow = false
    this.tell({ isAway: false, awayMs: Math.round(performance.now() - (silentSinceMs ?? performance.now())) })
  }

  end(): void {
    this.isEnded = true
    clearTimeout(this.timer)
    this.listeners.clear()
  }

  private lookIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.look(), ms).unref()
  }

  private look(): void {
    this.timer = undefined
    if (this.silentSinceMs === undefined || this.isAwayNow || this.isEnded) return
    const leftMs = SILENT_MS - (performance.now() - this.silentSinceMs)
    if (leftMs > 0 || !this.isDoubted) {
      // The event loop may have been blocked, and an answer may be there to be read.
      this.isDoubted = leftMs <= 0
      this.timer = this.lookIn(Math.max(leftMs, SECOND_LOOK_MS))
      return
    }
    this.isAwayNow = true
    this.tell({ isAway: true, reason: this.lastFailure ?? `no answer for ${SILENT_MS / 1000} s` })
  }

  private tell(state: StoreAvailability): void {
    for (const heard of this.listeners) heard(state)
  }
}
