/**
 * Tasks that somebody here waits for and another process may end: looked at now and then, and only if somebody else has
 * written since. Imports the ledger's port and its own layer.
 */
import type { Ledger } from '../ledger/ledger.js'
import type { TaskKey } from '../ledger/records.js'
import { isOver, type Waiters } from './waiters.js'

const WATCH_MS = 250

export interface WatchingParts {
  readonly ledger: Ledger
  readonly waiters: Waiters
  /** Whether this process will hear of its end by itself. */
  readonly isHere: (key: TaskKey) => boolean
  readonly onFailure: (error: unknown) => void
}

export class Watching {
  private readonly parts: WatchingParts
  private timer: NodeJS.Timeout | undefined = undefined
  private looking = false
  private mark: number | undefined = undefined

  constructor(parts: WatchingParts) {
    this.parts = parts
  }

  /** Somebody waits. Keeps the process alive as long as that is so. */
  begin(): void {
    this.timer ??= setInterval(() => {
      if (this.parts.waiters.isEmpty) this.end()
      else if (!this.looking) void this.look().catch(this.parts.onFailure)
    }, WATCH_MS)
  }

  end(): void {
    clearInterval(this.timer)
    this.timer = undefined
    this.mark = undefined
  }

  private async look(): Promise<void> {
    const { ledger, waiters, isHere } = this.parts
    this.looking = true
    try {
      const mark = await ledger.changeMark()
      if (mark === this.mark) return
      for (const key of waiters.keys()) {
        if (isHere(key)) continue
        const task = await ledger.get(key)
        if (task !== undefined && isOver(task)) waiters.settled(task)
      }
      // Not before: what failed is looked at again.
      this.mark = mark
    } finally {
      this.looking = false
    }
  }
}
