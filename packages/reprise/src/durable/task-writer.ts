/**
 * The one way to change a task that is recorded. It locks the task with its gates, the run that it belongs to and the
 * rows of its group; checks that the task may be changed; makes the gates what the ledger says; lets a *transition*
 * decide; gives back what the attempt in flight held of the gates; asks the group what the change means for it; and
 * writes all of it in one commit. Imports the ledger's port and its own layer.
 *
 * Invariants: a transition may be asked several times, and only its last answer is written. A transition with `heldAs`
 * changes nothing once the fence, the owner or the status of the task has changed. What observers hear comes after the
 * commit. The class of a task that has a group changes in `write` alone, never in a claim.
 */
import type { Changes, Decided, Keys, Ledger, View } from '../ledger/ledger.js'
import { type GateRecord, type Json, nameOf, type TaskKey, type TaskRecord } from '../ledger/records.js'
import { AllotmentCount, ruleOf } from './allotment.js'
import type { TaskRetryGates } from './denials.js'
import { type Definition, expectConductor, isConducted, isShared, runsOf } from './definition.js'
import { TaskRefusedError } from './errors.js'
import type { GateBook } from './gate-book.js'
import { changeOf, concerns } from './group.js'
import { LayeredView } from './layered-view.js'
import { isTransient, retryWhileBusy } from './persistence.js'
import { faultsOfShape } from './task-shape.js'
import { withGroup } from './together.js'
import { eventOf, freshProgress, type Settled } from './transitions.js'

/** What a transition decides upon. */
export interface TaskView {
  /** As it is, locked until the commit. */
  readonly task: TaskRecord
  /** The ledger's time. */
  readonly now: number
  /** The attempt has been charged as lost meanwhile, and nobody has claimed the task since: it is waiting. */
  readonly isLate: boolean
  /** Whether this process may begin attempts of the task: no other process conducts its run. */
  readonly isConducted: boolean
  /** False if the budget is this process's own, and remembers what an undone transaction told it. */
  readonly isBudgetFresh: boolean
  /** What may forbid a retry: breaker, budget and, in a transition that `mayRetry`, the allotment. */
  readonly retryGates: TaskRetryGates
  /** Whether the allotment has granted a retry that costs nothing. */
  readonly isFree: boolean
  /** Why nothing may begin with these gates, or be charged to this allotment: what is recorded of them cannot be. */
  readonly gateFaults: readonly string[]
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
   * The task as this process knows it: nothing is written if its fence, owner or status is another one by now. Absent for
   * a change that somebody asks for, which applies to the task as it is, while this process conducts its run.
   */
  readonly heldAs?: TaskRecord
  /** The transition itself tells the gates how the attempt in flight ended. */
  readonly settlesGates?: boolean
  /** The transition may decide a retry: the count that the retry is charged to is locked. */
  readonly mayRetry?: boolean
  /** What the rule of the allotment has read for a task that asks again for its grant. */
  readonly surveyed?: Json
  /** Written again while the store is busy, until this process stops: the outcome of an attempt must not be lost. */
  readonly isOutcome?: boolean
  /** A process that was taken for lost may still write the result: see `isLate`. */
  readonly acceptsLate?: boolean
  /** Also for a task whose progress cannot be: it is ended, or begins afresh. Other changes by hand refuse it. */
  readonly mends?: boolean
  /** The task can only succeed: rows of a group that is not concerned by successes are not locked. */
  readonly isSuccess?: boolean
  /** Undefined: nothing is to be changed. */
  readonly decide: (view: TaskView) => Transitioned<T> | undefined
}

export interface TaskWriterPorts {
  readonly ledger: Ledger
  readonly gates: GateBook
  /** This process. */
  readonly owner: string
  readonly isStopped: () => boolean
  /** An outcome could not be written, since the store is busy or away (`1`), and has been written, or given up (`-1`). */
  readonly onOutcomeWaits: (change: 1 | -1) => void
  /** The group of a task has changed other tasks or created some, and this was committed. */
  readonly onGroupChanged: (changes: Changes) => void
}

/** A transition with what it means for the group of the task. */
interface PendingWrite<T> extends Transitioned<T> {
  /** As they are to be written. */
  readonly gates: readonly GateRecord[]
  readonly groupChanges: Changes | undefined
  /** The count of the allotment was asked, and can be restored. */
  readonly isCountMissing: boolean
}

export class TaskWriter {
  private readonly ports: TaskWriterPorts

  constructor(ports: TaskWriterPorts) {
    this.ports = ports
  }

  /** Undefined if nothing was changed: another process has the task, or the transition has found nothing to do. */
  async write<T>(transition: Transition<T>): Promise<T | undefined> {
    const { ledger, gates, onGroupChanged } = this.ports
    const { definition, isOutcome } = transition
    const keys = hasGroup(transition) ? await this.keysWithGroup(transition) : this.keysOf(transition)
    let isCountMissing = false
    let isRestored = false
    const decide = (view: View): Decided<PendingWrite<T> | undefined> => {
      const task = taskToChange(transition, view)
      const written = task && this.decide(transition, task, view)
      isCountMissing = written?.isCountMissing === true
      if (written === undefined || (isCountMissing && !isRestored)) return { result: undefined }
      return { ...changesOf(written), result: written }
    }
    const commit = async (): Promise<PendingWrite<T> | undefined> => {
      const written = await ledger.transact(keys, decide)
      if (!isCountMissing || isRestored) return written
      await this.restoreCount(transition)
      isRestored = true
      return ledger.transact(keys, decide)
    }
    const written = await (isOutcome ? this.writeOutcome(commit) : commit())
    if (written === undefined) return undefined
    gates.committed(definition)
    if (written.groupChanges !== undefined) onGroupChanged(written.groupChanges)
    return written.result
  }

  /** An outcome that the store was too busy to take is written again until it is taken, or this process stops. */
  writeOutcomeAgain<T>(commit: () => Promise<T>, error: unknown): Promise<T> {
    return isTransient(error) && !this.ports.isStopped() ? this.writeOutcome(commit, true) : Promise.reject(error)
  }

  private async writeOutcome<T>(commit: () => Promise<T>, isAgain = false): Promise<T> {
    const { isStopped, onOutcomeWaits } = this.ports
    let hasFailed = isAgain
    if (isAgain) onOutcomeWaits(1)
    const noteFailure = (): void => {
      if (!hasFailed) onOutcomeWaits(1)
      hasFailed = true
    }
    try {
      return await retryWhileBusy(commit, isStopped, noteFailure)
    } finally {
      if (hasFailed) onOutcomeWaits(-1)
    }
  }

  /**
   * The same for several tasks of one definition, in one commit: each transition sees what those before it have decided.
   * The answers are in the order of the transitions, undefined for those that have changed nothing.
   */
  async writeAll<T>(transitions: readonly Transition<T>[]): Promise<readonly (T | undefined)[]> {
    const { ledger, gates, onGroupChanged } = this.ports
    const [first] = transitions
    if (first === undefined) return []
    const keys = await this.keysOfAll(transitions)
    let lacking: Transition<T> | undefined
    let isRestored = false
    const decide = (view: View): Decided<readonly (PendingWrite<T> | undefined)[]> => {
      lacking = undefined
      const layers = new LayeredView(view)
      const written = transitions.map((transition) => {
        const one = this.decideIn(transition, layers)
        if (one?.isCountMissing === true) lacking ??= transition
        return one
      })
      return lacking !== undefined && !isRestored ? { result: [] } : { ...layers.changes(), result: written }
    }
    const commit = async (): Promise<readonly (PendingWrite<T> | undefined)[]> => {
      const written = await ledger.transact(keys, decide)
      if (lacking === undefined) return written
      await this.restoreCount(lacking)
      isRestored = true
      return ledger.transact(keys, decide)
    }
    const written = await (first.isOutcome ? this.writeOutcome(commit) : commit())
    gates.committed(first.definition)
    for (const one of written) if (one?.groupChanges !== undefined) onGroupChanged(one.groupChanges)
    return written.map((one) => one?.result)
  }

  /** Adds what the transition decides to the layers. */
  private decideIn<T>(transition: Transition<T>, layers: LayeredView): PendingWrite<T> | undefined {
    const task = taskToChange(transition, layers)
    const written = task && this.decide(transition, task, layers)
    if (written !== undefined) layers.add(changesOf(written))
    return written
  }

  /** The row of the count is gone: what the tasks say of it is written before its absence denies a retry. */
  private async restoreCount({ definition, heldAs }: Transition<unknown>): Promise<void> {
    await (definition.allot && heldAs && ruleOf(definition.allot).restore?.(heldAs))
  }

  private async keysOfAll(transitions: readonly Transition<unknown>[]): Promise<Keys> {
    const all = await Promise.all(
      transitions.map(async (one): Promise<Keys> => (hasGroup(one) ? this.keysWithGroup(one) : this.keysOf(one))),
    )
    return {
      tasks: [...new Map(all.flatMap(({ tasks }) => tasks).map((key) => [nameOf(key), key])).values()],
      gates: [...new Set(all.flatMap(({ gates = [] }) => gates))],
      runs: [...new Set(all.flatMap(({ runs = [] }) => runs))],
    }
  }

  /**
   * The same for a task that a claim has found and locked. The claim commits it with the others that it has claimed, so a
   * transition must not throw here. Undefined if the task would change its class, and so its group, whose rows a claim
   * does not have: then the claim leaves it alone, and the transition goes through `write`. Undefined as well if the
   * transition has found nothing to do.
   */
  decideClaimed<T>(
    definition: Definition,
    task: TaskRecord,
    view: View,
    decide: (view: TaskView) => Transitioned<T> | undefined,
  ): Decided<T> | undefined {
    const { gates } = this.ports
    const decided = decide(this.viewOf({ definition, heldAs: task }, task, view, undefined))
    if (decided === undefined) return undefined
    const { changes, result } = decided
    if (definition.group !== undefined && changeOf(definition.group, task, changes.task) !== undefined) return undefined
    gates.giveUp(definition, task, changes.task, view.now)
    return { ...withBreakerChange(changes, gates, definition, view.now), gates: gates.records(definition), result }
  }

  private keysOf({ definition, key, mayRetry, heldAs }: Transition<unknown>): Required<Keys> {
    const gates = this.ports.gates.keysOf(definition)
    // Who may retry a task has it.
    if (mayRetry && definition.allot !== undefined && heldAs !== undefined)
      gates.push(ruleOf(definition.allot).key(heldAs))
    return { tasks: [key], gates, runs: runsOf(definition) }
  }

  /** The record of the task is needed, since its input may say which rows the group has. */
  private async keysWithGroup(transition: Transition<unknown>): Promise<Keys> {
    const { definition, key, heldAs } = transition
    const { tasks, gates, runs } = this.keysOf(transition)
    const task = heldAs ?? (await this.ports.ledger.get(key))
    // Not there yet, or not any more: another process may record it before the transaction, without the rows of its group.
    if (task === undefined) throw notFound(key)
    const group = definition.group?.keys(task)
    return {
      tasks: [...tasks, ...(group?.tasks ?? [])],
      gates: [...gates, ...(group?.gates ?? [])],
      runs: [...runs, ...(group?.runs ?? [])],
    }
  }

  /** Refreshes the gates: to be called first in every transaction. */
  private viewOf(
    { definition, heldAs }: Pick<Transition<unknown>, 'definition' | 'heldAs'>,
    task: TaskRecord,
    view: View,
    count: AllotmentCount | undefined,
  ): TaskView {
    const { gates } = this.ports
    const isBudgetFresh = gates.refresh(definition, view)
    const isLate = heldAs !== undefined && task.status !== heldAs.status
    return new LockedTask({ definition, gates, view, count }, task, isLate, isBudgetFresh)
  }

  private decide<T>(transition: Transition<T>, task: TaskRecord, view: View): PendingWrite<T> | undefined {
    const { gates, owner } = this.ports
    const { definition, heldAs, settlesGates, mayRetry } = transition
    const isCharged = mayRetry && definition.allot !== undefined && task.progress.uncharged !== true
    const { surveyed } = transition
    const count = isCharged ? new AllotmentCount(ruleOf(definition.allot), task, view, surveyed) : undefined
    const decided = transition.decide(this.viewOf(transition, task, view, count))
    if (decided === undefined) return undefined
    const { result } = decided
    const kept = withNotes(definition, decided.changes, task, count?.denial)
    const changes = definition.keepsNoLetters ? withoutLetters(kept) : kept
    // A process that lives and has the task hears of the change, and gives back itself what its own budget granted.
    const isElsewhere = heldAs === undefined && task.owner !== null && task.owner !== owner
    if (!settlesGates) gates.giveUp(definition, task, changes.task, view.now, isElsewhere)
    const own = gates.records(definition)
    const noted = withBreakerChange(changes, gates, definition, view.now)
    const records = count === undefined ? own : [...own, ...count.records()]
    const change = definition.group && changeOf(definition.group, task, changes.task)
    // The group may change a gate that this change has charged: it sees the row with the charge, and keeps it so.
    const groupChanges = change && definition.group?.follow(withGates(view, records), change, view.now)
    return { changes: noted, result, groupChanges, gates: records, isCountMissing: count?.isMissing === true }
  }
}

/** Whether the rows of the task's group have to be locked. */
function hasGroup({ definition: { group }, isSuccess }: Transition<unknown>): boolean {
  return group !== undefined && (!isSuccess || concerns(group, 'succeeded'))
}

interface LockedTaskParts {
  readonly definition: Definition
  readonly gates: GateBook
  readonly view: View
  readonly count: AllotmentCount | undefined
}

/** A class, since there is one for every transaction: getters of its prototype cost nothing until they are asked. */
class LockedTask implements TaskView {
  readonly task: TaskRecord
  readonly now: number
  readonly isLate: boolean
  readonly isBudgetFresh: boolean
  private readonly parts: LockedTaskParts

  constructor(parts: LockedTaskParts, task: TaskRecord, isLate: boolean, isBudgetFresh: boolean) {
    this.task = task
    this.now = parts.view.now
    this.isLate = isLate
    this.isBudgetFresh = isBudgetFresh
    this.parts = parts
  }

  get isConducted(): boolean {
    return isConducted(this.parts.definition, this.parts.view)
  }

  get retryGates(): TaskRetryGates {
    const { definition, gates, count } = this.parts
    const retryGates = gates.retryGates(definition, this.task, this.now)
    return count === undefined ? retryGates : { ...retryGates, allot: () => count.charge(this.task) }
  }

  get isFree(): boolean {
    return this.parts.count?.isFree === true
  }

  get gateFaults(): readonly string[] {
    const { definition, gates, count } = this.parts
    return [...(count?.faults ?? []), ...gates.faultsOf(definition)]
  }
}

/** The task, if this transition may change it. */
function taskToChange(transition: Transition<unknown>, view: View): TaskRecord | undefined {
  const { definition, key, heldAs, acceptsLate } = transition
  if (heldAs !== undefined) {
    const task = view.task(key)
    if (task?.fence !== heldAs.fence) return undefined
    const isHeld = task.owner === heldAs.owner && task.status === heldAs.status
    const isLate = acceptsLate && task.status === 'waiting' && task.progress.lost !== undefined
    return isHeld || isLate ? task : undefined
  }
  if (definition.conductor !== undefined && !isShared(definition))
    expectConductor(view.run(key.scope), key.scope, definition.conductor)
  const task = view.task(key)
  if (task === undefined) throw notFound(key)
  const faults = faultsOfShape(task.progress)
  if (faults.length === 0) return task
  if (!transition.mends) throw TaskRefusedError.ofState(task, faults)
  return { ...task, progress: freshProgress(0) }
}

function notFound({ scope, id }: TaskKey): TaskRefusedError {
  return new TaskRefusedError('not_found', `There is no task ${scope}/${id}`)
}

/** The same rows, with these gates as they are to be written. */
function withGates(view: View, gates: readonly GateRecord[]): View {
  if (gates.length === 0) return view
  return {
    now: view.now,
    task: (key) => view.task(key),
    run: (id) => view.run(id),
    gate: (key) => {
      const named = view.gate(key)
      return gates.find((gate) => gate.key === key) ?? named
    },
  }
}

/** At most this many processes are remembered of those that failed a task. */
const MOST_FAILED_ON = 8

/** With what the allotment keeps of its denial, and with the process that failed the task where others are preferred. */
function withNotes(definition: Definition, changes: Settled, before: TaskRecord, denial: Json | undefined): Settled {
  const { task } = changes
  const isFailure = task.progress.retry.failures > before.progress.retry.failures
  const owner = definition.prefersOthers && isFailure && task.status === 'waiting' ? before.owner : null
  const isDenied = denial !== undefined && task.stopReason === 'budget_denied'
  if (owner === null && !isDenied) return changes
  const { failedOn = [] } = task.progress
  const failed = owner === null ? [] : [...failedOn.filter((one) => one !== owner), owner].slice(-MOST_FAILED_ON)
  const progress = {
    ...task.progress,
    ...(isDenied && { budgetDenial: denial }),
    ...(owner !== null && { failedOn: failed }),
  }
  const noted = { ...task, progress }
  return { ...changes, task: noted, tasks: [noted] }
}

/** With an event if the breaker has changed its phase: it is recorded with the task that has changed it. */
function withBreakerChange(changes: Settled, gates: GateBook, definition: Definition, now: number): Settled {
  const change = gates.breakerChange(definition)
  if (change === undefined) return changes
  return { ...changes, events: [...(changes.events ?? []), eventOf('breaker_changed', changes.task, now, change)] }
}

/** A task that fails without a dead letter: it is acknowledged from the first. */
function withoutLetters(changes: Settled): Settled {
  const { dead = [], task } = changes
  if (dead.length === 0 || task.status !== 'failed') return changes
  const acknowledged = { ...task, progress: { ...task.progress, acknowledged: true } }
  return { ...changes, task: acknowledged, tasks: [acknowledged], dead: [] }
}

/** What is written, with what it means for the group. */
function changesOf({ changes, gates, groupChanges }: PendingWrite<unknown>): Changes {
  const own = { ...changes, gates }
  return groupChanges === undefined ? own : withGroup(own, groupChanges)
}
