/**
 * What only some calls need beside their retry state: a caller's signal, a deadline, several attempts at once, a place
 * in line, an inspection or an observer. As a timer it is the deadline of the whole call. Imports the runtime's types.
 */
import type { Timer } from '../core/time.js'
import type { Attempt } from './attempt.js'
import type { Call } from './call.js'
import type { Inspector } from './inspection.js'
import type { Parking } from './parking.js'
import type { Race } from './race.js'

import { type AbortListener, listenTo, stopListening } from './signal-hub.js'
import type { WheelLinks } from './timer-wheel.js'

/** One count for the process: observers may be shared between executors. */
let callIds = 0

function nextCallId(): number {
  return ++callIds
}

export class Session implements Timer, WheelLinks, AbortListener {
  wheelNext = undefined
  wheelPrev = undefined
  wheelDue = 0
  readonly signal: AbortSignal | undefined
  /** The promise resolves to an inspection instead of settling as the call does. */
  readonly inspector: Inspector | null
  readonly callId: number
  readonly startedMs: number
  readonly deadlineAtMs: number | null
  readonly running: Attempt[] = []
  race: Race | null = null
  parking: Parking | null = null
  private readonly call: Call
  /** The call begins with it. */
  private readonly isNew: boolean

  /**
   * `startedMs` is given by a call that has begun before it needed a session, and `begunMs`, what its deadline counts from,
   * if that is not the same.
   */
  constructor(
    call: Call,
    signal: AbortSignal | undefined,
    inspector: Inspector | null,
    startedMs?: number,
    begunMs?: number,
  ) {
    const { environment, policy } = call.plan
    this.call = call
    this.signal = signal
    this.inspector = inspector
    this.callId = environment.observed ? nextCallId() : 0
    this.isNew = startedMs === undefined
    this.startedMs = startedMs ?? environment.stretchMs()
    this.deadlineAtMs = policy.timeoutMs === undefined ? null : (begunMs ?? this.startedMs) + policy.timeoutMs
  }

  open(): void {
    if (this.signal !== undefined) listenTo(this.signal, this)
    if (this.deadlineAtMs === null) return
    const { environment, policy } = this.call.plan
    // What is counted from the turn costs next to nothing if the call ends within it.
    if (this.isNew && environment.countsFromTurn) environment.scheduleIn(this, policy.timeoutMs as number)
    else environment.schedule(this, this.deadlineAtMs)
  }

  /** Leaves no timer, no listener and no place in line. */
  close(): void {
    if (this.signal !== undefined) stopListening(this.signal, this)
    if (this.deadlineAtMs !== null) this.call.plan.environment.cancel(this)
    this.race?.stop()
    this.parking?.leave()
  }

  /** The deadline of the whole call has come. */
  fire(): void {
    if (this.parking === null || this.parking.over) this.call.deadlineCame()
    else this.parking.fire()
  }

  onAbort(reason: unknown): void {
    this.call.abortedBy(reason)
  }

  ended(attempt: Attempt): void {
    const { running } = this
    const index = running.indexOf(attempt)
    // Most often it is the only one, and `splice` would make a list of it.
    if (index === running.length - 1) running.pop()
    else if (index >= 0) running.splice(index, 1)
  }
}
