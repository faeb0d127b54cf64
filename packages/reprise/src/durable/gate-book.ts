/**
 * Budgets and breakers of durable tasks. They live in the process and are written down with every attempt they gate, so
 * that a restart finds them as they were. Imports core, the runtime's environment and the ledger's types.
 *
 * Invariant: what others wrote makes a breaker of this process stricter, never more permissive; only a change by hand,
 * known by its decree, is taken in whatever it says.
 */
import { Breaker, type BreakerState } from '../core/breaker.js'
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../core/budget.js'
import type { RetryGates } from '../core/decide.js'
import { askBudget, giveBack, mayPeek, NO_BUDGET, notFound, PANIC_IN_BUDGET } from '../core/gate.js'
import type { BreakerPolicy } from '../core/policy.js'
import type { View } from '../ledger/ledger.js'
import { type GateRecord, type Json, type TaskRecord, TERMINAL, nameOf } from '../ledger/records.js'
import { report, reportLater } from '../runtime/hook-errors.js'
import type { Environment } from '../runtime/environment.js'
import type { Definition } from './definition.js'

/** What an attempt was granted, until it ends. */
export interface Grant {
  readonly request: BudgetRequest
  readonly decision: Decision
}

export class GateBook {
  private readonly environment: Environment
  /** As the ledger has them, as far as is known here. */
  private readonly stored: Map<string, GateRecord>
  /**
   * The states that gates of this process began with or were written with last, as text; undefined for one that began
   * with none. The ledger says something else if somebody else has written since.
   */
  private readonly known = new Map<string, string | undefined>()
  /** What they were made with. */
  private readonly settings = new Map<Budget | Breaker, Json>()
  private readonly breakers = new Map<string, Breaker>()
  private readonly restored = new Set<Budget>()
  /** Those that began with what earlier processes held. */
  private readonly inherited = new Set<Budget>()
  private readonly grants = new Map<string, Grant>()

  constructor(environment: Environment, stored: readonly GateRecord[]) {
    this.environment = environment
    this.stored = new Map(stored.map((gate) => [gate.key, gate]))
  }

  breakerOf({ name, policy }: Definition): Breaker | undefined {
    return policy.breaker && this.breaker(policy.breaker.key ?? name, policy.breaker)
  }

  budgetOf({ policy }: Definition): Budget | undefined {
    if (policy.budget === undefined) return undefined
    const budget = this.environment.budgets?.get(policy.budget.name)
    if (budget !== undefined) this.restoreOnce(policy.budget.name, budget)
    return budget
  }

  /** Whether what was granted in one process can be settled in another: a line is each process's own. */
  isShared(definition: Definition): boolean {
    return this.budgetOf(definition)?.park === undefined
  }

  /** Keys of what the attempts of this task may change. */
  keysOf({ name, policy }: Definition): string[] {
    const keys: string[] = []
    if (policy.budget !== undefined) keys.push(`budget:${policy.budget.name}`)
    if (policy.breaker !== undefined) keys.push(`breaker:${policy.breaker.key ?? name}`)
    return keys.toSorted()
  }

  /**
   * What others have written since is taken in before anybody is asked; to be called first in every transaction. True if
   * the budget was set to what the ledger says: what a transaction that is done again told it is forgotten.
   */
  refresh(definition: Definition, view: View): boolean {
    let isRestored = false
    for (const key of this.keysOf(definition)) {
      const gate = view.gate(key)
      if (gate === undefined) continue
      const isDecreed = (gate.decree ?? 0) > (this.stored.get(key)?.decree ?? 0)
      this.stored.set(key, gate)
      // One that nobody has asked for yet will begin with what is stored.
      const isNews = this.known.has(key) && this.known.get(key) !== JSON.stringify(gate.state)
      if (isNews) isRestored = this.takeIn(definition, gate, isDecreed) || isRestored
    }
    return isRestored
  }

  /** Whether the budget is now what the ledger says. */
  private takeIn(definition: Definition, { kind, state }: GateRecord, isDecreed: boolean): boolean {
    if (kind === 'budget') {
      const budget = this.budgetOf(definition)
      // One with a line of its own knows more than its snapshot says.
      if (budget?.restore === undefined || budget.park !== undefined) return false
      budget.restore(state)
      return true
    }
    const breaker = this.breakerOf(definition)
    const stored = state as unknown as BreakerState
    // Attempts of now lose their era: only what is less permissive is worth that, or what a person said.
    if (breaker !== undefined && (isDecreed || isStricter(stored, breaker.snapshot()))) breaker.restore(stored)
    return false
  }

  /** As they are now, to be written in the transaction of the attempt. */
  records(definition: Definition): GateRecord[] {
    const { policy } = definition
    const records: GateRecord[] = []
    const budget = this.budgetOf(definition)
    const state = budget?.snapshot?.()
    if (budget !== undefined && state !== undefined && policy.budget !== undefined) {
      records.push(this.record('budget', policy.budget.name, state as Json, budget))
    }
    const breaker = this.breakerOf(definition)
    if (breaker !== undefined) {
      records.push(this.record('breaker', breaker.key, breaker.snapshot() as unknown as Json, breaker))
    }
    return records
  }

  private record(kind: GateRecord['kind'], name: string, state: Json, gate: Budget | Breaker): GateRecord {
    const key = `${kind}:${name}`
    const settings = this.settings.get(gate)
    const decree = this.stored.get(key)?.decree
    this.known.set(key, JSON.stringify(state))
    return { key, kind, state, ...(settings !== undefined && { settings }), ...(decree !== undefined && { decree }) }
  }

  /** What is asked before a wait, for an attempt after it. */
  retryGates(definition: Definition, task: TaskRecord, now: number): RetryGates {
    const breaker = this.breakerOf(definition)
    const budget = this.budgetOf(definition)
    const request = this.request(definition, task, now)
    if (request === undefined || !mayPeek(budget)) return { breaker }
    return { breaker, peek: (dueAtMs) => peekSafely(budget, { ...request, now: dueAtMs }) }
  }

  /** For the attempt to come, or the one that is named. */
  request(
    definition: Definition,
    task: TaskRecord,
    now: number,
    attempt = task.progress.retry.launched + 1,
  ): BudgetRequest | undefined {
    const { name, policy } = definition
    if (policy.budget === undefined) return undefined
    return {
      key: name,
      attempt,
      kind: 'retry',
      ref: policy.budget,
      now,
      deadlineMs: task.progress.retry.deadlineAtMs ?? Infinity,
      attemptTimeoutMs: policy.attemptTimeoutMs,
    }
  }

  ask(definition: Definition, task: TaskRecord, now: number): Decision {
    const request = this.request(definition, task, now)
    if (request === undefined || this.environment.budgets === undefined) return NO_BUDGET
    const budget = this.budgetOf(definition)
    const decision = budget === undefined ? notFound(this.environment.missingBudgetMode) : askSafely(budget, request)
    if (decision.allowed) this.keep(task, { request, decision })
    return decision
  }

  keep(task: TaskRecord, grant: Grant): void {
    this.grants.set(nameOf(task), grant)
  }

  /** The attempt in flight will not be heard of: what it was granted goes back, if nobody carries it on. */
  giveUp(definition: Definition, before: TaskRecord, after: TaskRecord, now: number): void {
    const { current } = before.progress
    const isCarriedOn = !TERMINAL.has(after.status) && after.progress.current?.number === current?.number
    if (current === null || isCarriedOn) return
    this.settle(definition, before, { result: 'aborted', latencyMs: 0, won: false, now })
  }

  /** Somebody else has the task. What is shared he has settled; a slot of a line of this process's own goes back. */
  lost(definition: Definition, task: TaskRecord, now: number): void {
    const name = nameOf(task)
    const isOwn = this.grants.has(name) && this.budgetOf(definition)?.park !== undefined
    if (isOwn) this.settle(definition, task, { result: 'aborted', latencyMs: 0, won: false, now })
    this.grants.delete(name)
  }

  /** What the attempt was granted goes back. */
  settle(definition: Definition, task: TaskRecord, outcome: AttemptOutcome): void {
    const name = nameOf(task)
    const budget = this.budgetOf(definition)
    // An attempt that began in another process was granted there: what its end gives back is known all the same, but to
    // a line of this process's own, which never had it.
    const isElsewhere = budget?.park !== undefined && !this.inherited.has(budget)
    const { retry, current } = task.progress
    const number = current?.number ?? retry.launched
    const request = isElsewhere ? undefined : this.request(definition, task, outcome.now, number)
    const grant = this.grants.get(name) ?? (request && { request, decision: NO_BUDGET })
    this.grants.delete(name)
    if (budget === undefined || grant === undefined) return
    giveBackSafely(budget, grant, outcome)
    if (budget.park !== undefined) this.environment.lineOf(budget).follow()
  }

  private breaker(key: string, settings: BreakerPolicy): Breaker {
    let breaker = this.breakers.get(key)
    if (breaker === undefined) {
      // What it was before this process came is no change.
      let isKnown = false
      breaker = new Breaker(key, settings, (from, to) => {
        if (isKnown) this.environment.breakerChanged(breaker as Breaker, from, to)
      })
      const stored = this.stored.get(`breaker:${key}`)
      if (stored !== undefined) breaker.restore(stored.state as unknown as BreakerState)
      isKnown = true
      this.breakers.set(key, breaker)
      const { key: _key, ...limits } = settings
      this.settings.set(breaker, limits)
      this.began(`breaker:${key}`)
    }
    return breaker
  }

  private restoreOnce(name: string, budget: Budget): void {
    if (this.restored.has(budget)) return
    const stored = this.stored.get(`budget:${name}`)
    if (stored !== undefined && budget.restore !== undefined) {
      budget.restore(stored.state)
      this.inherited.add(budget)
    }
    // Not before: one that cannot read its past is not used as if it had none.
    this.restored.add(budget)
    const settings = settingsOf(budget)
    if (settings !== undefined) this.settings.set(budget, settings)
    this.began(`budget:${name}`)
  }

  private began(key: string): void {
    const stored = this.stored.get(key)
    this.known.set(key, stored && JSON.stringify(stored.state))
  }
}

/** Whether one that is open is so for longer than the other. */
function isStricter(stored: BreakerState, own: BreakerState): boolean {
  if (stored.phase !== 'open') return false
  return own.phase === 'closed' || (stored.openUntilMs ?? 0) > (own.openUntilMs ?? 0)
}

/** What a budget says of itself; one that cannot say it is used all the same. */
function settingsOf(budget: Budget): Json | undefined {
  try {
    const said = budget.describe?.()
    return said && (JSON.parse(JSON.stringify(said)) as Json)
  } catch (error) {
    report(error)
    return undefined
  }
}

/** Of a budget that throws nothing is known: it allows nothing, and harms nobody else's task. */
function askSafely(budget: Budget, request: BudgetRequest): Decision {
  try {
    return askBudget(budget, request)
  } catch {
    return PANIC_IN_BUDGET
  }
}

/** What was done is recorded, whatever the budget makes of it. */
function giveBackSafely(budget: Budget, { decision, request }: Grant, outcome: AttemptOutcome): void {
  try {
    reportLater(giveBack(budget, decision, request, outcome))
  } catch (error) {
    report(error)
  }
}

function peekSafely(budget: Required<Pick<Budget, 'peek'>>, request: BudgetRequest): boolean {
  try {
    return budget.peek(request)
  } catch {
    return false
  }
}
