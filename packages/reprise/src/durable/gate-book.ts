/**
 * Budgets and breakers of durable tasks. They are written down with every attempt they gate, in its transaction, and are
 * what the ledger says whenever they are asked: so they are exact over all processes, and a restart finds them as they
 * were. Imports core, the runtime's environment, the ledger's types and its own layer.
 *
 * Invariants: nobody is asked before `refresh`, within a transaction that has locked the gate. A budget that makes attempts
 * stand in line knows more than its snapshot says, and is each process's own; so is one that cannot be set to a state. A
 * record of a breaker that says nothing of its epoch was written by an earlier version, which knew only its own view: it
 * makes the breaker stricter, never more permissive, unless it was changed by hand, known by its `manualRevision`.
 */
import type { BreakerState } from '../core/breaker.js'
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../core/budget.js'
import { DENIED, giveBack, mayPeek, NO_BUDGET, notFound, unusedOutcome } from '../core/gate.js'
import type { BreakerPolicy } from '../core/policy.js'
import type { BreakerPhase } from '../core/words.js'
import type { View } from '../ledger/ledger.js'
import { type GateRecord, type Json, type TaskRecord, TERMINAL, nameOf } from '../ledger/records.js'
import type { Environment } from '../runtime/environment.js'
import { ruleOf } from './allotment.js'
import type { Definition } from './definition.js'
import { retryDenial, type TaskRetryGates } from './denials.js'
import { gateFaults } from './gate-check.js'
import { GateMemory, type Kept, textOfSnapshot } from './gate-memory.js'
import { GateSoundness, NO_FAULTS } from './gate-soundness.js'
import { askSafely, doSafely, nextAllowedSafely, peekedDenial, peekSafely, settingsOf } from './guarded-budget.js'
import type { Denial } from './holds.js'
import type { RunBudgets } from './run-budgets.js'
import { isShared, SharedBreaker, type SharedBreakerState } from './shared-breaker.js'

/**
 * Breakers that are kept in memory, about 1 kB each: a process that conducts many runs meets a new one with every step
 * that has its own.
 */
const MAX_BREAKERS = 1000

/** What an attempt was granted, until it ends. */
export interface Grant {
  readonly request: BudgetRequest
  readonly decision: Decision
}

/** What the event `breaker_changed` says. */
type BreakerChange = { readonly breaker: string; readonly from: BreakerPhase; readonly to: BreakerPhase }

export class GateBook {
  private readonly environment: Environment
  private readonly budgets: RunBudgets
  /** As the ledger has them, as far as is known here. */
  private readonly stored: Map<string, GateRecord>
  /** Of those that are the ledger's, by key. */
  private readonly memories = new Map<string, GateMemory>()
  /** What they were made with. */
  private readonly settings = new Map<Budget | SharedBreaker, Json>()
  private readonly breakers = new Map<string, SharedBreaker>()
  private readonly restored = new Set<Budget>()
  /** Those that began with what earlier processes held. */
  private readonly inherited = new Set<Budget>()
  private readonly soundness = new GateSoundness()
  private readonly grants = new Map<string, Grant>()

  constructor(environment: Environment, budgets: RunBudgets, stored: readonly GateRecord[]) {
    this.environment = environment
    this.budgets = budgets
    budgets.onDropped = (name, budget) => this.forget(name, budget)
    this.stored = new Map(stored.map((gate) => [gate.key, gate]))
  }

  breakerOf({ name, policy }: Definition): SharedBreaker | undefined {
    return policy.breaker && this.breaker(policy.breaker.key ?? name, policy.breaker)
  }

  budgetOf({ policy }: Definition): Budget | undefined {
    if (policy.budget === undefined) return undefined
    const budget = this.budgets.get(policy.budget.name)
    if (budget !== undefined) this.restoreOnce(policy.budget.name, budget)
    return budget
  }

  /** Whether what was granted in one process can be settled in another: a line is each process's own. */
  isShared(definition: Definition): boolean {
    return this.budgetOf(definition)?.park === undefined
  }

  /** Keys of what the attempts of this task may change. */
  keysOf({ name, policy }: Definition): string[] {
    if (policy.budget === undefined && policy.breaker === undefined) return []
    const keys: string[] = []
    if (policy.budget !== undefined) keys.push(`budget:${policy.budget.name}`)
    if (policy.breaker !== undefined) keys.push(`breaker:${policy.breaker.key ?? name}`)
    return keys.toSorted()
  }

  /**
   * Makes the gates what the ledger says; to be called first in every transaction. False if the budget is this process's
   * own: it remembers what it was told in a transaction that is done again, and must not hear it twice.
   */
  refresh(definition: Definition, view: View): boolean {
    for (const key of this.keysOf(definition)) {
      const gate = view.gate(key)
      if (this.soundness.isDamaged(key, gate)) continue
      const isChangedByHand = (gate?.manualRevision ?? 0) > (this.stored.get(key)?.manualRevision ?? 0)
      if (gate === undefined) this.stored.delete(key)
      else this.stored.set(key, gate)
      // One that nobody has asked for yet will begin with what is stored.
      this.memories.get(key)?.refresh(gate?.state ?? undefined, isChangedByHand)
    }
    const { budget } = definition.policy
    if (budget === undefined) return false
    // Made now: a budget that cannot take in its record is known before it is asked.
    this.budgetOf(definition)
    const key = `budget:${budget.name}`
    const memory = this.memories.get(key)
    if (memory !== undefined) this.soundness.note(key, memory.failure)
    return memory !== undefined
  }

  /**
   * Why no attempt may begin with these gates: their rows cannot be, or they could not take them in or say what they are.
   * As of the last `refresh` or `records`.
   */
  faultsOf(definition: Definition): readonly string[] {
    return this.soundness.isWhole ? NO_FAULTS : this.keysOf(definition).flatMap((key) => this.soundness.faultsOf(key))
  }

  /** The attempt that was granted does not begin: its gates cannot be recorded. */
  revoke(definition: Definition, task: TaskRecord, now: number): void {
    if (this.grants.has(nameOf(task))) this.settle(definition, task, unusedOutcome(now))
  }

  /** What was decided with these gates is committed. */
  committed({ name, policy }: Definition): void {
    if (policy.breaker !== undefined) this.breakers.get(policy.breaker.key ?? name)?.announce()
  }

  /**
   * As they are now, to be written in the transaction of the attempt. One that is damaged, or cannot say what it is, is left
   * out: its row stays as it is.
   */
  records(definition: Definition): GateRecord[] {
    const { policy } = definition
    const records: GateRecord[] = []
    const budget = this.budgetOf(definition)
    if (budget?.snapshot !== undefined && policy.budget !== undefined)
      records.push(...this.record('budget', policy.budget.name, budget, budget.snapshot.bind(budget)))
    const breaker = this.breakerOf(definition)
    if (breaker !== undefined) records.push(...this.record('breaker', breaker.key, breaker, () => breaker.snapshot()))
    return records
  }

  /** How this transaction changes the phase of the breaker; undefined if it does not. */
  breakerChange(definition: Definition): BreakerChange | undefined {
    const breaker = this.breakerOf(definition)
    if (breaker === undefined) return undefined
    const stored = this.stored.get(`breaker:${breaker.key}`)?.state as Partial<BreakerState> | null | undefined
    const [from, to] = [stored?.phase ?? 'closed', breaker.snapshot().phase]
    return from === to ? undefined : { breaker: breaker.key, from, to }
  }

  private record(
    kind: GateRecord['kind'],
    name: string,
    gate: Budget | SharedBreaker,
    snapshot: () => unknown,
  ): GateRecord[] {
    const key = `${kind}:${name}`
    if (this.soundness.hasDamaged(key)) return []
    const memory = this.memories.get(key)
    const state = memory === undefined ? this.ownState(key, snapshot) : memory.record()
    if (memory !== undefined) this.soundness.note(key, memory.failure)
    if (state === undefined) return []
    const settings = this.settings.get(gate)
    const manualRevision = this.stored.get(key)?.manualRevision
    const revised = manualRevision === undefined ? {} : { manualRevision }
    return [{ key, kind, state, ...(settings !== undefined && { settings }), ...revised }]
  }

  /** Of a budget that is this process's own. */
  private ownState(key: string, snapshot: () => unknown): Json | undefined {
    // Not before it has taken in its past: that would be overwritten.
    if (this.soundness.failureOf(key)?.verb === 'restore') return undefined
    return this.soundness.attempt(key, 'snapshot', () => {
      const state = snapshot()
      textOfSnapshot(state)
      return state as Json
    })
  }

  /** What is asked before a wait, for an attempt after it. */
  retryGates(definition: Definition, task: TaskRecord, now: number): TaskRetryGates {
    const { allot, policy, whenDenied } = definition
    // With `hold` the policy alone decides whether there is a next attempt, and the gates when it starts.
    // A gate that is not sound is not asked either: nothing begins with it before it is.
    const isHeld = whenDenied === 'hold' || this.faultsOf(definition).length > 0
    const breaker = isHeld ? undefined : this.breakerOf(definition)
    const names = { breaker: breaker?.key, budget: policy.budget?.name, allotment: allot && ruleOf(allot).key(task) }
    let peeked: Decision = DENIED
    const denial: TaskRetryGates['denial'] = (reason, word) => retryDenial(names, reason, word, peeked)
    const budget = isHeld ? undefined : this.budgetOf(definition)
    const request = this.request(definition, task, now)
    if (request === undefined || !mayPeek(budget)) return { breaker, denial }
    const peek = (dueAtMs: number): boolean => {
      const later = { ...request, now: dueAtMs }
      const isAllowed = peekSafely(budget, later)
      if (!isAllowed) peeked = peekedDenial(budget, later)
      return isAllowed
    }
    return { breaker, peek, denial }
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
      launch: attempt,
      kind: 'retry',
      ref: policy.budget,
      now,
      deadlineMs: task.progress.retry.deadlineAtMs ?? Infinity,
      attemptTimeoutMs: policy.attemptTimeoutMs,
    }
  }

  ask(definition: Definition, task: TaskRecord, now: number): Decision {
    const request = this.request(definition, task, now)
    if (request === undefined || !this.budgets.isAsked(request.ref.name)) return NO_BUDGET
    const budget = this.budgetOf(definition)
    // One of this process's own remembers what it said in a transaction that is done again: it is not asked twice.
    const said = this.memories.has(`budget:${request.ref.name}`) ? undefined : this.grants.get(nameOf(task))
    if (said?.request.attempt === request.attempt) return said.decision
    const decision = budget === undefined ? notFound(this.environment.missingBudgetMode) : askSafely(budget, request)
    if (decision.allowed) this.keep(task, { request, decision })
    return decision
  }

  /** Why the attempt that was just asked for did not start; `asked`: what the budget said, if it came to that. */
  denialOf(definition: Definition, task: TaskRecord, asked: Decision | undefined, now: number): Denial {
    if (asked === undefined) {
      const breaker = this.breakerOf(definition) as SharedBreaker
      const { phase, openUntilMs } = breaker.snapshot()
      const waitMs = phase === 'open' ? (openUntilMs ?? now) - now : undefined
      return { gate: `breaker:${breaker.key}`, reason: 'breaker_open', waitMs }
    }
    const request = this.request(definition, task, now) as BudgetRequest
    const atMs = nextAllowedSafely(this.budgetOf(definition), request)
    const waitMs = atMs === undefined ? undefined : atMs - now
    return { gate: `budget:${request.ref.name}`, reason: asked.reason, waitMs }
  }

  keep(task: TaskRecord, grant: Grant): void {
    this.grants.set(nameOf(task), grant)
  }

  /**
   * The attempt in flight will not be heard of: the slot of its breaker goes back, and what it was granted, if nobody
   * carries it on. `isElsewhere`: another process has it, and hears what concerns its own line.
   */
  giveUp(definition: Definition, before: TaskRecord, after: TaskRecord, now: number, isElsewhere = false): void {
    const { current } = before.progress
    const epoch = current?.probe?.epoch
    if (epoch !== undefined && after.progress.current?.probe?.epoch !== epoch)
      this.breakerOf(definition)?.giveBack(epoch)
    if (isElsewhere && !this.isShared(definition)) return
    const isCarriedOn = !TERMINAL.has(after.status) && after.progress.current?.attempt === current?.attempt
    if (current === null || isCarriedOn) return
    this.settle(definition, before, unusedOutcome(now))
  }

  /** Somebody else has the task. What is shared he has settled; a slot of a line of this process's own goes back. */
  lost(definition: Definition, task: TaskRecord, now: number): void {
    const name = nameOf(task)
    const isOwn = this.grants.has(name) && this.budgetOf(definition)?.park !== undefined
    if (isOwn) this.settle(definition, task, unusedOutcome(now))
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
    const attempt = current?.attempt ?? retry.launched
    const request = isElsewhere ? undefined : this.request(definition, task, outcome.now, attempt)
    const grant = this.grants.get(name) ?? (request && { request, decision: NO_BUDGET })
    this.grants.delete(name)
    if (budget === undefined || grant === undefined) return
    this.tellEnd(budget, grant, outcome)
  }

  /** A durable attempt ends in one moment, its commit: it is concluded and given back at once. */
  tellEnd(budget: Budget, { decision, request }: Grant, outcome: AttemptOutcome): void {
    doSafely(() => budget.conclude?.(request, outcome))
    doSafely(() => giveBack(budget, decision, request, outcome))
    if (budget.park !== undefined) this.environment.lineOf(budget).follow()
  }

  /** The budget of a run that has ended: the next run of that name makes its own, with what the ledger says. */
  private forget(name: string, budget: Budget): void {
    this.memories.delete(`budget:${name}`)
    this.soundness.forget(`budget:${name}`)
    this.stored.delete(`budget:${name}`)
    this.settings.delete(budget)
    this.restored.delete(budget)
    this.inherited.delete(budget)
  }

  private breaker(key: string, settings: BreakerPolicy): SharedBreaker {
    const known = this.breakers.get(key)
    if (known !== undefined) return known
    const breaker: SharedBreaker = new SharedBreaker(key, settings, (from, to) =>
      this.environment.breakerChanged(breaker, from, to),
    )
    const stored = this.soundState(`breaker:${key}`)
    const memory = new GateMemory(breaker, stored, (state, isChangedByHand) => takeIn(breaker, state, isChangedByHand))
    breaker.begin()
    if (this.breakers.size >= MAX_BREAKERS) this.dropOldestBreaker()
    this.breakers.set(key, breaker)
    this.memories.set(`breaker:${key}`, memory)
    const { key: _key, ...limits } = settings
    this.settings.set(breaker, limits)
    return breaker
  }

  /** What it knew is in the ledger: it is made again from there when it is asked for. */
  private dropOldestBreaker(): void {
    const [oldest] = this.breakers
    if (oldest === undefined) return
    const [name, breaker] = oldest
    this.breakers.delete(name)
    this.memories.delete(`breaker:${name}`)
    this.stored.delete(`breaker:${name}`)
    this.settings.delete(breaker)
  }

  /** As a gate may begin with: a row that cannot be is none. */
  private soundState(key: string): Json | undefined {
    const gate = this.stored.get(key)
    return gate === undefined || gateFaults(gate).length > 0 ? undefined : (gate.state ?? undefined)
  }

  /** A budget that is this process's own takes in what earlier processes held; false if it cannot. */
  private takesInOwn(key: string, budget: Budget): boolean {
    const state = this.soundState(key)
    this.soundness.attempt(key, 'restore', () => void (state === undefined || budget.restore?.(state)))
    return this.soundness.failureOf(key) === undefined
  }

  private restoreOnce(name: string, budget: Budget): void {
    if (this.restored.has(budget)) return
    const key = `budget:${name}`
    const stored = this.stored.get(key)
    if (isKept(budget)) this.memories.set(key, new GateMemory(budget, this.soundState(key)))
    else if (!this.takesInOwn(key, budget)) return
    if (stored !== undefined && budget.restore !== undefined) this.inherited.add(budget)
    // Not before: one that cannot read its past is not used as if it had none.
    this.restored.add(budget)
    const settings = settingsOf(budget)
    if (settings !== undefined) this.settings.set(budget, settings)
  }
}

/** Whether it is what its snapshot says, and can be set to it. */
function isKept(budget: Budget): budget is Budget & Kept {
  return budget.park === undefined && budget.snapshot !== undefined && budget.restore !== undefined
}

function takeIn(breaker: SharedBreaker, state: Json, isChangedByHand: boolean): void {
  const stored = (state ?? {}) as unknown as BreakerState & Partial<SharedBreakerState>
  if (isChangedByHand || isShared(stored) || isStricter(stored, breaker.snapshot())) breaker.restore(stored)
}

/** Whether one that is open is so for longer than the other. */
function isStricter(stored: BreakerState, own: BreakerState): boolean {
  if (stored.phase !== 'open') return false
  return own.phase === 'closed' || (stored.openUntilMs ?? 0) > (own.openUntilMs ?? 0)
}
