/**
 * One client: calls by chance, its own breaker, budgets and latency statistics, as one process would have them.
 * Imports core and the simulator's parts.
 */
import { Breaker } from '../core/breaker.js'
import type { Budget } from '../core/budget.js'
import { budgetRefs } from '../core/gate.js'
import { LatencyHistogram } from '../core/latency.js'
import type { BudgetRef, Policy } from '../core/policy.js'
import type { Random } from '../core/time.js'
import type { AttemptKind } from '../core/words.js'
import { SimulatedCall } from './call.js'
import { exponential } from './chance.js'
import { type EventQueue, SimulatedEvent } from './event-queue.js'
import { Line } from './line.js'
import type { Server } from './server.js'
import type { ReadySubject } from './subject.js'
import type { Tally } from './tally.js'

/** What all clients of a simulation share. */
export interface Stage {
  readonly events: EventQueue
  readonly server: Server
  readonly tally: Tally
  readonly random: Random
  /** When calls come, the same for every subject. */
  readonly arrivals: Random
  /** No call begins after this: those that began can end. */
  readonly lastCallMs: number
}

export class Client extends SimulatedEvent {
  readonly stage: Stage
  readonly policy: Policy
  readonly breaker: Breaker | undefined
  readonly latency: LatencyHistogram | undefined
  readonly draw: Random
  /** The budgets that attempts ask, by their kind. */
  readonly refs: Readonly<Record<AttemptKind, readonly BudgetRef[]>>
  private readonly lines = new Map<string, Line>()
  private readonly meanGapMs: number

  constructor(stage: Stage, subject: ReadySubject, callsPerSecond: number) {
    super()
    this.stage = stage
    this.policy = subject.policy
    this.draw = stage.random
    this.refs = { retry: budgetRefs(this.policy, 'retry'), hedge: budgetRefs(this.policy, 'hedge') }
    this.meanGapMs = 1000 / callsPerSecond
    this.breaker = this.policy.breaker && new Breaker('', this.policy.breaker)
    this.latency = this.policy.hedge?.percentile === undefined ? undefined : new LatencyHistogram()
    for (const [name, make] of Object.entries(subject.budgets)) {
      this.lines.set(name, new Line(stage, make(stage.random)))
    }
  }

  /** Schedules the first call. */
  begin(): void {
    this.scheduleNext()
  }

  fire(): void {
    new SimulatedCall(this).begin()
    this.scheduleNext()
  }

  budgetOf(ref: BudgetRef | undefined): Budget | undefined {
    return this.lineOf(ref)?.budget
  }

  lineOf(ref: BudgetRef | undefined): Line | undefined {
    return ref === undefined ? undefined : this.lines.get(ref.name)
  }

  private scheduleNext(): void {
    const { events, arrivals, lastCallMs } = this.stage
    const at = events.now + exponential(this.meanGapMs, arrivals)
    if (at < lastCallMs) events.schedule(this, at)
  }
}
