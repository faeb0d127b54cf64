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
import { callsPerSecondAt } from './fault.js'
import { Line } from './line.js'
import type { Part } from './part.js'
import type { Scenario } from './scenario.js'
import type { ReadySubject } from './subject.js'
import type { Tally } from './tally.js'

/** What all clients of a simulation share. */
export interface Stage {
  readonly events: EventQueue
  readonly scenario: Scenario
  /** What is called: the part that the fault hits comes first. */
  readonly parts: readonly Part[]
  readonly random: Random
  /** When calls come, the same for every subject. */
  readonly arrivals: Random
}

export class Client extends SimulatedEvent {
  readonly stage: Stage
  /** Where its calls are counted. */
  readonly tally: Tally
  readonly policy: Policy
  readonly breaker: Breaker | undefined
  readonly latency: LatencyHistogram | undefined
  readonly draw: Random
  /** The budgets that attempts ask, by their kind. */
  readonly refs: Readonly<Record<AttemptKind, readonly BudgetRef[]>>
  private readonly lines = new Map<string, Line>()
  private retired = false

  constructor(stage: Stage, subject: ReadySubject, tally: Tally) {
    super()
    this.stage = stage
    this.tally = tally
    this.policy = subject.policy
    this.draw = stage.random
    this.refs = { retry: budgetRefs(this.policy, 'retry'), hedge: budgetRefs(this.policy, 'hedge') }
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

  /** Makes no further calls. Those it has made go on to their end. */
  retire(): void {
    this.retired = true
    this.stage.events.cancel(this)
  }

  fire(): void {
    this.call()
    this.scheduleNext()
  }

  call(): void {
    new SimulatedCall(this, this.choosePart()).begin()
  }

  private choosePart(): Part {
    const { arrivals, parts, scenario } = this.stage
    const [hit, rest] = parts as readonly [Part, Part?]
    return rest === undefined || arrivals() < scenario.faultShare ? hit : rest
  }

  budgetOf(ref: BudgetRef | undefined): Budget | undefined {
    return this.lineOf(ref)?.budget
  }

  lineOf(ref: BudgetRef | undefined): Line | undefined {
    return ref === undefined ? undefined : this.lines.get(ref.name)
  }

  private scheduleNext(): void {
    const { events, arrivals, scenario } = this.stage
    const callsPerSecond = callsPerSecondAt(scenario, events.now) / scenario.clients
    const at = events.now + exponential(1000 / callsPerSecond, arrivals)
    if (at < scenario.endMs && !this.retired) events.schedule(this, at)
  }
}
