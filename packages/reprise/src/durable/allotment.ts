/**
 * Allotments: a count of retries that many tasks share, charged at the failure in the commit that chooses the next due
 * time. The count is the row of a gate, which the transaction has locked, so it is exact over processes and crashes. A
 * package may bring a rule of its own in place of the plain count. Imports core's and the ledger's types.
 */
import type { CountBudgetState } from '../core/budgets/count.js'
import type { AllotmentDecision } from '../core/decide.js'
import type { View } from '../ledger/ledger.js'
import type { GateRecord, Json, TaskRecord } from '../ledger/records.js'
import { gateFaults } from './gate-check.js'

/** A count of retries that many tasks share, kept in the ledger. */
export interface Allotment {
  /** The name of the count, shared by all tasks that name it; no gate budget may have the same name. */
  readonly budget: string
  /**
   * Retries of all these tasks together. Used to make the count; after that the count in the ledger decides.
   * @default the count must be in the ledger already
   * @example { budget: 'imports', total: 20 }
   */
  readonly total?: number
  /** Retries of one task, resets included. @default no limit @example { budget: 'imports', total: 20, perTask: 3 } */
  readonly perTask?: number
  /**
   * What is kept as `budgetReason` where a retry is denied.
   * @default the words of `countBudget`
   * @example { budget: 'imports', total: 20, reasons: { total: 'job_budget_exhausted' } }
   */
  readonly reasons?: AllotmentReasons
}

/** Words for a denied retry, one for each cause. */
interface AllotmentReasons {
  /** The retries of all tasks are used up. @default 'count_exhausted' @example { total: 'job_budget_exhausted' } */
  readonly total?: string
  /** Those of this task are. @default 'key_count_exhausted' @example { perTask: 'workflow_budget_exhausted' } */
  readonly perTask?: string
  /**
   * There is no count, and nothing says how large it should be.
   * @default 'budget_not_found'
   * @example { missing: 'retry_budget_missing' }
   */
  readonly missing?: string
}

/** A retry that asks to be charged. */
export interface ChargeRequest {
  /** The task as it was before the failure, or as it waits for its grant. */
  readonly task: TaskRecord
  /** The ledger's time. */
  readonly now: number
  /** What `survey` found, if the task has waited for its grant and asks again; undefined at the failure. */
  readonly surveyed: Json | undefined
}

/**
 * `granted`: the retry is charged, or free, and `gate` is the count as it is to be. `denied`: the task is over; `denial` is
 * kept with it. `postponed`: the task waits, and asks again after `waitMs`.
 */
export type Charge =
  | { readonly type: 'granted'; readonly gate: GateRecord; readonly isFree?: boolean }
  | { readonly type: 'denied'; readonly reason: string; readonly denial?: Json }
  | { readonly type: 'postponed'; readonly waitMs: number; readonly gate?: GateRecord }

/** How retries are charged where a package has rules of its own. `charge` is pure, and may be asked several times. */
export interface AllotmentRule {
  /** The key of the gate that has the count of this task. Depends on the scope, the id and the input of the task alone. */
  key(task: TaskRecord): string
  /** `gate`: the count; undefined if there is none. */
  charge(gate: GateRecord | undefined, request: ChargeRequest): Charge
  /** Writes a count that is missing, before its absence denies a retry. */
  restore?(task: TaskRecord): Promise<void>
  /** Read before a task that waits for its grant asks again. */
  survey?(task: TaskRecord): Promise<Json>
}

const REASONS: Required<AllotmentReasons> = {
  total: 'count_exhausted',
  perTask: 'key_count_exhausted',
  missing: 'budget_not_found',
}

/** How soon a retry asks again whose count could not be read. */
const UNSOUND_WAIT_MS = 1000

const CHARGED: AllotmentDecision = Object.freeze({ allowed: true, reason: 'allowed' })

/** The rule of a plain count; a rule that was given as one stays as it is. */
export function ruleOf(allot: Allotment | AllotmentRule): AllotmentRule {
  if ('charge' in allot) return allot
  return {
    key: () => `budget:${allot.budget}`,
    charge: (gate, { task }) => chargeCount(allot, gate ?? newCount(allot), task),
  }
}

function chargeCount(allot: Allotment, gate: GateRecord | undefined, { progress }: TaskRecord): Charge {
  const { perTask = Infinity, reasons } = allot
  const { total, perTask: share, missing } = { ...REASONS, ...reasons }
  if (gate === undefined) return { type: 'denied', reason: missing }
  // Neither granted nor denied by a count that cannot be: the task waits, and is refused by name when it asks again.
  if (gateFaults(gate).length > 0) return { type: 'postponed', waitMs: UNSOUND_WAIT_MS }
  // Reset by hand, it is as it was made.
  const state = (gate.state ?? { used: 0, keys: [] }) as unknown as CountBudgetState
  if (state.used + 1 > limitOf(gate)) return { type: 'denied', reason: total }
  if ((progress.allotted ?? 0) + 1 > perTask) return { type: 'denied', reason: share }
  return { type: 'granted', gate: { ...gate, state: { ...state, used: state.used + 1 } } }
}

/** The count as one transaction sees it. */
export class AllotmentCount {
  private readonly rule: AllotmentRule
  private readonly key: string
  private readonly view: View
  private readonly surveyed: Json | undefined
  private last: Charge | undefined = undefined

  constructor(rule: AllotmentRule, task: TaskRecord, view: View, surveyed: Json | undefined) {
    this.rule = rule
    this.key = rule.key(task)
    this.view = view
    this.surveyed = surveyed
  }

  /** Charges a retry of the task, or says why not. */
  charge(task: TaskRecord): AllotmentDecision {
    const { view, surveyed } = this
    const charge = this.rule.charge(view.gate(this.key), { task, now: view.now, surveyed })
    this.last = charge
    if (charge.type === 'granted') return CHARGED
    if (charge.type === 'denied') return { allowed: false, reason: charge.reason }
    return { allowed: true, reason: 'postponed', postponeMs: charge.waitMs }
  }

  /** Why the count cannot be asked: its row cannot be. */
  get faults(): readonly string[] {
    const gate = this.view.gate(this.key)
    return gate === undefined ? [] : gateFaults(gate).map((fault) => `${gate.key.replace(':', ' ')}: ${fault}`)
  }

  /** A count that the rule can restore was asked and is not there. */
  get isMissing(): boolean {
    return this.rule.restore !== undefined && this.last !== undefined && this.view.gate(this.key) === undefined
  }

  /** Whether what was granted costs nothing. */
  get isFree(): boolean {
    return this.last?.type === 'granted' && this.last.isFree === true
  }

  /** What the rule keeps of its denial; undefined for nothing. */
  get denial(): Json | undefined {
    return this.last?.type === 'denied' ? this.last.denial : undefined
  }

  /** The count as it is to be written: nothing without a change. */
  records(): readonly GateRecord[] {
    if (this.last === undefined || this.last.type === 'denied') return []
    return this.last.gate === undefined ? [] : [this.last.gate]
  }
}

/** In the form of a `countBudget`, so that it is listed and granted by hand like one. */
function newCount({ budget, total }: Allotment): GateRecord | undefined {
  if (total === undefined) return undefined
  return { key: `budget:${budget}`, kind: 'budget', state: { used: 0, keys: [] }, settings: { type: 'count', total } }
}

/** The limit that the ledger has, and what was granted by hand. */
function limitOf({ settings, state }: GateRecord): number {
  const { total = 0 } = (settings ?? {}) as { readonly total?: number }
  return total + ((state as unknown as CountBudgetState | null)?.granted ?? 0)
}
