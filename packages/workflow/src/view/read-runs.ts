/**
 * Runs as they are in a ledger, for people and programs to look at: nothing is written, and nobody has to conduct the run.
 * Imports the library, the plan and the shapes.
 */
import type { Ledger, RunRecord, TaskRecord } from 'reprise/durable'
import { childId, expectOptions, livingOwners, type OptionCheck, type OtherOwner } from 'reprise/internal'
import { fallbackId, fallbackName, isFallbackId, stepOfFallback } from '../plan/fallback.js'
import type { MapPlan } from '../plan/map-plan.js'
import type { PhasePlan, Plan } from '../plan/plan.js'
import { notesOf } from './run-notes.js'
import { Agents } from './map-agents.js'
import type { MapCounts } from './map-views.js'
import { countsOf as countsOfItems, type ItemClasses, readClasses } from './item-counts.js'
import { readTimes, runEvents, timesFrom } from './read-times.js'
import { retryStateOf, waitedMsOf } from './retry-state.js'
import { AttemptsInStep, standingRuns, tasksOfRun } from './run-pages.js'
import { countStates, readStepCounts, sumOfCounts } from './step-counts.js'
import { type LogFinder, Policies, StepViews } from './step-views.js'
import type { TimeSpan } from './run-times.js'
import {
  type OwnerView,
  type RetryingView,
  RUN_STATES,
  type RunDetail,
  type RunState,
  type RunTimes,
  type RunView,
  type SessionView,
  type StepState,
  type StepView,
} from './views.js'

export interface RunReader {
  readonly ledger: Ledger
  readonly planOf: (run: RunRecord) => Plan | Promise<Plan>
  /** For the run as it is now. */
  readonly logsOf: (run: string) => LogFinder
  /** Of a log; empty if there is none. */
  readonly lastLineIn: (log: string) => string
  /** A map of a run as a row among its steps. */
  readonly viewMap: (run: string, map: MapPlan, look: MapViewOptions) => Promise<StepView>
}

/** How a map is looked at. */
export interface MapViewOptions {
  /** Of the run that the map is a part of: no process conducts it, and it has not ended. */
  readonly isInterrupted: boolean
  /** Kinds of failures that are told; 0 for none, which is cheaper. */
  readonly failures: number
  readonly nowMs: number
  /** When processes conducted the run; absent: all the time. */
  readonly sessions?: readonly TimeSpan[]
}

/** Which runs are listed: those that fit every field. */
export interface RunSelection {
  /** Runs in this state. @default runs in every state @example { state: 'interrupted' } */
  readonly state?: RunState
  /**
   * Runs that began at this time or later: milliseconds since the epoch.
   * @default runs of all times
   * @example { sinceMs: Date.now() - 86_400_000 }
   */
  readonly sinceMs?: number
  /** At most this many, the latest first. @default no limit @example { limit: 20 } */
  readonly limit?: number
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1

/** Without the check a misspelt state is that of no run, and the list is empty. */
const SELECTION_CHECKS: Readonly<Record<keyof RunSelection, OptionCheck>> = {
  state: [(value) => RUN_STATES.some((state) => state === value), `one of ${RUN_STATES.join(', ')}`],
  sinceMs: [Number.isFinite, 'a time in milliseconds since the epoch'],
  limit: [isCount, 'a whole number of 1 or more'],
}

const OPEN = ['running', 'interrupted'] as const

/**
 * Runs of a store, the latest first. Runs that are being removed are left out.
 * @example const runs = await viewRuns(ledger, { state: 'failed', limit: 20 })
 */
export async function viewRuns(ledger: Ledger, selection: RunSelection = {}): Promise<RunView[]> {
  expectOptions('viewRuns', selection, SELECTION_CHECKS)
  const { state, sinceMs, limit } = selection
  // Whether a run is running or interrupted depends on its process, which the ledger does not know: counted below.
  const isOpen = state === 'running' || state === 'interrupted'
  const found = await standingRuns(ledger, {
    ...(state !== undefined && { statuses: isOpen ? OPEN : [state] }),
    ...(sinceMs !== undefined && { sinceMs }),
    ...(!isOpen && limit !== undefined && { limit }),
  })
  const living = await livingOwners(ledger)
  const isMeant = (run: RunRecord): boolean =>
    state === undefined ? run.status !== 'removing' : stateOf(run, ownerOf(run, living)) === state
  return viewRecords(ledger, found.filter(isMeant).slice(0, limit), living)
}

/** At most this many runs are read at once. */
const RUNS_AT_ONCE = 8

export async function viewRecords(
  ledger: Ledger,
  runs: readonly RunRecord[],
  living: ReadonlyMap<string, OtherOwner>,
): Promise<RunView[]> {
  const [views, agents] = [[] as RunView[], await Agents.read(ledger, living)]
  for (let from = 0; from < runs.length; from += RUNS_AT_ONCE) {
    const some = runs.slice(from, from + RUNS_AT_ONCE).map(async (run) => {
      const { counts, items } = await countsOf(ledger, run, living)
      return { ...runView(run, living, agents, counts, await readTimes(ledger, run, living)), items }
    })
    views.push(...(await Promise.all(some)))
  }
  return views
}

/** Kinds of failures that are told of each map. */
export const MOST_FAILURES = 10

/**
 * A run with all of its steps and attempts, for those who print all of them. `failures`: kinds of failures that are told of
 * each map; 0 is cheaper.
 */
export async function viewRun(
  reader: RunReader,
  id: string,
  { failures = MOST_FAILURES }: { readonly failures?: number } = {},
): Promise<RunDetail | undefined> {
  const { ledger, planOf } = reader
  const run = await ledger.run(id)
  if (run === undefined) return undefined
  const plan = await planOf(run)
  const [events, living] = [await runEvents(ledger, id), await livingOwners(ledger)]
  const { times, sessions } = await timesFrom(ledger, run, events, living)
  const isInterrupted = stateOf(run, ownerOf(run, living)) === 'interrupted'
  const look = new StepViews({ attempts: [], sessions, logOf: reader.logsOf(id), isInterrupted })
  const maps = { isInterrupted, failures, nowMs: await ledger.now(), sessions }
  const viewMap = (map: MapPlan): Promise<StepView> => reader.viewMap(id, map, maps)
  const steps = await stepViews(ledger, id, plan, look, viewMap)
  const counts = countStates(steps.filter(({ id: step }) => !isFallbackId(step)).map(({ state }) => state))
  const resumedAtMs = events.filter(({ type }) => type === 'run_resumed').map(({ atMs }) => atMs)
  return {
    ...runView(run, living, await Agents.read(ledger, living), counts, times),
    items: sumOf(steps.flatMap(({ map }) => (map ? [map.counts] : []))),
    params: notesOf(run).params,
    outputs: notesOf(run).outputs ?? null,
    outputsError: notesOf(run).outputsError ?? null,
    steps,
    resumedAtMs,
    sessions: sessions.map(sessionView),
  }
}

/** In the order of the plan, each with its fallback; then what the document does not have any more. */
async function stepViews(
  ledger: Ledger,
  run: string,
  plan: Plan,
  look: StepViews,
  viewMap: (map: MapPlan) => Promise<StepView>,
): Promise<StepView[]> {
  const planned = new Map<string, PhasePlan>(plan.phases.map((phase) => [phase.id, phase]))
  const views = new Map<string, StepView>()
  const others: StepView[] = []
  let hasFallbacks = false
  const attempts = new AttemptsInStep(ledger, run)
  for await (const page of tasksOfRun(ledger, run)) {
    await look.know(ledger, page)
    look.turnTo(await attempts.of(page))
    for (const task of page) {
      const step = planned.get(stepOfFallback(task.id) ?? task.id)
      if (step === undefined) others.push(look.task(task, ''))
      else if (step.id !== task.id) {
        hasFallbacks = true
        views.set(task.id, look.task(task, 'shell', fallbackName(step)))
      } else if (step.kind === 'map') views.set(task.id, look.task(task, 'map', step.name))
      else views.set(task.id, look.step(step, task))
    }
  }
  const steps: StepView[] = []
  for (const step of planned.values()) {
    const known = views.get(step.id)
    steps.push(known ?? (step.kind === 'map' ? await viewMap(step) : look.step(step, undefined)))
    const fallback = hasFallbacks ? views.get(fallbackId(step)) : undefined
    if (fallback !== undefined) steps.push(fallback)
  }
  return [...steps, ...others.toSorted((a, b) => (a.id < b.id ? -1 : 1))]
}

/** At most this many retried tasks are read at once. */
const RETRYING_PAGE = 500

/** At most `limit` of what waits now, in runs and in programs; the next to come first. */
export async function viewRetrying(ledger: Ledger, limit = Infinity): Promise<RetryingView[]> {
  const [isStopped, nowMs, policies] = [await stoppedRuns(ledger), await ledger.now(), new Policies()]
  const views: RetryingView[] = []
  let after: TaskRecord | undefined
  do {
    const page = await ledger.retrying({ limit: RETRYING_PAGE, ...(after && { after }) })
    await policies.know(ledger, page)
    const shown = page
      .filter((task) => task.scopeKind !== 'run' || !isStopped.has(task.scope))
      .filter((task) => task.status === 'parked' || retryStateOf(task).failures > 0)
    views.push(...shown.map((task) => retryingView(task, policies, nowMs)))
    after = page.length < RETRYING_PAGE ? undefined : page.at(-1)
  } while (after !== undefined && views.length < limit)
  return views.slice(0, limit)
}

function retryingView(task: TaskRecord, policies: Policies, nowMs: number): RetryingView {
  const { attempts, retryBudgetMs } = policies.of(task.policyHash)
  const [retry, { lastFailure }] = [retryStateOf(task), task.progress]
  return {
    scopeKind: task.scopeKind,
    scope: task.scope,
    id: task.id,
    state: task.status === 'parked' ? 'parked' : 'retrying',
    attempt: retry.launched + 1,
    attemptsAllowed: attempts,
    nextAttemptAtMs: task.dueAtMs,
    waitedMs: waitedMsOf(task, nowMs),
    retryBudgetMs,
    failure: lastFailure,
  }
}

/** Runs that nobody conducts: what waits in them waits for a resume. */
async function stoppedRuns(ledger: Ledger): Promise<ReadonlySet<string>> {
  const living = await livingOwners(ledger)
  const open = await ledger.runs({ statuses: ['running', 'interrupted'] })
  return new Set(open.filter(({ owner }) => owner === null || !living.has(owner)).map(({ id }) => id))
}

export function runView(
  run: RunRecord,
  living: ReadonlyMap<string, OtherOwner>,
  agents: Agents,
  counts: RunView['counts'],
  times: RunTimes,
): RunView {
  const notes = notesOf(run)
  const owner = ownerOf(run, living)
  return {
    id: run.id,
    kind: run.kind,
    name: run.name,
    file: notes.file ?? null,
    state: stateOf(run, owner),
    startedAtMs: run.createdAtMs,
    endedAtMs: run.endedAtMs,
    ...times,
    resumes: run.resumes,
    stopReason: notes.stopReason ?? null,
    failedStep: notes.failedStep ?? null,
    counts,
    items: null,
    owner: owner === undefined ? null : ownerView(owner, run),
    agents: agents.of(run.id),
  }
}

export function ownerOf({ owner }: RunRecord, living: ReadonlyMap<string, OtherOwner>): OtherOwner | undefined {
  return owner === null ? undefined : living.get(owner)
}

/** One that nobody conducts is interrupted, whatever it says. */
export function stateOf({ status }: RunRecord, owner: OtherOwner | undefined): RunState {
  if (status === 'removing') return 'cancelled'
  return status === 'running' && owner === undefined ? 'interrupted' : status
}

export function sessionView({ fromMs, toMs }: TimeSpan): SessionView {
  return { startedAtMs: fromMs, lastSeenAtMs: toMs }
}

function ownerView({ host, pid }: OtherOwner, { updatedAtMs }: RunRecord): OwnerView {
  return { host, pid, takenAtMs: updatedAtMs }
}

async function countsOf(
  ledger: Ledger,
  run: RunRecord,
  living: ReadonlyMap<string, OtherOwner>,
): Promise<Pick<RunView, 'counts' | 'items'>> {
  const isInterrupted = stateOf(run, ownerOf(run, living)) === 'interrupted'
  const maps = await mapRecords(ledger, run)
  const counted: MapCounts[] = []
  for (const { id } of maps) counted.push(unlabelled(await readClasses(ledger, id)))
  const steps = await readStepCounts(ledger, run.id, isInterrupted)
  const states = maps.map((record) => mapStepState(record, isInterrupted))
  const begun = sumOfCounts(steps) + maps.length
  return { counts: withPending(countStates(states, steps), run, begun), items: sumOf(counted) }
}

/** `begun`: steps that have a task. */
export function withPending(counts: RunView['counts'], run: RunRecord, begun: number): RunView['counts'] {
  const pending = (counts.pending ?? 0) + Math.max(0, (notesOf(run).steps ?? 0) - begun)
  return pending > 0 ? { ...counts, pending } : counts
}

const MAP_STATES: Readonly<Record<RunRecord['status'], StepState>> = {
  running: 'running',
  interrupted: 'interrupted',
  succeeded: 'succeeded',
  completed_with_failures: 'failed',
  failed: 'failed',
  cancelled: 'cancelled',
  removing: 'cancelled',
}

/** The state of a map as a row among the steps. */
export function mapStepState({ status }: RunRecord, isInterrupted: boolean): StepState {
  return status === 'running' && isInterrupted ? 'interrupted' : MAP_STATES[status]
}

/** The maps of the run that have begun. */
async function mapRecords(ledger: Ledger, run: RunRecord): Promise<RunRecord[]> {
  const found = (notesOf(run).maps ?? []).map((map) => ledger.run(childId(run.id, map)))
  return (await Promise.all(found)).filter((record) => record !== undefined)
}

/** A list of runs does not know the rules of a map: what failed for good is dead, and what runs is not told apart. */
function unlabelled(classes: ItemClasses): MapCounts {
  return countsOfItems(classes, { fresh: 0, retrying: 0 }, { onItemFailure: 'dlq' })
}

export function sumOf(all: readonly MapCounts[]): MapCounts | null {
  const [first, ...others] = all
  if (first === undefined) return null
  const sum = { ...first }
  for (const counts of others) for (const key of Object.keys(sum) as (keyof MapCounts)[]) sum[key] += counts[key]
  return sum
}
