/**
 * A run as another process conducts it, told in the words of one that is conducted here: what has changed since the last
 * look becomes events. Imports the library and the shapes.
 */
import type { AttemptRow, Ledger, TaskRecord } from 'reprise/durable'
import { ENDED_RUN_STATUSES, livingOwners } from 'reprise/internal'
import { fallbackId, isFallbackId } from '../plan/fallback.js'
import { mapsOf, type Plan } from '../plan/plan.js'
import type { RunEvent } from '../run/run-event.js'
import type { StepResult } from '../run/run-record.js'
import { type RunReader, viewRun } from './read-runs.js'
import { retryStateOf } from './retry-state.js'
import { allTasksOfRun, changedTasksOfRun } from './run-pages.js'
import { RunningOutput } from './running-output.js'
import { StepLook, taskState } from './step-look.js'
import { WatchedMaps } from './watched-maps.js'
import type { RunDetail, RunTimes, StepView } from './views.js'

const UNFINISHED = ['waiting', 'running', 'parked', 'undecided'] as const
/** A change is committed some time after the time that it is given. */
const OVERLAP_MS = 10_000
const TASK_STATUSES = [...UNFINISHED, 'succeeded', 'failed', 'cancelled'] as const

export class RunWatcher {
  private readonly reader: RunReader
  private readonly run: string
  private readonly seen = new Map<string, TaskRecord>()
  private readonly output = new RunningOutput()
  private readonly maps = new WatchedMaps()
  private plan: Plan | undefined = undefined
  /** The steps as they were at the last look that concerned them, in the order of the workflow. */
  private steps = new Map<string, StepView>()
  private mark: number | undefined = undefined
  /** The latest change that was seen: the next ones are not earlier, since one process makes them. */
  private newestMs = -Infinity
  private started = false
  /** The generation of each step that had ended before the first look, which is told with the start. */
  private readonly endedBefore = new Map<string, number>()
  /** The run at the first look, and as it ended at the last. */
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
    const nowMs = await ledger.now()
    const goesOn = this.started && !(await this.hasEnded(ledger))
    if (goesOn && mark === this.mark) return this.outputs(nowMs)
    this.mark = mark
    const { detail } = this
    return (goesOn && detail !== undefined && (await this.changes(detail, nowMs))) || this.lookAtAll(nowMs)
  }

  /** At the first look and at the last: the run with all of its steps. */
  private async lookAtAll(nowMs: number): Promise<RunEvent[] | undefined> {
    // Before the details, so that those of a step that has ended are complete; what comes between is told at the next look.
    const seen = await this.tasks()
    const detail = await viewRun(this.reader, this.run, { failures: 0 })
    this.detail = detail
    if (detail === undefined) return undefined
    this.isOver = detail.state === 'interrupted' || ENDED_RUN_STATUSES.has(detail.state)
    const events: RunEvent[] = []
    if (!this.started) events.push(startOf(detail, nowMs))
    const listed = this.isOver && this.started ? await this.tasks() : seen
    const tasks = new Map(listed.map((task) => [task.id, task]))
    for (const { endedAtMs } of detail.steps) this.newestMs = Math.max(this.newestMs, endedAtMs ?? detail.startedAtMs)
    const steps = new Map(detail.steps.map((step) => [step.id, step]))
    this.steps = steps
    // In the order of the workflow: a step has ended before the next one begins.
    for (const { id } of detail.steps) {
      const task = tasks.get(id)
      if (task !== undefined) events.push(...this.changesOf(task, steps, nowMs))
    }
    events.push(...this.maps.changesOf(detail, nowMs))
    this.output.note(detail.steps, tasks)
    events.push(...this.outputs(nowMs))
    if (!this.started)
      for (const { id, endedAtMs, generation } of detail.steps)
        if (endedAtMs !== null) this.endedBefore.set(id, generation)
    this.started = true
    if (this.isOver) events.push(endOf(detail, nowMs))
    return events
  }

  /**
   * Between the two only what has changed is read: a run may have very many steps. Undefined if there is a step that was
   * not there before, such as a fallback: then all of it has to be looked at.
   */
  private async changes({ sessions }: RunDetail, nowMs: number): Promise<RunEvent[] | undefined> {
    const { ledger, logsOf } = this.reader
    const changed = await changedTasksOfRun(ledger, this.run, this.newestMs - OVERLAP_MS)
    if (changed.some(({ id }) => !this.steps.has(id))) return undefined
    const spans = sessions.map(({ startedAtMs, lastSeenAtMs }) => ({ fromMs: startedAtMs, toMs: lastSeenAtMs }))
    const last = spans.pop()
    if (last !== undefined) spans.push({ ...last, toMs: nowMs })
    const news = changed.filter((task) => this.isNews(task))
    const attempts: AttemptRow[] = []
    for (const task of news) attempts.push(...(await ledger.attempts(task)))
    const look = new StepLook({ attempts, sessions: spans, logOf: logsOf(this.run), isInterrupted: false })
    await look.know(ledger, news)
    for (const task of news) {
      const { kind, name } = this.steps.get(task.id) as StepView
      this.steps.set(task.id, look.task(task, kind, name))
    }
    const tasks = new Map(news.map((task) => [task.id, task]))
    const events: RunEvent[] = []
    for (const id of tasks.size === 0 ? [] : this.steps.keys()) {
      const task = tasks.get(id)
      if (task !== undefined) events.push(...this.changesOf(task, this.steps, nowMs))
    }
    const running = [...this.seen.values()].filter(({ status }) => status === 'running')
    const views = running.flatMap(({ id }) => this.steps.get(id) ?? [])
    this.output.note(views, new Map(running.map((task) => [task.id, task])))
    return [...events, ...(await this.changesOfMaps(nowMs)), ...this.outputs(nowMs)]
  }

  /** Of maps that have not ended: their records are none of the run's tasks. */
  private async changesOfMaps(nowMs: number): Promise<RunEvent[]> {
    const { ledger, planOf, viewMap } = this.reader
    const open = [...this.steps.values()].filter(({ kind, endedAtMs }) => kind === 'map' && endedAtMs === null)
    const record = open.length === 0 ? undefined : await ledger.run(this.run)
    if (record === undefined) return []
    this.plan ??= await planOf(record)
    const rows: StepView[] = []
    for (const map of mapsOf(this.plan).filter(({ id }) => open.some((row) => row.id === id))) {
      const row = await viewMap(this.run, map, { isInterrupted: false, failures: 0, nowMs })
      this.steps.set(map.id, row)
      rows.push(row)
    }
    return this.maps.changesOf({ id: this.run, steps: rows }, nowMs)
  }

  /** At the first look those that have not ended: the others are told with the start. */
  private tasks(): Promise<TaskRecord[]> {
    return allTasksOfRun(this.reader.ledger, this.run, this.started ? TASK_STATUSES : UNFINISHED)
  }

  /** Whether its process lives can change without anybody writing. */
  private async hasEnded(ledger: Ledger): Promise<boolean> {
    const run = await ledger.run(this.run)
    if (run?.status !== 'running') return true
    return run.owner === null || !(await livingOwners(ledger)).has(run.owner)
  }

  private outputs(timeMs: number): RunEvent[] {
    const lines = this.output.lines(this.reader.logsOf(this.run), this.reader.lastLineIn)
    return lines.map((line) => ({ ...line, type: 'output', timeMs, run: this.run }))
  }

  private changesOf(task: TaskRecord, steps: ReadonlyMap<string, StepView>, now: number): RunEvent[] {
    const step = steps.get(task.id)
    const before = this.seen.get(task.id)
    const isNews = this.isNews(task)
    this.seen.set(task.id, task)
    this.newestMs = Math.max(this.newestMs, task.updatedAtMs)
    if (!isNews) return []
    // What had ended before the first look is told with the start.
    if (step === undefined || (!this.started && isEnded(task))) return []
    const events = eventsOf(this.run, task, step, now)
    return before === undefined && this.started ? [...standingIn(this.run, step, steps, now), ...events] : events
  }

  /** Whether anything is to be told of it. */
  private isNews(task: TaskRecord): boolean {
    const before = this.seen.get(task.id)
    if (before === undefined) return !isEnded(task) || this.endedBefore.get(task.id) !== task.generation
    return before.fence !== task.fence || before.status !== task.status || before.generation !== task.generation
  }
}

function isEnded({ owner, dueAtMs }: TaskRecord): boolean {
  return owner === null && dueAtMs === null
}

/** What is told before a fallback that was not there at the first look. */
function standingIn(run: string, fallback: StepView, steps: ReadonlyMap<string, StepView>, timeMs: number): RunEvent[] {
  if (!isFallbackId(fallback.id)) return []
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
