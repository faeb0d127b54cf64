/**
 * A run as another process conducts it, told in the words of one that is conducted here: what has changed since the last
 * look becomes events. Imports the library and the shapes.
 */
import { type Ledger, livingOwners, type TaskRecord } from 'reprise/durable'
import type { RunEvent } from '../run/run-event.js'
import { type RunReader, viewRun } from './read-runs.js'
import { taskState } from './step-look.js'
import type { RunDetail, RunState, StepView } from './views.js'

const ENDED: ReadonlySet<RunState> = new Set([
  'succeeded',
  'completed_with_failures',
  'failed',
  'cancelled',
  'interrupted',
])

export class RunWatcher {
  private readonly reader: RunReader
  private readonly run: string
  private readonly seen = new Map<string, TaskRecord>()
  private mark: number | undefined = undefined
  private started = false
  /** Nothing more will happen by itself. */
  isOver = false

  constructor(reader: RunReader, run: string) {
    this.reader = reader
    this.run = run
  }

  /** What has happened since the last look; undefined if there is no such run. */
  async look(): Promise<RunEvent[] | undefined> {
    const { ledger } = this.reader
    const mark = await ledger.changeMark()
    // Whether its process lives can change without anybody writing.
    if (mark === this.mark && this.started && !(await this.isLost(ledger))) return []
    this.mark = mark
    const detail = await viewRun(this.reader, this.run)
    if (detail === undefined) return undefined
    const events: RunEvent[] = []
    const now = await ledger.now()
    if (!this.started) events.push(startOf(detail, now))
    const tasks = await ledger.list({ run: this.run })
    const steps = new Map(detail.steps.map((step) => [step.id, step]))
    for (const task of tasks) events.push(...this.changesOf(task, steps.get(task.id), now))
    this.started = true
    this.isOver = ENDED.has(detail.state)
    if (this.isOver) events.push(endOf(detail, now))
    return events
  }

  private async isLost(ledger: Ledger): Promise<boolean> {
    const run = await ledger.run(this.run)
    if (run?.status !== 'running') return false
    return run.owner === null || !(await livingOwners(ledger)).has(run.owner)
  }

  private changesOf(task: TaskRecord, step: StepView | undefined, now: number): RunEvent[] {
    const before = this.seen.get(task.id)
    this.seen.set(task.id, task)
    if (before?.fence === task.fence && before.status === task.status && before.generation === task.generation)
      return []
    // What had ended before the first look is told with the start.
    if (step === undefined || (!this.started && task.owner === null && task.dueAtMs === null)) return []
    return eventsOf(this.run, task, step, now)
  }
}

function eventsOf(run: string, task: TaskRecord, step: StepView, now: number): RunEvent[] {
  const { current, retry, lastFailure } = task.progress
  const base = { timeMs: now, run, step: step.id, attempts: step.attemptsAllowed }
  const sums = { durationMs: Math.max(0, task.updatedAtMs - task.createdAtMs), waitedMs: retry.totalDelayMs }
  switch (task.status) {
    case 'running':
      return [
        { ...base, type: 'attempt_started', attempt: current?.number ?? retry.launched, timeMs: task.updatedAtMs },
      ]
    case 'waiting':
      if (retry.failures === 0) return []
      return [
        {
          ...base,
          type: 'waiting',
          attempt: retry.launched + 1,
          delayMs: retry.lastDelayMs,
          nextAttemptAtMs: task.dueAtMs ?? now,
          waitedMs: retry.totalDelayMs,
          retryBudgetMs: step.retryBudgetMs,
          failure: lastFailure,
        },
      ]
    case 'parked':
      return [{ ...base, type: 'parked', attempt: retry.launched + 1, budget: '' }]
    case 'undecided':
      return []
    default: {
      const state = taskState(task)
      const { stopReason } = task
      if (state === 'skipped') return [{ ...base, type: 'step_skipped', attempt: 0, reason: 'when' }]
      const failure = state === 'failed' ? lastFailure : null
      const attempt = retry.launched
      return [{ ...base, ...sums, type: 'step_finished', attempt, state, stopReason, failure, continued: false }]
    }
  }
}

function startOf({ id, name, steps, resumes }: RunDetail, timeMs: number): RunEvent {
  const states = steps.map((step) => ({ id: step.id, name: step.name, state: step.state }))
  return { type: 'run_started', timeMs, run: id, name, steps: states, resumes }
}

function endOf({ id, state, stopReason, startedAtMs, endedAtMs }: RunDetail, timeMs: number): RunEvent {
  const durationMs = Math.max(0, (endedAtMs ?? timeMs) - startedAtMs)
  return { type: 'run_finished', timeMs, run: id, state, stopReason, durationMs }
}
