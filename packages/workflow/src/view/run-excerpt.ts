/**
 * A run with a few of its steps: a summary of what went wrong, or one step. The store counts the others, so that what is read
 * does not grow with their number. Imports the library, the plan and the shapes.
 */
import type { AttemptRow, Ledger, RunRecord, TaskRecord, TaskStatus } from 'reprise/durable'
import { livingOwners } from 'reprise/internal'
import { fallbackId, fallbackName, isFallbackId, stepOfFallback } from '../plan/fallback.js'
import { mapsOf, type PhasePlan, type Plan } from '../plan/plan.js'
import { notesOf } from './run-notes.js'
import {
  MOST_FAILURES,
  ownerOf,
  type RunReader,
  runView,
  sessionView,
  stateOf,
  sumOf,
  viewRun,
  withPending,
} from './read-runs.js'
import { Agents } from './map-agents.js'
import { runEvents, timesFrom } from './read-times.js'
import type { TimeSpan } from './run-times.js'
import { scopeOf, tasksOfRun } from './run-pages.js'
import { countStates, readStepCounts, sumOfCounts } from './step-counts.js'
import { StepViews } from './step-views.js'
import type { RunDetail, StepView } from './views.js'

/** A run whose `steps` are some of them; `totals`: how many there are of those that a summary tells of. */
export interface RunExcerpt extends RunDetail {
  readonly totals: Readonly<Record<'recovered' | 'failed' | 'undecided', number>>
}

/** Where phases stand in a plan, with their fallbacks. */
export class PlanOrder {
  private readonly phases = new Map<string, PhasePlan>()
  private readonly places = new Map<string, number>()

  constructor({ phases }: Plan) {
    for (const [place, phase] of phases.entries()) {
      this.phases.set(phase.id, phase)
      this.places.set(phase.id, place)
    }
  }

  /** The phase, or the step that the fallback stands in for; undefined if the plan has neither. */
  phaseOf(id: string): PhasePlan | undefined {
    return this.phases.get(stepOfFallback(id) ?? id)
  }

  /** Those that the plan does not have come last. */
  compare(a: string, b: string): number {
    return this.placeOf(a) - this.placeOf(b) || (a < b ? -1 : 1)
  }

  private placeOf(id: string): number {
    const phase = this.phaseOf(id)
    return phase === undefined ? Infinity : (this.places.get(phase.id) ?? 0) + (phase.id === id ? 0 : 0.5)
  }

  viewOf(look: StepViews, task: TaskRecord): StepView {
    const phase = this.phaseOf(task.id)
    if (phase === undefined) return look.task(task, '')
    if (phase.id !== task.id) return look.task(task, 'shell', fallbackName(phase))
    return phase.kind === 'map' ? look.task(task, 'map', phase.name) : look.step(phase, task)
  }
}

/** What all excerpts of a run have in common. */
export class RunSnapshot {
  readonly run: RunRecord
  readonly plan: Plan
  readonly order: PlanOrder
  readonly maps: readonly StepView[]
  readonly detail: RunDetail
  private readonly reader: RunReader
  readonly sessions: readonly TimeSpan[]

  private constructor(
    parts: Pick<RunSnapshot, 'run' | 'plan' | 'maps' | 'detail'>,
    reader: RunReader,
    sessions: readonly TimeSpan[],
  ) {
    this.run = parts.run
    this.plan = parts.plan
    this.maps = parts.maps
    this.detail = parts.detail
    this.order = new PlanOrder(parts.plan)
    this.reader = reader
    this.sessions = sessions
  }

  static async at(reader: RunReader, id: string, failures: number): Promise<RunSnapshot | undefined> {
    const { ledger } = reader
    const run = await ledger.run(id)
    if (run === undefined) return undefined
    const plan = await reader.planOf(run)
    const [events, living] = [await runEvents(ledger, id), await livingOwners(ledger)]
    const { times, sessions } = await timesFrom(ledger, run, events, living)
    const isInterrupted = stateOf(run, ownerOf(run, living)) === 'interrupted'
    const nowMs = await ledger.now()
    const maps: StepView[] = []
    for (const map of mapsOf(plan)) maps.push(await reader.viewMap(id, map, { isInterrupted, failures, nowMs }))
    const begun = maps.filter(({ map }) => map)
    const counts = await readStepCounts(ledger, id, isInterrupted)
    const states = begun.map(({ state }) => state)
    const all = withPending(countStates(states, counts), run, sumOfCounts(counts) + begun.length)
    const detail = {
      ...runView(run, living, await Agents.read(ledger, living), all, times),
      items: sumOf(maps.flatMap(({ map }) => (map ? [map.counts] : []))),
      params: notesOf(run).params,
      outputs: notesOf(run).outputs ?? null,
      outputsError: notesOf(run).outputsError ?? null,
      steps: [],
      resumedAtMs: events.filter(({ type }) => type === 'run_resumed').map(({ atMs }) => atMs),
      sessions: sessions.map(sessionView),
    }
    return new RunSnapshot({ run, plan, maps, detail }, reader, sessions)
  }

  /** These tasks as steps, in the order of the plan; their attempts are read. */
  async viewsOf(tasks: readonly TaskRecord[]): Promise<StepView[]> {
    if (tasks.length === 0) return []
    const { ledger, logsOf } = this.reader
    const attempts: AttemptRow[] = []
    for (const task of tasks) for (const row of await ledger.attempts(task)) attempts.push(row)
    const isInterrupted = this.detail.state === 'interrupted'
    const look = new StepViews({ attempts, sessions: this.sessions, logOf: logsOf(this.run.id), isInterrupted })
    await look.know(ledger, tasks)
    return tasks.toSorted((a, b) => this.order.compare(a.id, b.id)).map((task) => this.order.viewOf(look, task))
  }

  /** A step that has no task yet. */
  pending(phase: PhasePlan): StepView | undefined {
    if (phase.kind === 'map') return this.maps.find(({ id }) => id === phase.id)
    return new StepViews({ attempts: [], sessions: [], logOf: () => null, isInterrupted: false }).step(phase, undefined)
  }
}

/** At most so many steps of each kind are looked at before the first of them in the order of the plan are chosen. */
const MOST_COMPARED = 200

/**
 * What a summary tells of: steps that recovered, failed or are undecided, `most` of each, and the maps. `failures`: kinds of
 * failures that are told of each map.
 */
export async function viewSummary(
  reader: RunReader,
  id: string,
  { most, failures = MOST_FAILURES }: { readonly most: number; readonly failures?: number },
): Promise<RunExcerpt | undefined> {
  const look = await RunSnapshot.at(reader, id, failures)
  return look && summaryOf(reader, look, most)
}

/** A run with the steps that are listed of it. */
export interface RunPage extends RunDetail {
  /** Steps that are not listed. */
  readonly unlisted: number
}

/** What has not ended. A step that waits for its first attempt has been begun: those that have not been have no task. */
const OPEN = ['running', 'waiting', 'parked', 'cancelled'] as const
/** A step that went wrong is listed, up to this many of a kind, even where the others are left out. */
const MOST_NOTABLE = 200

/**
 * A run for people: with all of its steps up to `most`, else with those that are looked for: that failed, were retried, were
 * cancelled or have not ended.
 */
export async function viewRunPage(reader: RunReader, run: RunRecord, most: number): Promise<RunPage | undefined> {
  const steps = notesOf(run).steps ?? 0
  if (steps <= most) {
    const whole = await viewRun(reader, run.id)
    return whole && { ...whole, unlisted: 0 }
  }
  const look = await RunSnapshot.at(reader, run.id, MOST_FAILURES)
  if (look === undefined) return undefined
  const { totals: _totals, ...page } = await summaryOf(reader, look, MOST_NOTABLE, OPEN)
  const listed = page.steps.filter(({ id }) => !isFallbackId(id)).length
  return { ...page, unlisted: sumOfCounts(page.counts) - listed }
}

/** The summary of a run that was looked at before; `also`: steps with these statuses are told of as well. */
export async function summaryOf(
  reader: RunReader,
  look: RunSnapshot,
  most: number,
  also: readonly TaskStatus[] = [],
): Promise<RunExcerpt> {
  const { ledger } = reader
  const { id } = look.run
  const totals = { recovered: 0, failed: 0, undecided: 0 }
  for (const { status, hasFailed, tasks } of await ledger.analytics.tasksOfRun(id)) {
    if (status === 'succeeded' && hasFailed) totals.recovered += tasks
    if (status === 'failed' || status === 'undecided') totals[status] += tasks
  }
  const chosen = new Map<string, TaskRecord>()
  const choose = async (status: TaskStatus, count: number, hasFailed?: true): Promise<void> => {
    if (count === 0) return
    const which = { statuses: [status], ...(hasFailed && { hasFailed }) }
    for (const task of await firstOf(ledger, id, which, most, look.order)) chosen.set(task.id, task)
  }
  await choose('succeeded', totals.recovered, true)
  await choose('failed', totals.failed)
  await choose('undecided', totals.undecided)
  for (const status of also) await choose(status, most)
  const named = [look.detail.failedStep ?? '', ...[...chosen.keys()].map((step) => fallbackId({ id: step }))]
  for (const step of named.filter((one) => one !== '' && !chosen.has(one))) {
    const task = await ledger.get({ ...scopeOf(id), id: step })
    if (task !== undefined) chosen.set(step, task)
  }
  const steps = [...(await look.viewsOf([...chosen.values()])), ...look.maps]
  return { ...look.detail, steps: steps.toSorted((a, b) => look.order.compare(a.id, b.id)), totals }
}

async function firstOf(
  ledger: Ledger,
  run: string,
  which: { readonly statuses: readonly TaskStatus[]; readonly hasFailed?: true },
  most: number,
  order: PlanOrder,
): Promise<TaskRecord[]> {
  const limit = Math.max(most, MOST_COMPARED)
  const found: TaskRecord[] = []
  for await (const page of tasksOfRun(ledger, run, { ...which, ...(limit < Infinity && { limit }) })) {
    found.push(...page)
    if (found.length >= limit) break
  }
  return found.toSorted((a, b) => order.compare(a.id, b.id)).slice(0, most)
}

/** A run with one step; undefined if there is no such run. Without `steps` if it has no such step. */
export async function viewStepOf(
  reader: RunReader,
  id: string,
  find: (plan: Plan, order: PlanOrder) => Promise<string | undefined>,
): Promise<{ readonly detail: RunDetail; readonly plan: Plan } | undefined> {
  const look = await RunSnapshot.at(reader, id, MOST_FAILURES)
  if (look === undefined) return undefined
  const { detail, plan, order } = look
  const step = await find(plan, order)
  const task = step === undefined ? undefined : await reader.ledger.get({ ...scopeOf(id), id: step })
  if (task !== undefined) return { detail: { ...detail, steps: await look.viewsOf([task]) }, plan }
  const phase = step === undefined ? undefined : order.phaseOf(step)
  const pending = phase === undefined || phase.id !== step ? undefined : look.pending(phase)
  return { detail: { ...detail, steps: pending === undefined ? [] : [pending] }, plan }
}
