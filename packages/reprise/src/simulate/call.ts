/**
 * A call as the simulator drives it: `admit` before an attempt, `decide` after it, and waits in virtual time. It is the
 * loop of this driver; what is decided is decided in core. Imports core and the simulator's parts.
 */
import type { Breaker } from '../core/breaker.js'
import type { Decision } from '../core/budget.js'
import { type Admission, admit, advance, decide, type LaunchGates, type RetryGates } from '../core/decide.js'
import { DEFAULT_MAX_PARK_MS, mayPeek, PARK_EXPIRED, unusedOutcome } from '../core/gate.js'
import { endsAttempt, nextHedgeAtMs } from '../core/hedge.js'
import { initialState, type RetryState } from '../core/state.js'
import type { AttemptKind } from '../core/words.js'
import { SimulatedAttempt } from './attempt.js'
import type { Client } from './client.js'
import { type EventQueue, SimulatedEvent } from './event-queue.js'
import type { Part } from './part.js'

const FAILED = { type: 'failure', retryable: true, retryAfterMs: undefined } as const

/** As an event it is the end of its wait, or of its time in line. */
export class SimulatedCall extends SimulatedEvent {
  readonly client: Client
  readonly part: Part
  readonly events: EventQueue
  readonly startMs: number
  readonly deadlineAtMs: number | null
  private readonly state: RetryState
  private readonly running: SimulatedAttempt[] = []
  private hedges: HedgeTimer | undefined = undefined
  private parked: SimulatedAttempt | undefined = undefined
  private leaveLine: (() => void) | undefined = undefined
  private over = false

  constructor(client: Client, part: Part) {
    super()
    this.client = client
    this.part = part
    this.events = client.stage.events
    this.startMs = this.events.now
    const { timeoutMs } = client.policy
    this.deadlineAtMs = timeoutMs === undefined ? null : this.startMs + timeoutMs
    this.state = initialState(this.deadlineAtMs)
  }

  begin(): void {
    this.client.tally.callBegan(this.startMs, this.part.name)
    this.launch()
  }

  /** The wait is over, or the time in line. */
  fire(): void {
    const { parked } = this
    if (parked === undefined) {
      this.launch()
      return
    }
    this.leaveLine?.()
    this.granted(parked, PARK_EXPIRED)
  }

  // ── before an attempt ──────────────────────────────────────────────────────────────────────────

  private launch(): void {
    this.enter(this.next('retry', this.state.failures + 1), undefined)
  }

  launchHedge(): void {
    if (this.over || this.client.breaker?.closed === false) return
    this.enter(this.next('hedge', this.state.failures + 1), undefined)
  }

  private next(kind: AttemptKind, attempt: number): SimulatedAttempt {
    return new SimulatedAttempt(this, attempt, this.state.launched + 1, kind)
  }

  private enter(attempt: SimulatedAttempt, grant: Decision | undefined): void {
    const { breaker } = this.client
    const gates: LaunchGates = new Gates(this.events, breaker, attempt, grant)
    this.state.launched = attempt.launch
    const admission = admit(this.state, gates)
    if (admission.type === 'start') this.start(attempt, admission.epoch)
    else this.notStarted(attempt, admission, grant)
  }

  private start(attempt: SimulatedAttempt, epoch: number): void {
    const { policy, latency, tally } = this.client
    attempt.epoch = epoch
    this.running.push(attempt)
    tally.attemptBegan(this.events.now, attempt, this.part.name)
    attempt.send()
    if (policy.hedge === undefined || attempt.kind === 'hedge') return
    const delayMs = policy.hedge.delayMs ?? latency?.percentile(policy.hedge.percentile as number)
    this.hedges = new HedgeTimer(this, delayMs)
  }

  private notStarted(
    attempt: SimulatedAttempt,
    admission: Exclude<Admission, { type: 'start' }>,
    grant: Decision | undefined,
  ): void {
    if (grant !== undefined) attempt.line?.giveBack(grant, attempt, unusedOutcome(this.events.now))
    if (admission.type === 'park') this.park(attempt)
    else if (attempt.kind === 'retry') this.finish(false)
  }

  // ── the line ───────────────────────────────────────────────────────────────────────────────────

  private park(attempt: SimulatedAttempt): void {
    const line = attempt.line
    if (line === undefined) return
    const limitMs = this.events.now + (line.budget.maxParkMs ?? DEFAULT_MAX_PARK_MS)
    this.parked = attempt
    this.events.schedule(this, Math.min(limitMs, this.deadlineAtMs ?? Infinity))
    this.leaveLine = line.join(attempt, (grant) => {
      // Whoever woke us is in the middle of something: the attempt starts after that.
      this.events.cancel(this)
      this.events.schedule(new Granted(this, attempt, grant), this.events.now)
    })
  }

  granted(attempt: SimulatedAttempt, grant: Decision): void {
    this.parked = undefined
    this.leaveLine = undefined
    attempt.decision = grant
    if (grant.allowed) this.enter(attempt, grant)
    else this.finish(false)
  }

  // ── after an attempt ───────────────────────────────────────────────────────────────────────────

  answered(attempt: SimulatedAttempt, ok: boolean): void {
    this.leaveRunning(attempt)
    const { latency, tally } = this.client
    attempt.end(ok ? 'success' : 'failure', ok)
    tally.attemptEnded(attempt, ok)
    if (!ok) {
      this.goOn()
      return
    }
    latency?.add(this.events.now - attempt.startMs)
    this.finish(true)
  }

  timedOut(attempt: SimulatedAttempt): void {
    this.leaveRunning(attempt)
    attempt.end('timeout', false)
    this.client.tally.attemptEnded(attempt, false)
    this.goOn()
  }

  private leaveRunning(attempt: SimulatedAttempt): void {
    this.running.splice(this.running.indexOf(attempt), 1)
  }

  private goOn(): void {
    const { policy, breaker, draw } = this.client
    if (policy.hedge !== undefined && !endsAttempt(policy.hedge, 'retryable', this.running.length)) return
    this.endHedging()
    const verdict = decide(policy, this.state, FAILED, this.events.now, draw, this.retryGates(breaker))
    if (verdict.type !== 'retry') {
      this.finish(false)
      return
    }
    advance(this.state, verdict)
    this.events.schedule(this, verdict.dueAtMs)
  }

  private retryGates(breaker: Breaker | undefined): RetryGates {
    const budget = this.client.budgetOf(this.client.policy.budget)
    if (!mayPeek(budget)) return { breaker }
    const next = this.next('retry', this.state.failures + 2)
    return { breaker, peek: (dueAtMs) => budget.peek(next.requestAt(dueAtMs)) }
  }

  private endHedging(): void {
    if (this.hedges !== undefined) this.events.cancel(this.hedges)
    this.hedges = undefined
  }

  private finish(ok: boolean): void {
    this.over = true
    this.endHedging()
    for (const loser of this.running) {
      loser.end('aborted', false)
      this.client.tally.attemptEnded(loser, false)
    }
    this.running.length = 0
    this.client.tally.callEnded(this.startMs, this.events.now, ok, this.part.name)
  }
}

/** What `admit` asks. */
class Gates implements LaunchGates {
  readonly aborted = false
  readonly breaker: Breaker | undefined
  private readonly events: EventQueue
  private readonly attempt: SimulatedAttempt
  private readonly grant: Decision | undefined

  constructor(
    events: EventQueue,
    breaker: Breaker | undefined,
    attempt: SimulatedAttempt,
    grant: Decision | undefined,
  ) {
    this.events = events
    this.breaker = breaker
    this.attempt = attempt
    this.grant = grant
  }

  get now(): number {
    return this.events.now
  }

  get parks(): boolean {
    return this.attempt.kind === 'retry' && this.attempt.line?.budget.park !== undefined
  }

  ask(): Decision {
    return this.grant ?? this.attempt.ask()
  }
}

class Granted extends SimulatedEvent {
  private readonly call: SimulatedCall
  private readonly attempt: SimulatedAttempt
  private readonly grant: Decision

  constructor(call: SimulatedCall, attempt: SimulatedAttempt, grant: Decision) {
    super()
    this.call = call
    this.attempt = attempt
    this.grant = grant
  }

  fire(): void {
    this.call.granted(this.attempt, this.grant)
  }
}

class HedgeTimer extends SimulatedEvent {
  private readonly call: SimulatedCall
  private readonly startMs: number
  private readonly delayMs: number | undefined
  private asked = 0

  constructor(call: SimulatedCall, delayMs: number | undefined) {
    super()
    this.call = call
    this.startMs = call.events.now
    this.delayMs = delayMs
    this.scheduleNext()
  }

  fire(): void {
    this.asked++
    this.call.launchHedge()
    this.scheduleNext()
  }

  private scheduleNext(): void {
    const { hedge } = this.call.client.policy
    const at = hedge && nextHedgeAtMs(hedge, this.startMs, this.asked, this.delayMs)
    if (at !== undefined) this.call.events.schedule(this, at)
  }
}
