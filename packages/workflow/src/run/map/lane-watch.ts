/**
 * Waits until the items of a lane have ended, the map was stopped, or the run is. Imports the library and its own layer.
 *
 * Ends of items in this process are heard at once; those of other processes, and changes by hand, are found by a poll.
 * The ledger is asked when a lane may be over and at each poll, not at each end: items may end thousands of times a second.
 */
import type { Ledger } from 'reprise/durable'
import type { MapErrorPolicy } from '../../plan/map-plan.js'
import { openIn, openInQueue, readClasses, runningItems } from './map-counts.js'
import { countHalt, halt, isShareOpen, readLanes, thresholdHalt } from './map-halt.js'

const POLL_MS = 1000
/** After a failure the map may have to stop, or was stopped: it is looked at at once, and then at most this often. */
const BETWEEN_LOOKS_MS = 50

/** A lane while it is served. */
export interface WatchedLane {
  readonly queue: string
  /** Items of lost processes are taken over. */
  readonly lookForLost: () => void
  readonly lookAtWaiting: () => Promise<void>
}

/**
 * Where nothing has ended for so many looks, items may wait with a policy that no process has any more: an attempt of an
 * agent was in flight when the policy was changed.
 */
const LOOKS_BETWEEN_SURVEYS = 10

export class LaneWatch {
  private readonly ledger: Ledger
  private readonly mapRun: string
  private readonly errors: MapErrorPolicy
  private readonly signal: AbortSignal
  /** Tasks that have not ended, as far as this process knows: it may take too many for ended, never too few. */
  private left = 0
  private wake: () => void = () => undefined
  /** Something has happened since the last look that may stop the map. */
  private hasNews = false
  private lookedAtMs = -Infinity
  private timer: NodeJS.Timeout | undefined = undefined
  /** Every end is looked at: too few items have ended to stop for the share of failures. */
  private isShareOpen: boolean

  constructor(ledger: Ledger, mapRun: string, errors: MapErrorPolicy, signal: AbortSignal) {
    this.ledger = ledger
    this.mapRun = mapRun
    this.errors = errors
    this.signal = signal
    this.isShareOpen = errors.failureThreshold !== null
  }

  get isStopped(): boolean {
    return this.signal.aborted
  }

  /** An item has ended here, or waits. */
  itemRested(isFailed: boolean): void {
    this.left--
    if (this.left <= 0) return this.wake()
    if (!isFailed && !this.isShareOpen) return
    this.hasNews = true
    this.wakeForNews()
  }

  private wakeForNews(): void {
    // While fewer items than the share needs have ended, there are few ends to look at. Short items may all have ended
    // before a look that waits.
    const waitMs = this.isShareOpen ? 0 : this.lookedAtMs + BETWEEN_LOOKS_MS - performance.now()
    this.timer ??= setTimeout(
      () => {
        this.timer = undefined
        this.wake()
      },
      Math.max(0, waitMs),
    )
  }

  /** Resolves when nothing of the lane goes on any more: ended, stopped, or the run is stopped. */
  async untilOver(tally: string, lane: WatchedLane): Promise<void> {
    let [open, quietLooks] = [Infinity, 0]
    for (;;) {
      if (this.isStopped || (await this.isOver(tally, lane.queue))) return
      lane.lookForLost()
      quietLooks = this.left === open ? quietLooks + 1 : 0
      open = this.left
      if (quietLooks % LOOKS_BETWEEN_SURVEYS === LOOKS_BETWEEN_SURVEYS - 1) await lane.lookAtWaiting()
      await this.next()
    }
  }

  /** Resolves when all tasks of the tally have ended, or the run is stopped. */
  async untilEmpty(tally: string): Promise<void> {
    while (!this.isStopped && (await this.look(tally)) > 0) await this.next()
  }

  /** Resolves when no task of the queue is open any more, or the run is stopped. No limit of the map stops them. */
  async untilQueueEmpty({ queue, lookForLost }: Pick<WatchedLane, 'queue' | 'lookForLost'>): Promise<void> {
    while (!this.isStopped) {
      this.left = await openInQueue(this.ledger, queue)
      if (this.left === 0) return
      lookForLost()
      await this.next()
    }
  }

  private async isOver(tally: string, queue: string): Promise<boolean> {
    this.hasNews = false
    this.lookedAtMs = performance.now()
    const open = await this.look(tally)
    const { items, sample } = await readLanes(this.ledger, this.mapRun)
    const classes = await readClasses(this.ledger, this.mapRun)
    // The last items too may be what makes the share of failures too large: then nothing comes after the map.
    const reason = thresholdHalt(classes, this.errors) ?? countHalt(items)
    this.isShareOpen = this.errors.failureThreshold !== null && isShareOpen(classes)
    if (reason !== undefined) await halt(this.ledger, this.mapRun, reason)
    if (open === 0) return true
    if (reason === undefined && items.halt === undefined && sample.halt === undefined) return false
    if (this.errors.halt === 'now') return true
    return (await runningItems(this.ledger, [queue])).length === 0
  }

  /** How many tasks of the tally have not ended. */
  private async look(tally: string): Promise<number> {
    this.left = 0
    const open = await openIn(this.ledger, tally)
    // Those that ended meanwhile have been subtracted: the tally may count them as open.
    this.left += open
    return open
  }

  private next(): Promise<void> {
    // The last of them may have ended while the ledger was asked.
    if (this.left <= 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.wake(), POLL_MS)
      this.wake = () => {
        clearTimeout(timer)
        this.signal.removeEventListener('abort', this.wake)
        this.wake = () => undefined
        resolve()
      }
      this.signal.addEventListener('abort', this.wake, { once: true })
      if (this.signal.aborted) this.wake()
      else if (this.hasNews) this.wakeForNews()
    })
  }
}
