/**
 * One attempt of a simulated call: what its budget was told, and the two ends it may have, an answer or a time limit.
 * Imports core and the simulator's parts.
 */
import type { AttemptOutcome, BudgetRequest, Decision } from '../core/budget.js'
import { NO_BUDGET, unusedOutcome } from '../core/gate.js'
import type { BudgetRef } from '../core/policy.js'
import type { AttemptKind } from '../core/words.js'
import type { SimulatedCall } from './call.js'
import { SimulatedEvent } from './event-queue.js'
import type { Line } from './line.js'
import type { Requester } from './server.js'

/** As an event it is the time limit of the attempt. */
export class SimulatedAttempt extends SimulatedEvent implements Requester, BudgetRequest {
  readonly call: SimulatedCall
  readonly key: string
  readonly attempt: number
  readonly launch: number
  readonly kind: AttemptKind
  readonly ref: BudgetRef
  readonly line: Line | undefined
  readonly deadlineMs: number
  readonly attemptTimeoutMs: number | undefined
  decision: Decision = NO_BUDGET
  /** The budget that a hedge asks beside its own, and what that gave. */
  private readonly sharedRef: BudgetRef | undefined
  private shared: Shared | undefined = undefined
  epoch = 0
  startMs = 0
  private over = false
  /** The outcome of an attempt whose operation goes on though its caller has given it up. */
  private abandoned: AttemptOutcome | undefined = undefined

  constructor(call: SimulatedCall, attempt: number, launch: number, kind: AttemptKind) {
    super()
    const [ref, shared] = call.client.refs[kind]
    this.call = call
    this.key = call.client.stage.scenario.keyed ? call.part.name : ''
    this.attempt = attempt
    this.launch = launch
    this.kind = kind
    this.ref = ref ?? NO_REF
    this.sharedRef = shared
    this.line = call.client.lineOf(ref)
    this.deadlineMs = call.deadlineAtMs ?? Infinity
    this.attemptTimeoutMs = call.client.policy.attemptTimeoutMs
  }

  get now(): number {
    return this.call.events.now
  }

  /** What a budget is told at this time. */
  requestAt(now: number, ref = this.ref): BudgetRequest {
    const { key, attempt, launch, kind, deadlineMs, attemptTimeoutMs } = this
    return { key, attempt, launch, kind, ref, now, deadlineMs, attemptTimeoutMs }
  }

  /** Asks the budget, or both that must allow a hedge. */
  ask(): Decision {
    this.decision = this.line?.budget.allowAttempt(this) ?? NO_BUDGET
    const line = this.call.client.lineOf(this.sharedRef)
    if (line === undefined || !this.decision.allowed) return this.decision
    const request = this.requestAt(this.now, this.sharedRef)
    const decision = line.budget.allowAttempt(request)
    if (decision.allowed) this.shared = { line, request, decision }
    else this.line?.giveBack(this.decision, this, unusedOutcome(this.now))
    return decision
  }

  /** Goes to the server, with the time it may take. */
  send(): void {
    const { events, part } = this.call
    this.startMs = events.now
    const limitMs = Math.min(this.startMs + (this.attemptTimeoutMs ?? Infinity), this.deadlineMs)
    if (limitMs < Infinity) events.schedule(this, limitMs)
    part.server.submit(this)
  }

  fire(): void {
    if (!this.over) this.call.timedOut(this)
  }

  answered(ok: boolean): void {
    if (this.abandoned !== undefined) this.tell('settle', this.abandoned)
    else if (!this.over) this.call.answered(this, ok)
  }

  /** Tells breaker and budget, once. */
  end(result: AttemptOutcome['result'], won: boolean): void {
    const { events, client } = this.call
    this.over = true
    events.cancel(this)
    if (result === 'success') client.breaker?.success(this.epoch)
    else if (result === 'aborted') client.breaker?.giveBack(this.epoch)
    else client.breaker?.failure(this.epoch, events.now)
    const outcome = { result, latencyMs: events.now - this.startMs, won, now: events.now }
    const isGivenUp = result === 'timeout' || result === 'aborted'
    if (isGivenUp && client.stage.scenario.ignoresSignal) this.abandon(outcome)
    else this.tell('giveBack', outcome)
  }

  private abandon(outcome: AttemptOutcome): void {
    this.abandoned = outcome
    this.line?.conclude(this, outcome)
    this.shared?.line.conclude(this.shared.request, outcome)
  }

  private tell(end: 'giveBack' | 'settle', outcome: AttemptOutcome): void {
    this.line?.[end](this.decision, this, outcome)
    this.shared?.line[end](this.shared.decision, this.shared.request, outcome)
  }
}

interface Shared {
  readonly line: Line
  readonly request: BudgetRequest
  readonly decision: Decision
}

const NO_REF: BudgetRef = Object.freeze({ name: '', cost: 1 })
