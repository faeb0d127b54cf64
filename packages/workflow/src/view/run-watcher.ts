/**
 * A run as another process conducts it, told in the words of one that is conducted here: what has changed since the last
 * look becomes events. Imports the library and the shapes.
 *
 * Invariant: what is read are the steps that have not ended and those that have changed, however many there are; the others
 * are counted by the store, unless whoever watches is told the state of each at the start.
 */
import type { AttemptRow, Ledger, RunRecord, TaskRecord } from 'reprise/durable'
import { ENDED_RUN_STATUSES, livingOwners } from 'reprise/internal'
import { attemptsOf } from '../plan/attempts.js'
import { fallbackId, fallbackName, isFallbackId } from '../plan/fallback.js'
import { mapsOf, type Plan } from '../plan/plan.js'
import type { RunEvent } from '../run/run-event.js'
import { isFinallyLeft } from './handlers-left.js'
import type { RunReader } from './read-runs.js'
import { retryStateOf } from './retry-state.js'
import { PlanOrder, type RunExcerpt, RunSnapshot, summaryOf } from './run-excerpt.js'
import { changedTasksOfRun, tasksOfRun } from './run-pages.js'
import { RunningOutput } from './running-output.js'
import type { TimeSpan } from './run-times.js'
import { reasonOf, StepViews, taskState } from './step-views.js'
import { WatchedMaps } from './watched-maps.js'
import type { RunDetail, RunTimes, StepState, StepView } from './views.js'

const UNFINISHED = ['waiting', 'running', 'parked', 'undecided'] as const
/** A change is committed some time after the time that it is given. */
const OVERLAP_MS = 10_000

/** Longer than a command may take to end when it is told to, and to be killed. */
const TAKEN_AGAIN_MS = 15_000

type Seen = Pick<TaskRecord, 'id' | 'status' | 'generation' | 'fence' | 'updatedAtMs'>

export interface WatchOptions {
  /** Whether the start is told with the state of every step, which reads all of them. @default false */
  readonly areStepsTold?: boolean
  /** Steps of each kind that the summary tells of. @default 20 */
  readonly most?: number
}

const USUAL_MOST = 20

export class RunWatcher {
  private readonly reader: RunReader
  private readonly run: string
  private readonly options: WatchOptions
  /** Tasks as they were told last; those that ended are forgotten when they are not read again. */
  private readonly seen = new Map<string, Seen>()
  private readonly running = new Map<string, TaskRecord>()
  private readonly output = new RunningOutput()
  private readonly maps = new WatchedMaps()
  /** Maps that have not ended, as they were at the last look. */
  private readonly openMaps = new Map<string, StepView>()
  private plan: Plan | undefined = undefined
  private order: PlanOrder | undefined = undefined
  private sessions: readonly TimeSpan[] = []
  private mark: number | undefined = undefined
  /** The latest change that was seen: the next ones are not earlier, since one process makes them. */
  private newestMs = -Infinity
  private started = false
  /** The run as it was when it was found to have ended. */
  summary: RunExcerpt | undefined = undefined
  /** Nothing more will happen by itself. */
  isOver = false

  constructor(reader: RunReader, run: string, options: WatchOptions = {}) {
    this.reader = reader
    this.run = run
    this.options = options
  }

  /** What has happened since the last look; undefined if there is no such run. */
  async look(): Promise<RunEvent[] | undefined> {
    const { ledger } = this.reader
    const mark = await ledger.changeMark()
    const nowMs = await ledger.now()
    const goesOn = this.started && !(await this.hasEnded(ledger))
    if (goesOn && mark === this.mark) return this.outputs(nowMs)
    this.mark = mark
    if (!this.started) return this.begin(nowMs)
    const events = await this.changes(nowMs)
    return goesOn ? events : [...events, ...(await this.end(nowMs))]
  }

  private async begin(nowMs: number): Promise<RunEvent[] | undefined> {
    const { ledger } = this.reader
    // Before the run is summed up: what comes between is told at the next look.
    const recent = await changedTasksOfRun(ledger, this.run, nowMs - OVERLAP_MS)
    const open: TaskRecord[] = []
    for await (const page of tasksOfRun(ledger, this.run, { statuses: UNFINISHED })) open.push(...page)
    const look = await RunSnapshot.at(this.reader, this.run, 0)
    if (look === undefined) return undefined
    const { detail, plan, order, maps, sessions } = look
    ;[this.plan, this.order, this.sessions, this.newestMs, this.started] = [plan, order, sessions, nowMs, true]
    for (const task of [...recent, ...open]) this.note(task)
    for (const map of maps) if (map.endedAtMs === null) this.openMaps.set(map.id, map)
    const views = await look.viewsOf(open)
    const tasks = new Map(open.map((task) => [task.id, task]))
    const states = new Map<string, StepState>([...views, ...maps].map(({ id, state }) => [id, state]))
    const events = [startOf(detail, await this.stepsOf(plan, order, states), nowMs)]
    for (const view of views) events.push(...eventsOf(this.run, tasks.get(view.id) as TaskRecord, view, nowMs))
    events.push(...this.maps.changesOf({ id: this.run, steps: maps }, nowMs))
    this.output.note(views, tasks)
    events.push(...this.outputs(nowMs))
    const isOver = isAtEnd(detail) && (await this.hasEnded(ledger))
    return isOver ? [...events, ...(await this.end(nowMs, look))] : events
  }

  /** The steps of the plan; where all are told, also fallbacks and steps that the plan does not have any more. */
  private async stepsOf(
    { phases }: Plan,
    order: PlanOrder,
    known: ReadonlyMap<string, StepState>,
  ): Promise<{ id: string; name: string; state: StepState }[]> {
    const states = new Map<string, StepState>(phases.map(({ id }) => [id, known.get(id) ?? 'pending']))
    if (this.options.areStepsTold === true)
      for await (const page of tasksOfRun(this.reader.ledger, this.run))
        for (const task of page) states.set(task.id, known.get(task.id) ?? taskState(task))
    const listed = [...states.keys()].toSorted((a, b) => order.compare(a, b))
    return listed.map((id) => ({ id, name: nameOf(order, id), state: states.get(id) ?? 'pending' }))
  }

  /** The run has ended, or no process conducts it any more. `known`: the run as it was looked at a moment ago. */
  private async end(nowMs: number, known?: RunSnapshot): Promise<RunEvent[]> {
    const { most = USUAL_MOST } = this.options
    const look = known ?? (await RunSnapshot.at(this.reader, this.run, 0))
    this.summary = look && (await summaryOf(this.reader, look, most))
    // Somebody has removed it.
    if (this.summary === undefined) this.isOver = true
    if (this.summary === undefined || !isAtEnd(this.summary)) return []
    this.isOver = true
    const maps = this.maps.changesOf(this.summary, nowMs)
    return [...maps, endOf(this.summary, nowMs)]
  }

  /** Only what has changed is read: a run may have very many steps. */
  private async changes(nowMs: number): Promise<RunEvent[]> {
    const { ledger, logsOf } = this.reader
    const changed = await changedTasksOfRun(ledger, this.run, this.newestMs - OVERLAP_MS)
    const news = changed.filter((task) => this.isNews(task))
    const order = await this.orderFor(news)
    const attempts: AttemptRow[] = []
    for (const task of news) attempts.push(...(await ledger.attempts(task)))
    const look = new StepViews({
      attempts,
      sessions: this.sessionsAt(nowMs),
      logOf: logsOf(this.run),
      isInterrupted: false,
    })
    await look.know(ledger, news)
    const events: RunEvent[] = []
    // In the order of the workflow: a step has ended before the next one begins.
    for (const task of news.toSorted((a, b) => order.compare(a.id, b.id))) {
      const view = order.viewOf(look, task)
      if (!this.seen.has(task.id)) events.push(...standingIn(this.run, task.id, order, nowMs))
      events.push(...eventsOf(this.run, task, view, nowMs))
      this.note(task)
    }
    this.forget()
    const running = [...this.running.values()]
    this.output.note(await this.viewsOfRunning(look, running, order), this.running)
    return [...events, ...(await this.changesOfMaps(nowMs)), ...this.outputs(nowMs)]
  }

  private async viewsOfRunning(look: StepViews, running: readonly TaskRecord[], order: PlanOrder): Promise<StepView[]> {
    await look.know(this.reader.ledger, running)
    return running.map((task) => order.viewOf(look, task))
  }

  private sessionsAt(nowMs: number): TimeSpan[] {
    const last = this.sessions.at(-1)
    return last === undefined ? [] : [...this.sessions.slice(0, -1), { ...last, toMs: nowMs }]
  }

  /** A process that has accepted a change of the document may have begun a step that is not known here. */
  private async orderFor(tasks: readonly TaskRecord[]): Promise<PlanOrder> {
    const { ledger, planOf } = this.reader
    let { order } = this
    const isKnown = order !== undefined && tasks.every(({ id }) => order?.phaseOf(id) !== undefined)
    const record = isKnown ? undefined : await ledger.run(this.run)
    if (record !== undefined) {
      this.plan = await planOf(record)
      order = new PlanOrder(this.plan)
      this.order = order
    }
    return order ?? new PlanOrder({ phases: [] } as unknown as Plan)
  }

  private note(task: TaskRecord): void {
    const { id, status, generation, fence, updatedAtMs } = task
    this.seen.set(id, { id, status, generation, fence, updatedAtMs })
    if (status === 'running') this.running.set(id, task)
    else this.running.delete(id)
    this.newestMs = Math.max(this.newestMs, updatedAtMs)
  }

  /** Tasks that are not read again unless they change. */
  private forget(): void {
    for (const { id, updatedAtMs } of this.seen.values())
      if (updatedAtMs < this.newestMs - OVERLAP_MS && !this.running.has(id)) this.seen.delete(id)
  }

  /** Of maps that have not ended: their records are none of the run's tasks. */
  private async changesOfMaps(nowMs: number): Promise<RunEvent[]> {
    const { viewMap } = this.reader
    if (this.openMaps.size === 0 || this.plan === undefined) return []
    const rows: StepView[] = []
    for (const map of mapsOf(this.plan).filter(({ id }) => this.openMaps.has(id))) {
      const row = await viewMap(this.run, map, { isInterrupted: false, failures: 0, nowMs })
      if (row.endedAtMs === null) this.openMaps.set(map.id, row)
      else this.openMaps.delete(map.id)
      rows.push(row)
    }
    return this.maps.changesOf({ id: this.run, steps: rows }, nowMs)
  }

  /** Whether its process lives can change without anybody writing. */
  private async hasEnded(ledger: Ledger): Promise<boolean> {
    const run = await ledger.run(this.run)
    if (run?.status === 'cancelled') return !(await this.isFinallyAwaited(ledger, run))
    if (run?.status !== 'running') return true
    return run.owner === null || !(await livingOwners(ledger)).has(run.owner)
  }

  /**
   * Whether the steps of `finally` of a cancelled run are about to begin: the process that conducted it takes it once more
   * when what it had started has ended.
   */
  private async isFinallyAwaited(ledger: Ledger, run: RunRecord): Promise<boolean> {
    const { plan } = this
    const sinceMs = (await ledger.now()) - (run.endedAtMs ?? 0)
    if (plan === undefined || sinceMs > TAKEN_AGAIN_MS || (await livingOwners(ledger)).size === 0) return false
    return isFinallyLeft(ledger, run, plan)
  }

  private outputs(timeMs: number): RunEvent[] {
    const lines = this.output.lines(this.reader.logsOf(this.run), this.reader.lastLineIn)
    return lines.map((line) => ({ ...line, type: 'output', timeMs, run: this.run }))
  }

  /** Whether anything is to be told of it. */
  private isNews(task: TaskRecord): boolean {
    const before = this.seen.get(task.id)
    if (before === undefined) return true
    return before.fence !== task.fence || before.status !== task.status || before.generation !== task.generation
  }
}

function isAtEnd({ state }: Pick<RunDetail, 'state'>): boolean {
  return state === 'interrupted' || ENDED_RUN_STATUSES.has(state)
}

function nameOf(order: PlanOrder, id: string): string {
  const phase = order.phaseOf(id)
  if (phase === undefined) return id
  return phase.id === id ? phase.name : fallbackName(phase)
}

/** What is told before a fallback that was not there at the first look. */
function standingIn(run: string, id: string, order: PlanOrder, timeMs: number): RunEvent[] {
  const step = isFallbackId(id) ? order.phaseOf(id) : undefined
  if (step?.kind !== 'step') return []
  const fallback = { id: fallbackId(step), name: fallbackName(step) }
  return [{ type: 'fallback_started', timeMs, run, step: step.id, attempt: 0, attempts: attemptsOf(step), fallback }]
}

function startOf(
  detail: RunDetail,
  steps: Extract<RunEvent, { type: 'run_started' }>['steps'],
  timeMs: number,
): RunEvent {
  const { id, name, resumes, counts } = detail
  return { type: 'run_started', timeMs, run: id, name, steps, counts, resumes, ...timesIn(detail) }
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

function endOf(detail: RunDetail, timeMs: number): RunEvent {
  const { id, state, stopReason } = detail
  return { type: 'run_finished', timeMs, run: id, state, stopReason, ...timesIn(detail) }
}

function timesIn({ activeMs, waitedMs, downMs }: RunTimes): RunTimes {
  return { activeMs, waitedMs, downMs }
}
