/**
 * Tasks that callers wait for and another process may end: they are looked at now and then. A few at a time, so that the
 * event loop turns between them, and the more there are the less often. Imports the ledger's port and its own layer.
 */
import type { Ledger } from '../ledger/ledger.js'
import type { TaskKey } from '../ledger/records.js'
import { isOver, type Waiters } from './waiters.js'

export interface WatchParts {
  readonly ledger: Ledger
  readonly waiters: Waiters
  /** Whether this process will hear of its end anyway. */
  readonly isHere: (key: TaskKey) => boolean
  readonly onFailure: (error: unknown) => void
}

const WATCH_MS = 250
/** Of all time, so much may be spent with looking. */
const SHARE = 0.1
const AT_ONCE = 50

export class Watch {
  private readonly parts: WatchParts
  private timer: NodeJS.Timeout | undefined = undefined
  private looking = false
  private stopped = false

  constructor(parts: WatchParts) {
    this.parts = parts
  }

  /** Somebody waits. */
  begin(): void {
    if (this.timer === undefined && !this.looking) this.schedule(WATCH_MS)
  }

  stop(): void {
    this.stopped = true
    clearTimeout(this.timer)
  }

  private schedule(delayMs: number): void {
    if (this.stopped) return
    this.timer = setTimeout(() => void this.look().catch(this.parts.onFailure), delayMs)
  }

  private async look(): Promise<void> {
    const { waiters, isHere } = this.parts
    const startMs = performance.now()
    this.timer = undefined
    this.looking = true
    try {
      const keys = waiters.keys().filter((key) => !isHere(key))
      for (let first = 0; first < keys.length && !this.stopped; first += AT_ONCE) {
        await this.lookAt(keys.slice(first, first + AT_ONCE))
        await new Promise((resolve) => setImmediate(resolve))
      }
    } finally {
      this.looking = false
    }
    if (waiters.keys().length > 0) this.schedule(Math.max(WATCH_MS, (performance.now() - startMs) / SHARE))
  }

  private async lookAt(keys: readonly TaskKey[]): Promise<void> {
    const { ledger, waiters } = this.parts
    for (const key of keys) {
      const task = await ledger.get(key)
      if (task !== undefined && isOver(task)) waiters.settled(task)
    }
  }
}
