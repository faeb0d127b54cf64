/**
 * A run as another process conducts it, told in the words of one that is conducted here: what has changed since the last
 * look becomes events. Imports the library and the shapes.
 */
import type { Ledger, TaskRecord } from 'reprise/durable'
import { ENDED_RUN_STATUSES, livingOwners } from 'reprise/internal'
import { fallbackId } from '../plan/fallback.js'
import type { RunEvent } from '../run/run-event.js'
import type { StepResult } from '../run/run-record.js'
import { type RunReader, viewRun } from './read-runs.js'
import { retryStateOf } from './retry-state.js'
import { allTasksOfRun } from './run-pages.js'
import { RunningOutput } from './running-output.js'
import { taskState } from './step-look.js'
import type { RunDetail, RunTimes, StepView } from './views.js'

const UNFINISHED = ['waiting', 'running', 'parked', 'undecided'] as const
const TASK_STATUSES = [...UNFINISHED, 'succeeded', 'failed', 'cancelled'] as const

export class RunWatcher {
  private readonly reader: RunReader
  private readonly run: string
  private readonly seen = new Map<string, TaskRecord>()
  private readonly output = new RunningOutput()
  private mark: number | undefined = undefined
  private started = false
  /** The generation of each step that had ended before the first look, which is told with the start. */
  private readonly endedBefore = new Map<string, number>()
  /** The run at the last look at which something had changed. */
  detail: RunDetail | undefined = undefined
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
    if (mark === this.mark && this.started && !(await this.isLost(ledger))) return this.outputs(await ledger.now())
    this.mark = mark
    // Before the details, so that those of a step that has ended are complete; what comes between is told at the next look.
    const seen = await this.tasks()
    const detail = await viewRun(this.reader, this.run)
    this.detail = detail
    if (detail === undefined) return undefined
    this.isOver = detail.state === 'interrupted' || ENDED_RUN_STATUSES.has(detail.state)
    const events: RunEvent[] = []
    const now = await ledger.now()
    if (!this.started) events.push(startOf(detail, now))
    const listed = this.isOver && this.started ? await this.tasks() : seen
    const tasks = new Map(listed.map((task) => [task.id, task]))
    const steps = new Map(detail.steps.map((step) => [step.id, step]))
    // In the order of the workflow: a step has ended before the next one begins.
    for (const { id } of detail.steps) {
      const task = tasks.get(id)
      if (task !== undefined) events.push(...this.changesOf(task, steps, now))
    }
    this.output.note(detail.steps, tasks)
    events.push(...this.outputs(now))
    if (!this.started)
      for (const { id, endedAtMs, generation } of detail.steps)
        if (endedAtMs !== null) this.endedBefore.set(id, generation)
    this.started = true
    if (this.isOver) events.push(endOf(detail, now))
    return events
  }

  /** At the first look those that have not ended: the others are told with the start. */
  private tasks(): Promise<TaskRecord[]> {
    return allTasksOfRun(this.reader.ledger, this.run, this.started ? TASK_STATUSES : UNFINISHED)
  }

  private async isLost(ledger: Ledger): Promise<boolean> {
    const run = await ledger.run(this.run)
    if (run?.status !== 'running') return false
    return run.owner === null || !(await livingOwners(ledger)).has(run.owner)
  }

  private outputs(timeMs: number): RunEvent[] {
    const lines = this.output.lines(this.reader.logsOf(this.run), this.reader.lastLineIn)
    return lines.map((line) => ({ ...line, type: 'output', timeMs, run: this.run }))
  }

  private changesOf(task: TaskRecord, steps: ReadonlyMap<string, StepView>, now: number): RunEvent[] {
    const step = steps.get(task.id)
    const before = this.seen.get(task.id)
    this.seen.set(task.id, task)
    if (before === undefined && isEnded(task) && this.endedBefore.get(task.id) === task.generation) return []
    if (before?.fence === task.fence && before.status === task.status && before.generation === task.generation)
      return []
    // What had ended before the first look is told with the start.
    if (step === undefined || (!this.started && isEnded(task))) return []
    const events = eventsOf(this.run, task, step, now)
    return before === undefined && this.started ? [...standingIn(this.run, step, steps, now), ...events] : events
  }
}

function isEnded({ owner, dueAtMs }: TaskRecord): boolean {
  return owner === null && dueAtMs === null
}

/** What is told before a fallback that was not there at the first look. */
function standingIn(run: string, fallback: StepView, steps: ReadonlyMap<string, StepView>, timeMs: number): RunEvent[] {
  const step = [...steps.values()].find((one) => fallbackId(one) === fallback.id)
  if (step === undefined) return []
  const { id, name } = fallback
  const attempts = step.attemptsAllowed
  return [{ type: 'fallback_started', timeMs, run, step: step.id, attempt: 0, attempts, fallback: { id, name } }]
}

function eventsOf(run: string, task: TaskRecord, step: StepView, now: number): RunEvent[] {
  const { current, lastFailure } = task.progress
  const retry = retryStateOf(task)
  const base = { timeMs: now, run, step: step.id, attempts: step.attemptsAllowed }
  const sums = { durationMs: step.activeMs, waitedMs: retry.totalDelayMs }
  switch (task.status) {
    case 'running':
      return [
        { ...base, type: 'attempt_started', attempt: current?.attempt ?? retry.launched, timeMs: task.updatedAtMs },
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
      if (state === 'skipped') return [{ ...base, type: 'step_skipped', attempt: 0, reason: reasonOf(task) }]
      const failure = state === 'failed' ? lastFailure : null
      const attempt = retry.launched
      return [{ ...base, ...sums, type: 'step_finished', attempt, state, stopReason, failure, continued: false }]
    }
  }
}

/** Why it was skipped, in the words of who skipped it. */
function reasonOf({ result }: TaskRecord): string {
  return (result as Partial<StepResult> | null | undefined)?.skipped ?? 'when'
}

function startOf(detail: RunDetail, timeMs: number): RunEvent {
  const { id, name, steps, resumes } = detail
  const states = steps.map((step) => ({ id: step.id, name: step.name, state: step.state }))
  return { type: 'run_started', timeMs, run: id, name, steps: states, resumes, ...timesIn(detail) }
}

function endOf(detail: RunDetail, timeMs: number): RunEvent {
  const { id, state, stopReason } = detail
  return { type: 'run_finished', timeMs, run: id, state, stopReason, ...timesIn(detail) }
}

function timesIn({ activeMs, waitedMs, downMs }: RunTimes): RunTimes {
  return { activeMs, waitedMs, downMs }
}
