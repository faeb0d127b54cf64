/**
 * How an attempt begins: breaker and budget are asked, and the task becomes running, parked or over. Used inside
 * transactions, by the writer's transitions. Imports core and its own layer.
 */
import type { Decision } from '../core/budget.js'
import { DEFAULT_MAX_PARK_MS, NO_BUDGET } from '../core/gate.js'
import type { TaskRecord } from '../ledger/records.js'
import type { Definition } from './definition.js'
import type { GateBook } from './gate-book.js'
import type { Denial } from './holds.js'
import { begin, type Begun, unpark } from './transitions.js'

export interface Started extends Begun {
  /** What the budget said, if it was asked. */
  readonly asked: Decision | undefined
  /** Of a task that was claimed: when it was written before. */
  readonly restedSinceMs?: number
}

/** A gate denied the attempt, and nothing is written: the queue is held. */
export interface Denied {
  readonly task: TaskRecord
  readonly denial: Denial
}

export class TaskAdmission {
  private readonly gates: GateBook
  private readonly owner: string
  private readonly resumedAtMs: (task: TaskRecord) => number | undefined

  /** `resumedAtMs`: when a task that waits was taken up again by this process, if it was. */
  constructor(gates: GateBook, owner: string, resumedAtMs: (task: TaskRecord) => number | undefined) {
    this.gates = gates
    this.owner = owner
    this.resumedAtMs = resumedAtMs
  }

  /** Asks breaker and budget. The gates have been refreshed in this transaction. */
  start(definition: Definition, task: TaskRecord, now: number): Started | Denied {
    const { gates } = this
    const budget = gates.budgetOf(definition)
    const maxParkMs = budget?.park === undefined ? undefined : (budget.maxParkMs ?? DEFAULT_MAX_PARK_MS)
    const { attempts, timeoutMs } = definition.policy
    let asked: Decision | undefined
    const ask = (): Decision => (asked = gates.ask(definition, task, now))
    const breaker = gates.breakerOf(definition)
    const resumedAtMs = this.resumedAtMs(task)
    const begun = begin(
      task,
      this.owner,
      { breaker, attempts, timeoutMs, resumedAtMs, maxParkMs, budget: definition.policy.budget?.name, ask },
      now,
    )
    if (!isHeld(definition, begun)) return { ...begun, asked }
    return { task, denial: gates.denialOf(definition, task, asked, now) }
  }

  /** A parked task begins with the grant that the budget's line gave it. */
  startGranted(definition: Definition, task: TaskRecord, grant: Decision, now: number): Begun {
    const { attempts, timeoutMs } = definition.policy
    const breaker = this.gates.breakerOf(definition)
    const budget = definition.policy.budget?.name
    const rest = { resumedAtMs: undefined, isGranted: true, maxParkMs: undefined, budget }
    const begun = begin(task, this.owner, { breaker, attempts, timeoutMs, ...rest, ask: () => grant }, now)
    return isHeld(definition, begun) ? { ...unpark(task, now), epoch: 0 } : begun
  }

  /** Of a task that has no gates: nobody is asked. */
  startUngated({ policy }: Definition, task: TaskRecord, now: number): Begun {
    const none = {
      breaker: undefined,
      attempts: policy.attempts,
      timeoutMs: policy.timeoutMs,
      // Only a task that has failed is resumed.
      resumedAtMs: task.progress.retry.failures === 0 ? undefined : this.resumedAtMs(task),
      maxParkMs: undefined,
      budget: undefined,
      ask: notAsked,
    }
    return begin(task, this.owner, none, now)
  }
}

const notAsked = (): Decision => NO_BUDGET

/** Whether it did not begin because of a gate, and waits for it. */
function isHeld({ whenDenied }: Definition, { task }: Begun): boolean {
  if (whenDenied !== 'hold' || task.status !== 'failed') return false
  return task.stopReason === 'breaker_open' || task.stopReason === 'budget_denied'
}
