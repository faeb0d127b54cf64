/**
 * The one way to change a task that is recorded. It locks the task with its gates and, where the task belongs to a run,
 * the run; checks that the task may be changed; makes the gates what the ledger says; lets a *transition* decide; gives
 * back what the attempt in flight held of the gates; and writes all of it in one commit. Imports the ledger's port and
 * its own layer.
 *
 * Invariants: a transition may be asked several times, and only its last answer is written. A transition with `heldAs`
 * changes nothing once the fence or the owner of the task has changed. What observers hear comes after the commit.
 */
import type { Decided, Keys, Ledger, View } from '../ledger/ledger.js'
import type { TaskKey, TaskRecord } from '../ledger/records.js'
import { type Definition, expectConductor, isConducted, runsOf } from './definition.js'
import { TaskRefusedError } from './errors.js'
import type { GateBook } from './gate-book.js'
import { retryWhileBusy } from './persistence.js'
import type { Settled } from './transitions.js'

/** What a transition decides upon. */
export interface TaskView {
  /** As it is, locked until the commit. */
  readonly task: TaskRecord
  /** The ledger's time. */
  readonly now: number
  /** Whether this process may begin attempts of the task: no other process conducts its run. */
  readonly isConducted: boolean
  /** False if the budget is this process's own, and remembers what an undone transaction told it. */
  readonly isBudgetFresh: boolean
}

/** What is written, and what the caller gets once it is. */
export interface Transitioned<T> {
  readonly changes: Settled
  readonly result: T
}

export interface Transition<T> {
  readonly definition: Definition
  readonly key: TaskKey
  /**
   * The task as this process knows it: nothing is written if its fence or owner is another one by now. Absent for a change
   * that somebody asks for, which applies to the task as it is, while this process conducts its run.
   */
  readonly heldAs?: TaskRecord
  /** The transition itself tells the gates how the attempt in flight ended. */
  readonly settlesGates?: boolean
  /** Written again while the store is busy, until this process stops: the outcome of an attempt must not be lost. */
  readonly isOutcome?: boolean
  /** Undefined: nothing is to be changed. */
  readonly decide: (view: TaskView) => Transitioned<T> | undefined
}

export interface TaskWriterPorts {
  readonly ledger: Ledger
  readonly gates: GateBook
  /** This process. */
  readonly owner: string
  readonly isStopped: () => boolean
}

export class TaskWriter {
  private readonly ports: TaskWriterPorts

  constructor(ports: TaskWriterPorts) {
    this.ports = ports
  }

  /** Undefined if nothing was changed: another process has the task, or the transition has found nothing to do. */
  async write<T>(transition: Transition<T>): Promise<T | undefined> {
    const { ledger, gates, isStopped } = this.ports
    const { definition, isOutcome } = transition
    const keys = this.keysOf(transition)
    const decide = (view: View): Decided<Transitioned<T> | undefined> => {
      const task = taskToChange(transition, view)
      const decided = task && this.decide(transition, task, view)
      return decided === undefined
        ? { result: undefined }
        : { ...decided.changes, gates: gates.records(definition), result: decided }
    }
    const commit = (): Promise<Transitioned<T> | undefined> => ledger.transact(keys, decide)
    const written = await (isOutcome ? retryWhileBusy(commit, isStopped) : commit())
    if (written === undefined) return undefined
    gates.committed(definition)
    return written.result
  }

  /**
   * The same for a task that a claim has found and locked. The claim commits it with the others that it has claimed, so a
   * transition must not throw here. Undefined if the transition has found nothing to do.
   */
  decideClaimed<T>(
    definition: Definition,
    task: TaskRecord,
    view: View,
    decide: Transition<T>['decide'],
  ): Decided<T> | undefined {
    const decided = this.decide({ definition, key: task, heldAs: task, decide }, task, view)
    return decided && { ...decided.changes, gates: this.ports.gates.records(definition), result: decided.result }
  }

  private keysOf({ definition, key }: Transition<unknown>): Keys {
    return { tasks: [key], gates: this.ports.gates.keysOf(definition), runs: runsOf(definition) }
  }

  private decide<T>(transition: Transition<T>, task: TaskRecord, view: View): Transitioned<T> | undefined {
    const { gates, owner } = this.ports
    const { definition, heldAs, settlesGates } = transition
    const isBudgetFresh = gates.refresh(definition, view)
    const { now } = view
    const decided = transition.decide({
      task,
      now,
      get isConducted() {
        return isConducted(definition, view)
      },
      isBudgetFresh,
    })
    if (decided === undefined || settlesGates) return decided
    // A process that lives and has the task hears of the change, and gives back itself what its own budget granted.
    const isElsewhere = heldAs === undefined && task.owner !== null && task.owner !== owner
    gates.giveUp(definition, task, decided.changes.task, now, isElsewhere)
    return decided
  }
}

/** The task, if this transition may change it. */
function taskToChange({ definition, key, heldAs }: Transition<unknown>, view: View): TaskRecord | undefined {
  if (heldAs !== undefined) {
    const task = view.task(key)
    return task?.fence === heldAs.fence && task.owner === heldAs.owner ? task : undefined
  }
  if (definition.conductor !== undefined) expectConductor(view.run(key.scope), key.scope, definition.conductor)
  const task = view.task(key)
  if (task === undefined) throw new TaskRefusedError('not_found', `There is no task ${key.scope}/${key.id}`)
  return task
}

/** Two changes of one task in one commit, one after the other: the second says what the task is. */
export function inOneCommit(first: Settled, second: Settled): Settled {
  return {
    ...second,
    attempts: [...(first.attempts ?? []), ...(second.attempts ?? [])],
    dead: [...(first.dead ?? []), ...(second.dead ?? [])],
    events: [...(first.events ?? []), ...(second.events ?? [])],
  }
}
