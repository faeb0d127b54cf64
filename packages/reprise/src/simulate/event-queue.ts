/**
 * Virtual time: events in order of their time, at equal times in the order they were scheduled.
 *
 * A calendar with a list of events for each millisecond, since a simulation has an end and its events are many and near:
 * O(1) to schedule, to move and to cancel, and a list is put in order when its time comes. Most events are time limits
 * that are cancelled: what is cancelled leaves no entry behind, so that it can be collected while it is young.
 * Imports nothing.
 */

export abstract class SimulatedEvent {
  /** When it fires, if it is scheduled. */
  declare dueMs: number
  declare scheduled: boolean
  /** The neighbours in the list of its millisecond; the one before the first is the last. For the queue alone. */
  declare before: SimulatedEvent | undefined
  declare after: SimulatedEvent | undefined

  /** Assigned, not declared with values: V8 takes several times as long to define the fields of a base class. */
  constructor() {
    this.dueMs = 0
    this.scheduled = false
    this.before = undefined
    this.after = undefined
  }

  abstract fire(): void
}

/** Up to so many events, it is quicker to put them in order by hand. */
const FEW = 16

export class EventQueue {
  now = 0
  private readonly endMs: number
  /** The first event of each millisecond after the current one. */
  private readonly firsts: (SimulatedEvent | undefined)[]
  /** The millisecond that runs; none before the start. */
  private current = -1
  /** Its events, in order. */
  private readonly running: SimulatedEvent[] = []
  /** Of these, the one that fires. */
  private position = 0

  constructor(endMs: number) {
    this.endMs = endMs
    this.firsts = Array.from({ length: Math.ceil(endMs) }, () => undefined)
  }

  /** An event is scheduled at most once at a time: scheduling it again moves it. Events beyond the end are forgotten. */
  schedule(event: SimulatedEvent, atMs: number): void {
    this.cancel(event)
    event.dueMs = Math.max(atMs, this.now)
    event.scheduled = event.dueMs < this.endMs
    if (!event.scheduled) return
    const ms = Math.floor(event.dueMs)
    if (ms === this.current) this.insert(event, this.running.length, this.position + 1)
    else this.append(event, ms)
  }

  cancel(event: SimulatedEvent): void {
    if (!event.scheduled) return
    event.scheduled = false
    const ms = Math.floor(event.dueMs)
    if (ms === this.current) this.running.splice(this.running.indexOf(event, this.position + 1), 1)
    else this.unlink(event, ms)
  }

  run(): void {
    for (this.current = 0; this.current < this.endMs; this.current++) {
      const first = this.firsts[this.current]
      if (first !== undefined) this.runFrom(first)
    }
    this.now = this.endMs
  }

  private runFrom(first: SimulatedEvent): void {
    const { running } = this
    this.firsts[this.current] = undefined
    running.length = 0
    for (let event: SimulatedEvent | undefined = first; event !== undefined; ) {
      const { after }: SimulatedEvent = event
      event.before = event.after = undefined
      running.push(event)
      event = after
    }
    if (running.length > FEW) running.sort((a, b) => a.dueMs - b.dueMs)
    else for (let place = 1; place < running.length; place++) this.insert(running[place] as SimulatedEvent, place, 0)
    // Filled up while it runs, in order.
    for (this.position = 0; this.position < running.length; this.position++) {
      const event = running[this.position] as SimulatedEvent
      event.scheduled = false
      this.now = Math.max(this.now, event.dueMs)
      event.fire()
    }
  }

  /** Puts an event among those that run: before this place, behind all that are not later, not before `least`. */
  private insert(event: SimulatedEvent, end: number, least: number): void {
    const { running } = this
    let place = end
    for (; place > least && (running[place - 1] as SimulatedEvent).dueMs > event.dueMs; place--) {
      running[place] = running[place - 1] as SimulatedEvent
    }
    running[place] = event
  }

  private append(event: SimulatedEvent, ms: number): void {
    const first = this.firsts[ms]
    if (first === undefined) {
      this.firsts[ms] = event
      event.before = event
      return
    }
    const last = first.before as SimulatedEvent
    last.after = event
    event.before = last
    first.before = event
  }

  private unlink(event: SimulatedEvent, ms: number): void {
    const { before, after } = event
    const first = this.firsts[ms] as SimulatedEvent
    if (event === first) {
      this.firsts[ms] = after
      if (after !== undefined) after.before = before
    } else {
      ;(before as SimulatedEvent).after = after
      ;(after ?? first).before = before
    }
    event.before = event.after = undefined
  }
}
