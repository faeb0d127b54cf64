/**
 * How an attempt begins: whom it asks, and what that makes of the task. Used inside transactions. Imports core and its
 * own layer.
 */
import type { Decision } from '../core/budget.js'
import { DEFAULT_MAX_PARK_MS, NO_BUDGET } from '../core/gate.js'
import type { TaskRecord } from '../ledger/records.js'
import type { Definition } from './definition.js'
import type { GateBook } from './gate-book.js'
import { begin, type Begun } from './transitions.js'

export interface Started extends Begun {
  /** What the budget said, if it was asked. */
  readonly asked: Decision | undefined
}

export class Beginning {
  private readonly gates: GateBook
  private readonly owner: string
  private readonly resumedAtMs: (task: TaskRecord) => number | undefined

  /** `resumedAtMs`: when a task that waits was taken up again by this process, if it was. */
  constructor(gates: GateBook, owner: string, resumedAtMs: (task: TaskRecord) => number | undefined) {
    this.gates = gates
    this.owner = owner
    this.resumedAtMs = resumedAtMs
  }

  /** Asks whoever must be asked. The gates have been refreshed. */
  start(definition: Definition, task: TaskRecord, now: number): Started {
    const { gates } = this
    const budget = gates.budgetOf(definition)
    const maxParkMs = budget?.park === undefined ? undefined : (budget.maxParkMs ?? DEFAULT_MAX_PARK_MS)
    const { attempts, timeoutMs } = definition.policy
    let asked: Decision | undefined
    const ask = (): Decision => (asked = gates.ask(definition, task, now))
    const breaker = gates.breakerOf(definition)
    const resumedAtMs = this.resumedAtMs(task)
    const begun = begin(task, this.owner, { breaker, attempts, timeoutMs, resumedAtMs, maxParkMs, ask }, now)
    gates.giveUp(definition, task, begun.task, now)
    return { ...begun, asked }
  }

  /** A task that was parked begins, with what the line gave it. */
  granted(definition: Definition, task: TaskRecord, grant: Decision, now: number): Begun {
    const { attempts, timeoutMs } = definition.policy
    const breaker = this.gates.breakerOf(definition)
    const ask = (): Decision => grant
    const rest = { resumedAtMs: undefined, isGranted: true, maxParkMs: undefined }
    return begin(task, this.owner, { breaker, attempts, timeoutMs, ...rest, ask }, now)
  }

  /** A new task as it is while its first attempt runs; for one that asks nobody. */
  free({ policy }: Definition, task: TaskRecord, now: number): TaskRecord {
    const nobody = { breaker: undefined, resumedAtMs: undefined, maxParkMs: undefined, ask: () => NO_BUDGET }
    return begin(task, this.owner, { ...nobody, attempts: policy.attempts, timeoutMs: policy.timeoutMs }, now).task
  }
}
