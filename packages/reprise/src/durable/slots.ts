/**
 * How many attempts run in this process at a time. A caller that finds no free slot is called when there is one; attempts
 * that have a grant already come first. Imports nothing.
 *
 * Invariant: at most `most` attempts run, and of those that have ended at most `most` have left their slot before their
 * outcome is written. After a kill no more than both can run again.
 */

export class Slots {
  private readonly most: number
  private readonly onRoom: () => void
  private used = 0
  private leaving = 0
  private closed = false
  private starved = false
  private readonly queue = new Set<() => void>()

  constructor(most: number, onRoom: () => void) {
    this.most = most
    this.onRoom = onRoom
  }

  get free(): number {
    return this.closed ? 0 : Math.max(0, this.most - this.used)
  }

  /** Reserves `count` slots for attempts whose intent is being written; false if fewer are free. */
  take(count = 1): boolean {
    if (this.free < count) return false
    this.used += count
    return true
  }

  /** An attempt runs. What was held for it is given back by whoever held it. */
  occupy(): void {
    this.used++
  }

  give(count = 1): void {
    this.used -= count
    for (const go of this.queue) {
      if (this.free === 0) return
      this.queue.delete(go)
      go()
    }
    if (!this.starved || this.free === 0) return
    this.starved = false
    this.onRoom()
  }

  /**
   * An attempt has ended, and its outcome is being written: its slot is free. False if very many outcomes wait for a store
   * that is slow: then the slot is given back once this one is written.
   */
  leave(): boolean {
    if (this.leaving >= this.most) return false
    this.leaving++
    this.give()
    return true
  }

  /** Attempts that have left their slot, and whose outcome is not written yet. */
  get unwritten(): number {
    return this.leaving
  }

  /** The outcome of an attempt that has left its slot is written, or is given up. */
  written(): void {
    this.leaving--
  }

  /** Something is due that there was no room for. */
  starve(): void {
    this.starved = true
  }

  /** Calls `go` as soon as there is room; the answer takes that back. */
  whenFree(go: () => void): () => void {
    if (this.free > 0) go()
    else this.queue.add(go)
    return () => this.queue.delete(go)
  }

  /** No room for anything from now on. */
  close(): void {
    this.closed = true
    this.queue.clear()
  }
}
