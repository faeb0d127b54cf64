/**
 * Allotments: a count of retries that many tasks share, charged at the failure in the commit that chooses the next due
 * time. The count is the row of a gate, which the transaction has locked, so it is exact over processes and crashes.
 * Imports core's and the ledger's types.
 */
import type { Decision } from '../core/budget.js'
import type { CountBudgetState } from '../core/budgets/count.js'
import type { View } from '../ledger/ledger.js'
import type { GateRecord, TaskRecord } from '../ledger/records.js'

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

const REASONS: Required<AllotmentReasons> = {
  total: 'count_exhausted',
  perTask: 'key_count_exhausted',
  missing: 'budget_not_found',
}

const CHARGED: Decision = Object.freeze({ allowed: true, reason: 'allowed' })

export function allotmentKey({ budget }: Allotment): string {
  return `budget:${budget}`
}

/** The count as one transaction sees it. */
export class AllotmentCount {
  private readonly allotment: Allotment
  private gate: GateRecord | undefined
  private isCharged = false

  constructor(allotment: Allotment, view: View) {
    this.allotment = allotment
    this.gate = view.gate(allotmentKey(allotment)) ?? newCount(allotment)
  }

  /** Charges a retry of the task, or says why not. */
  charge({ progress }: TaskRecord): Decision {
    const { perTask = Infinity, reasons } = this.allotment
    const { total, perTask: share, missing } = { ...REASONS, ...reasons }
    if (this.gate === undefined) return denied(missing)
    const state = this.gate.state as unknown as CountBudgetState
    if (state.used + 1 > limitOf(this.gate)) return denied(total)
    if ((progress.allotted ?? 0) + 1 > perTask) return denied(share)
    this.gate = { ...this.gate, state: { ...(this.gate.state as object), used: state.used + 1 } }
    this.isCharged = true
    return CHARGED
  }

  /** The count as it is to be written: nothing without a charge. */
  records(): readonly GateRecord[] {
    return this.isCharged && this.gate !== undefined ? [this.gate] : []
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
  return total + ((state as unknown as CountBudgetState).granted ?? 0)
}

function denied(reason: string): Decision {
  return { allowed: false, reason }
}
