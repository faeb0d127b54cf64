/**
 * What the ends of workflows mean at their datacenter: counts, workflows that may start now or never will, and the report
 * of a datacenter whose last workflow has ended. Pure. Imports the rules and the records.
 *
 * Invariant: the counts of a datacenter are the ends of its tasks at every commit (J3), so every transaction that ends or
 * resets a workflow goes through `followEnds`, with the run of the datacenter locked.
 */
import type { TaskRecord, View } from 'reprise/durable'
import { cancelledTask, type Changes } from 'reprise/internal'
import { type DatacenterRun, runOfDatacenter } from '../record/datacenter-record.js'
import { HELD_UNTIL_MS, timerKey, workflowKey } from '../record/names.js'
import { againAt, newTimer } from '../record/queue-shapes.js'
import { skippedFailure, workflowEnd, workflowInputOf } from '../record/workflow-record.js'
import { datacenterEnd, type WorkflowCounts } from '../rules/datacenter-end.js'
import { jobEvent, type JobEvent } from './job-event.js'
import { datacenterStatus } from './run-status.js'

/** A workflow as it was and as it is written. */
export interface WorkflowChange {
  readonly before: TaskRecord
  readonly after: TaskRecord
}

/**
 * The run of the datacenter, and tasks of other workflows, as they are to be; the changed workflows are not among them.
 * `alone`: no other workflow is changed, since the caller ends all of them.
 */
export function followEnds(
  view: View,
  datacenter: DatacenterRun,
  changes: readonly WorkflowChange[],
  now: number,
  reach: 'downstream' | 'alone' = 'downstream',
): Changes {
  const ends = new DatacenterEnds(view, datacenter, changes, now)
  for (const change of changes) ends.count(change)
  if (reach === 'downstream') for (const change of changes) ends.passOn(change)
  return ends.changes()
}

class DatacenterEnds {
  private readonly view: View
  private readonly datacenter: DatacenterRun
  private readonly now: number
  private readonly counts: { -readonly [K in keyof WorkflowCounts]: number }
  private readonly blocked: Map<string, number>
  /** Tasks that the caller writes: they are never changed here. */
  private readonly own: ReadonlySet<string>
  private readonly others = new Map<string, TaskRecord>()
  private readonly events: JobEvent[] = []
  private denied: number

  constructor(view: View, datacenter: DatacenterRun, changes: readonly WorkflowChange[], now: number) {
    const { counts, blocked, denied } = datacenter.detail
    this.view = view
    this.datacenter = datacenter
    this.now = now
    this.counts = { ...counts }
    this.blocked = new Map(Object.entries(blocked))
    this.denied = denied
    this.own = new Set(changes.map(({ after }) => after.id))
  }

  count({ before, after }: WorkflowChange): void {
    const [from, to] = [workflowEnd(before), workflowEnd(after)]
    if (from !== null) this.counts[from]--
    if (to !== null) this.counts[to]++
    if (to !== 'failed' || after.stopReason !== 'budget_denied') return
    this.denied++
    this.events.push(exhaustedEvent(this.datacenter, after, this.now))
  }

  /** A success may let others start; any other end skips what needs the workflow. */
  passOn({ after }: WorkflowChange): void {
    const end = workflowEnd(after)
    if (end === null) return
    const { dependents, downstream } = workflowInputOf(after)
    if (end === 'succeeded') for (const name of dependents) this.release(name)
    else for (const name of downstream) this.skip(name, after)
  }

  private release(name: string): void {
    const left = (this.blocked.get(name) ?? 0) - 1
    if (left > 0) this.blocked.set(name, left)
    if (left !== 0) return
    this.blocked.delete(name)
    const task = this.taskOf(name)
    if (task?.status !== 'waiting' || task.dueAtMs !== HELD_UNTIL_MS) return
    this.others.set(name, { ...task, dueAtMs: this.now, updatedAtMs: this.now })
  }

  private skip(name: string, cause: TaskRecord): void {
    const task = this.taskOf(name)
    this.blocked.delete(name)
    if (task === undefined || this.own.has(name) || workflowEnd(task) !== null) return
    const noted = { ...task, progress: { ...task.progress, lastFailure: skippedFailure(cause) } }
    const { task: skipped, events = [] } = cancelledTask(noted, this.now)
    this.others.set(name, skipped)
    this.events.push(...events)
    this.counts.skipped++
  }

  private taskOf(name: string): TaskRecord | undefined {
    if (this.own.has(name)) return undefined
    return this.others.get(name) ?? this.view.task(workflowKey(this.datacenter.id, name))
  }

  changes(): Changes {
    const { datacenter, counts, denied, now, events } = this
    const { detail } = datacenter
    const end = datacenterEnd(counts)
    const isOver = end !== null && detail.end === null
    const run: DatacenterRun = {
      ...datacenter,
      status: end === null ? 'running' : datacenterStatus(end),
      detail: { ...detail, counts, denied, end, blocked: Object.fromEntries(this.blocked) },
      updatedAtMs: now,
      endedAtMs: end === null ? null : (datacenter.endedAtMs ?? now),
    }
    const report = isOver ? reportOf(this.view, run, now) : {}
    return {
      runs: [{ run: runOfDatacenter(run) }],
      ...report,
      events: [...events, ...(report.events ?? [])],
      tasks: [...this.others.values(), ...(report.tasks ?? [])],
    }
  }
}

/** The task that reports the datacenter; one that has reported before does so once more. */
export function reportOf(view: View, { name, detail, correlationId }: DatacenterRun, now: number): Changes {
  const { job } = detail
  const before = view.task(timerKey(job, 'report', name))
  if (before === undefined) {
    return { created: [newTimer({ kind: 'report', job, datacenter: name, dueAtMs: now, correlationId }, now)] }
  }
  return before.status === 'waiting' || before.status === 'running' ? {} : againAt(before, now, now)
}

function exhaustedEvent({ detail, name, correlationId }: DatacenterRun, task: TaskRecord, now: number): JobEvent {
  const { budgetReason, budgetDenial } = task.progress
  const about = { datacenter: name, workflow: task.id, reason: budgetReason ?? '', denial: budgetDenial ?? null }
  return jobEvent('RetryBudgetExhausted', { id: detail.job, correlationId }, about, now)
}
