/**
 * Tasks that somebody here waits for and another process may end: looked at now and then, only if somebody else has
 * written since, a few at a time so that the event loop turns between them, and the longer a look takes the less often.
 * Imports the ledger's port and its own layer.
 */
import type { Ledger } from '../ledger/ledger.js'
import type { TaskKey } from '../ledger/records.js'
import { TaskRefusedError } from './errors.js'
import { isOver, type Waiters } from './waiters.js'

const WATCH_MS = 250
/** Of all time, so much may be spent with looking. */
const SHARE = 0.1
/** A store that is slow to answer is not looked at less often than this. */
const MOST_MS = 2000
const AT_ONCE = 50

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
  private ended = false
  private mark: number | undefined = undefined

  constructor(parts: WatchingParts) {
    this.parts = parts
  }

  /** Somebody waits, perhaps for something that ended before. Keeps the process alive as long as that is so. */
  begin(): void {
    this.mark = undefined
    if (this.timer === undefined && !this.looking) this.schedule(WATCH_MS)
  }

  end(): void {
    this.ended = true
    clearTimeout(this.timer)
  }

  private schedule(delayMs: number): void {
    if (!this.ended) this.timer = setTimeout(() => void this.look().catch(this.parts.onFailure), delayMs)
  }

  private async look(): Promise<void> {
    const startMs = performance.now()
    this.timer = undefined
    this.looking = true
    try {
      await this.lookIfChanged()
    } catch (error) {
      // What was not looked at yet is looked at next time.
      this.mark = undefined
      // What the ledger says to one who looks while it is being closed is no news.
      if (!this.ended) throw error
    } finally {
      this.looking = false
      const pauseMs = Math.min(MOST_MS, Math.max(WATCH_MS, (performance.now() - startMs) / SHARE))
      if (!this.parts.waiters.isEmpty) this.schedule(pauseMs)
    }
  }

  private async lookIfChanged(): Promise<void> {
    const { ledger, waiters, isHere } = this.parts
    const mark = await ledger.changeMark()
    if (mark === this.mark || this.ended) return
    // Before the look: who comes to wait meanwhile may have been missed.
    this.mark = mark
    const keys = waiters.keys().filter((key) => !isHere(key))
    for (let first = 0; first < keys.length && !this.ended; first += AT_ONCE) {
      await Promise.all(keys.slice(first, first + AT_ONCE).map((key) => this.lookAt(key)))
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  private async lookAt(key: TaskKey): Promise<void> {
    const { ledger, waiters } = this.parts
    const task = await ledger.get(key)
    if (task === undefined) waiters.gone(key, forgotten(key))
    else if (isOver(task)) waiters.settled(task)
  }
}

function forgotten({ scope, id }: TaskKey): TaskRefusedError {
  return new TaskRefusedError(
    'not_found',
    `Task ${scope}/${id} has ended, and its record was removed: its result is not known any more`,
  )
}
