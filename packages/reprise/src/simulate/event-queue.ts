/**
 * Virtual time: events in order of their time, at equal times in the order they were scheduled.
 *
 * A calendar of one bucket per millisecond, since a simulation has an end and its events are many and near: O(1) to
 * schedule, and a bucket is put in order when its time comes. An event is scheduled at most once at a time; scheduling
 * it again moves it. Imports nothing.
 */

export abstract class SimulatedEvent {
  /** When it fires, if it is scheduled. */
  dueMs = 0
  scheduled = false
  abstract fire(): void
}

export class EventQueue {
  now = 0
  private readonly buckets: (SimulatedEvent[] | undefined)[] = []
  private readonly endMs: number
  private current = 0
  /** Of the current bucket, how many have been looked at. */
  private position = 0

  constructor(endMs: number) {
    this.endMs = endMs
  }

  /** Events beyond the end are forgotten. */
  schedule(event: SimulatedEvent, atMs: number): void {
    const dueMs = Math.max(atMs, this.now)
    if (event.scheduled && Math.floor(event.dueMs) === this.current) this.forget(event)
    event.dueMs = dueMs
    event.scheduled = dueMs < this.endMs
    if (!event.scheduled) return
    const index = Math.floor(dueMs)
    const bucket = (this.buckets[index] ??= [])
    bucket.push(event)
    if (index === this.current) this.sink(bucket)
  }

  cancel(event: SimulatedEvent): void {
    event.scheduled = false
  }

  run(): void {
    for (; this.current < this.endMs; this.current++) this.runBucket(this.buckets[this.current])
    this.now = this.endMs
  }

  private runBucket(bucket: SimulatedEvent[] | undefined): void {
    if (bucket === undefined) return
    // Filled up while it runs, in order.
    bucket.sort((a, b) => a.dueMs - b.dueMs)
    for (this.position = 0; this.position < bucket.length; this.position++) {
      const event = bucket[this.position] as SimulatedEvent
      // What was cancelled, or moved to another time, left an entry behind.
      if (!event.scheduled || Math.floor(event.dueMs) !== this.current) continue
      event.scheduled = false
      this.now = Math.max(this.now, event.dueMs)
      event.fire()
    }
    this.buckets[this.current] = undefined
  }

  /** In the running bucket an old entry would fire before its new time. */
  private forget(event: SimulatedEvent): void {
    const bucket = this.buckets[this.current] as SimulatedEvent[]
    const place = bucket.indexOf(event, this.position + 1)
    if (place > this.position) bucket.splice(place, 1)
  }

  /** Moves the last event of the running bucket to its place behind all that are not later. */
  private sink(bucket: SimulatedEvent[]): void {
    const event = bucket[bucket.length - 1] as SimulatedEvent
    let place = bucket.length - 1
    while (place > this.position + 1 && (bucket[place - 1] as SimulatedEvent).dueMs > event.dueMs) {
      bucket[place] = bucket[place - 1] as SimulatedEvent
      place--
    }
    bucket[place] = event
  }
}
