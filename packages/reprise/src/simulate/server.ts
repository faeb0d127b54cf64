/**
 * The server: workers, a queue with an end, and no idea who has given up. A request that was accepted is served, though
 * its client may have stopped waiting long ago: that is what makes a storm. Imports the simulator's parts.
 */
import type { Random } from '../core/time.js'
import { drawLength } from './chance.js'
import { type EventQueue, SimulatedEvent } from './event-queue.js'
import { type Health, healthAt, turningPoints } from './fault.js'
import type { Scenario } from './scenario.js'

/** Who asked, and hears the answer. */
export interface Requester {
  answered(ok: boolean): void
}

/** There and back on the wire, which is all that a refusal takes. */
const ROUND_TRIP_MS = 1

export class Server {
  private readonly events: EventQueue
  private readonly scenario: Scenario
  private readonly random: Random
  /** Waiting requests, from `head` on: taking the first is O(1). */
  private waiting: Request[] = []
  private head = 0
  private busy = 0
  private health: Health

  constructor(events: EventQueue, scenario: Scenario, random: Random) {
    this.events = events
    this.scenario = scenario
    this.random = random
    this.health = healthAt(scenario, 0)
    for (const at of turningPoints(scenario)) events.schedule(new Turn(this), at)
  }

  submit(requester: Requester): void {
    const request = new Request(this, requester)
    const isFull = this.waiting.length - this.head >= this.scenario.queueLength && !this.hasFreeWorker()
    if (this.health.refuses || isFull) {
      request.ok = false
      request.refused = true
      this.events.schedule(request, this.events.now + ROUND_TRIP_MS)
    } else {
      this.waiting.push(request)
      this.startNext()
    }
  }

  turn(): void {
    this.health = healthAt(this.scenario, this.events.now)
    this.startNext()
  }

  finished(request: Request): void {
    if (!request.refused) {
      if (this.health.hungUntilMs > this.events.now) {
        // It hangs with the server, and answers when the server does.
        this.events.schedule(request, this.health.hungUntilMs)
        return
      }
      this.busy--
    }
    request.requester.answered(request.ok)
    this.startNext()
  }

  private hasFreeWorker(): boolean {
    return this.busy < this.health.workers && this.health.hungUntilMs <= this.events.now
  }

  private startNext(): void {
    while (this.head < this.waiting.length && this.hasFreeWorker()) {
      const request = this.waiting[this.head++] as Request
      if (this.head > 1000 && this.head * 2 > this.waiting.length) {
        this.waiting = this.waiting.slice(this.head)
        this.head = 0
      }
      this.busy++
      request.ok = this.health.errorRate === 0 || this.random() >= this.health.errorRate
      const lengthMs = drawLength(this.scenario.serviceShape, this.scenario.serviceMs, this.random)
      this.events.schedule(request, this.events.now + lengthMs * this.health.slowness)
    }
  }
}

class Turn extends SimulatedEvent {
  private readonly server: Server

  constructor(server: Server) {
    super()
    this.server = server
  }

  fire(): void {
    this.server.turn()
  }
}

class Request extends SimulatedEvent {
  readonly requester: Requester
  ok = true
  refused = false
  private readonly server: Server

  constructor(server: Server, requester: Requester) {
    super()
    this.server = server
    this.requester = requester
  }

  fire(): void {
    this.server.finished(this)
  }
}
