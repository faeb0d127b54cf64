/**
 * The answers of the ledger in memory: plain code over all rows, and so what the others' SQL is measured by.
 * Imports its own layer.
 */
import {
  type AnalyticsFilter,
  DEFAULT_EXAMPLES,
  DEFAULT_PATTERNS,
  type DelaySpent,
  type FailureExample,
  type FailurePattern,
  type LedgerAnalytics,
  type PatternFilter,
  type RecoveryFilter,
  type RecoveryRate,
  type ResumeStats,
  type TaskHistory,
  type Totals,
} from './analytics.js'
import type {
  LetterCountFilter,
  LetterPattern,
  LetterTotals,
  RunTask,
  RunTaskPage,
  TaskCount,
  WaitedRequest,
} from './figures.js'
import * as figures from './memory-figures.js'
import { compareText, groups } from './memory-figures.js'
import { isIn } from './memory-housekeeping.js'
import {
  type AttemptRow,
  type DeadLetter,
  nameOf,
  scopeOfRun,
  type StoredEvent,
  type TaskKey,
  type TaskRecord,
  type TaskStatus,
} from './records.js'

/** What there is to read. */
export interface Contents {
  tasks(): readonly TaskRecord[]
  attempts(key: TaskKey): readonly AttemptRow[]
  events(): readonly StoredEvent[]
  /** In order of time. */
  letters(): readonly DeadLetter[]
}

/** An attempt and its task. */
interface Entry {
  /** The task's, in order of creation. */
  readonly place: number
  readonly task: TaskRecord
  readonly row: AttemptRow
}

export class MemoryAnalytics implements LedgerAnalytics {
  private readonly contents: Contents

  constructor(contents: Contents) {
    this.contents = contents
  }

  async totals(filter: AnalyticsFilter = {}): Promise<Totals> {
    const tasks = this.tasks(filter)
    const byStatus: Partial<Record<TaskStatus, number>> = {}
    for (const { status } of tasks) byStatus[status] = (byStatus[status] ?? 0) + 1
    const { sinceMs = -Infinity } = filter
    const missing = tasks.map(({ compacted }) => (compacted && compacted.untilMs >= sinceMs ? compacted.attempts : 0))
    return {
      tasks: tasks.length,
      byStatus,
      attempts: this.entries(filter).length,
      compactedAttempts: sum(missing),
    }
  }

  async failurePatterns(filter: PatternFilter = {}): Promise<readonly FailurePattern[]> {
    const { limit = DEFAULT_PATTERNS, examples = DEFAULT_EXAMPLES } = filter
    const failures = this.entries(filter).filter(({ row }) => row.signature !== null)
    return [...groups(failures, ({ row }) => row.signature as string)]
      .map(([signature, entries]) => patternOf(signature, entries, examples))
      .toSorted((a, b) => b.count - a.count || compareText(a.signature, b.signature))
      .slice(0, Math.max(0, limit))
  }

  async recovery(filter: RecoveryFilter = {}): Promise<readonly RecoveryRate[]> {
    const ended = this.entries(filter).filter(
      ({ task, row }) => hasEnded(row) && (filter.generations !== 'last' || row.generation === task.generation),
    )
    return [...groups(ended, ({ row }) => row.attempt)]
      .map(([attempt, entries]) => {
        const succeeded = entries.filter(({ row }) => row.outcome === 'success').length
        return { attempt, reached: entries.length, succeeded, rate: succeeded / entries.length }
      })
      .toSorted((a, b) => a.attempt - b.attempt)
  }

  async delays(filter: AnalyticsFilter = {}): Promise<readonly DelaySpent[]> {
    const first = this.entries(filter).filter(({ row }) => row.execution === 1 && row.outcome !== 'denied')
    return [...groups(first, ({ row }) => `${row.scopeKind}\u0000${row.scope}`).values()]
      .map((entries) => {
        const { scopeKind, scope } = (entries[0] as Entry).row
        const waits = entries.map(({ row }) => row.delayBeforeMs).filter((delayMs) => delayMs > 0)
        const totalMs = sum(waits)
        const maxMs = waits.reduce((most, delayMs) => Math.max(most, delayMs), 0)
        const meanMs = waits.length === 0 ? 0 : totalMs / waits.length
        return { scopeKind, scope, attempts: entries.length, waits: waits.length, totalMs, meanMs, maxMs }
      })
      .toSorted((a, b) => compareText(a.scopeKind, b.scopeKind) || compareText(a.scope, b.scope))
  }

  async resumes(filter: AnalyticsFilter = {}): Promise<ResumeStats> {
    const entries = this.entries(filter)
    const interrupted = entries.filter(({ row }) => row.outcome === 'interrupted')
    const tasks = new Set(interrupted.map(({ task }) => task))
    const known = new Set(this.tasks(filter).map(nameOf))
    const resumed = this.contents
      .events()
      .filter((event) => event.type === 'resumed' && isWithin(event.atMs, filter) && known.has(nameOf(event)))
    const runs =
      filter.queue === undefined ? this.contents.events().filter((event) => isResumeOfRun(event, filter)) : []
    return {
      interruptedTasks: tasks.size,
      interruptions: interrupted.length,
      counted: interrupted.filter(({ row }) => row.signature !== null).length,
      reExecutions: entries.filter(({ row }) => row.execution > 1).length,
      resumedTasks: new Set(resumed.map(nameOf)).size,
      resumes: resumed.length,
      recovered: [...tasks].filter(({ status }) => status === 'succeeded').length,
      resumedRuns: new Set(runs.map(({ scope }) => scope)).size,
      runResumes: runs.length,
    }
  }

  async history(key: TaskKey): Promise<TaskHistory | undefined> {
    const isOf = (other: TaskKey | StoredEvent): boolean => nameOf(other) === nameOf(key)
    const task = this.contents.tasks().find(isOf)
    if (task === undefined) return undefined
    const events = this.contents.events().filter(isOf)
    const { scopeKind, scope, id, correlationId, compacted = null } = task
    return { scopeKind, scope, id, correlationId, attempts: [...this.contents.attempts(task)], events, compacted }
  }

  async tasksOfRun(run: string, exceptEnding?: string): Promise<readonly TaskCount[]> {
    return figures.tasksOfRun(this.tasks(scopeOfRun(run)), exceptEnding)
  }

  async lastSigns(run: string, startsMs: readonly number[]): Promise<readonly (number | null)[]> {
    return figures.lastSigns(this.rowsOf(run), startsMs)
  }

  async waitedMs(run: string, request: WaitedRequest): Promise<number> {
    return figures.waitedMs(this.rowsOf(run), request)
  }

  async letterTotals(filter: LetterCountFilter = {}): Promise<LetterTotals> {
    return figures.letterTotals(this.contents.letters(), filter)
  }

  async letterPatterns(filter: LetterCountFilter = {}): Promise<readonly LetterPattern[]> {
    return figures.letterPatterns(this.contents.letters(), filter)
  }

  async runHistory(run: string, { after, limit }: RunTaskPage): Promise<readonly RunTask[]> {
    const compare = (a: NonNullable<RunTaskPage['after']>, b: NonNullable<RunTaskPage['after']>): number =>
      a.createdAtMs - b.createdAtMs || compareText(a.id, b.id)
    return this.tasks(scopeOfRun(run))
      .filter((task) => after === undefined || compare(task, after) > 0)
      .toSorted(compare)
      .slice(0, limit)
      .map((task) => ({ task: { ...task, input: null }, attempts: [...this.contents.attempts(task)] }))
  }

  private rowsOf(run: string): AttemptRow[] {
    return this.tasks(scopeOfRun(run)).flatMap((task) => this.contents.attempts(task))
  }

  private tasks(filter: AnalyticsFilter): readonly TaskRecord[] {
    const { queue } = filter
    return this.contents.tasks().filter((task) => isIn(task, filter) && (queue === undefined || task.queue === queue))
  }

  private entries(filter: AnalyticsFilter): Entry[] {
    return this.tasks(filter).flatMap((task, place) =>
      this.contents
        .attempts(task)
        .filter(({ endedAtMs }) => isWithin(endedAtMs, filter))
        .map((row) => ({ place, task, row })),
    )
  }
}

function patternOf(signature: string, entries: readonly Entry[], examples: number): FailurePattern {
  const tasks = [...new Set(entries.map(({ task }) => task))]
  const times = entries.map(({ row }) => row.endedAtMs)
  return {
    signature,
    count: entries.length,
    firstAtMs: times.reduce((least, time) => Math.min(least, time)),
    lastAtMs: times.reduce((most, time) => Math.max(most, time)),
    tasks: tasks.length,
    recovered: tasks.filter(({ status }) => status === 'succeeded').length,
    failed: tasks.filter(({ status }) => status === 'failed').length,
    examples: entries.toSorted(latestFirst).slice(0, Math.max(0, examples)).map(exampleOf),
  }
}

function exampleOf({ task, row }: Entry): FailureExample {
  const { scopeKind, scope, id, generation, attempt, execution, endedAtMs, failure } = row
  const { correlationId } = task
  const message = failure?.message ?? ''
  return { scopeKind, scope, id, generation, attempt, execution, atMs: endedAtMs, message, correlationId }
}

function latestFirst(a: Entry, b: Entry): number {
  return (
    b.row.endedAtMs - a.row.endedAtMs ||
    b.place - a.place ||
    b.row.generation - a.row.generation ||
    b.row.attempt - a.row.attempt ||
    b.row.execution - a.row.execution
  )
}

/** One that was interrupted without being counted is made again. */
function hasEnded({ outcome, signature }: AttemptRow): boolean {
  return outcome !== 'denied' && (outcome !== 'interrupted' || signature !== null)
}

function isWithin(atMs: number, { sinceMs = -Infinity, untilMs = Infinity }: AnalyticsFilter): boolean {
  return atMs >= sinceMs && atMs < untilMs
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function isResumeOfRun(event: StoredEvent, filter: AnalyticsFilter): boolean {
  const { scopeKind = event.scopeKind, scope = event.scope } = filter
  if (event.type !== 'run_resumed' || !isWithin(event.atMs, filter)) return false
  return event.scopeKind === scopeKind && event.scope === scope
}
