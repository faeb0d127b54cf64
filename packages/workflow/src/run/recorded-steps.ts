/**
 * What is recorded of the steps of a run that is taken up again, as its conductor needs it. Those that succeeded may be very
 * many: of these only the results are read that what is left of the plan can refer to. Imports the library, the plan and the
 * shapes.
 *
 * A step is begun when all before it in its list have ended, so the steps with a record are the first ones of `steps`, of
 * `on_failure` and of `finally`, and the place up to which a list is recorded is found in a few looks. The store's count of
 * tasks that succeeded must agree; if it does not, if the plan was changed since the run began, or if whoever listens is told
 * the state of every step, all are read.
 */
import type { RunNotes } from './run-record.js'
import type { StopReason } from 'reprise'
import type { FailureRecord, Json, Ledger, TaskRecord, TaskResult } from 'reprise/durable'
import type { DurableRun } from 'reprise/internal'
import { fallbackId } from '../plan/fallback.js'
import { HANDLER_PARTS, mapsOf, phasesIn, type Plan, type StepPlan, stepsOf } from '../plan/plan.js'
import { retryStateOf } from '../view/retry-state.js'
import { PAGE, pagesOf, scopeOf } from '../view/run-pages.js'
import { succeededState, taskState } from '../view/step-views.js'
import type { StepState } from '../view/views.js'
import { neededResults } from './needed-results.js'

/** How a step has failed for good. */
export interface FailedStep {
  readonly stopReason: StopReason
  readonly failure: FailureRecord | null
  readonly attempts: number
}

export interface RecordedStep {
  readonly state: StepState
  /** What it gave; undefined if it has not succeeded, or if nothing can refer to it. */
  readonly result?: Json
  /** It has succeeded, and what it gave was not read. */
  readonly isUnread?: true
  /** It was recorded, and nothing of it has begun: whether it is wanted is looked at when its turn comes. */
  readonly isUntouched?: boolean
  /** undefined if it has not failed. */
  readonly failed?: FailedStep
}

const UNREAD: RecordedStep = { state: 'succeeded', isUnread: true }
const UNSUCCESSFUL = ['waiting', 'running', 'parked', 'undecided', 'failed', 'cancelled'] as const
/** Results that are read one by one; more are read page by page. */
const MOST_RESULTS = 500

/** Steps by id. */
export class RecordedSteps {
  private readonly known: Map<string, RecordedStep>
  private readonly unread: Set<string>

  constructor(known = new Map<string, RecordedStep>(), unread = new Set<string>()) {
    this.known = known
    this.unread = unread
  }

  get(id: string): RecordedStep | undefined {
    return this.known.get(id) ?? (this.unread.has(id) ? UNREAD : undefined)
  }

  has(id: string): boolean {
    return this.get(id) !== undefined
  }

  /** It is granted a fresh generation. */
  forget(id: string): void {
    this.known.delete(id)
    this.unread.delete(id)
  }
}

export interface RecordSource {
  readonly ledger: Ledger
  readonly plan: Plan
  /** Whether the plan is the one that the run began with. */
  readonly isInOrder: boolean
  /** Whether every step must be known with its state and its result. */
  readonly areAllRead: boolean
}

/** What earlier processes of the run have recorded. Steps that run again may refer to any before them. */
export async function stepsBefore(
  run: DurableRun,
  { isInOrder, repeatAfter }: RunNotes,
  { ledger, plan }: Pick<RecordSource, 'ledger' | 'plan'>,
  areStepsTold: boolean,
): Promise<RecordedSteps> {
  if (run.record.resumes === 0) return new RecordedSteps()
  const areAllRead = areStepsTold || repeatAfter !== undefined
  return recordedSteps(run, { ledger, plan, isInOrder: isInOrder === true, areAllRead })
}

/** The same for a process that does not conduct the run, also of one that was never resumed. */
export function stepsSoFar(
  run: DurableRun,
  { isInOrder }: RunNotes,
  { ledger, plan }: Pick<RecordSource, 'ledger' | 'plan'>,
): Promise<RecordedSteps> {
  return recordedSteps(run, { ledger, plan, isInOrder: isInOrder === true, areAllRead: false })
}

async function recordedSteps(run: DurableRun, source: RecordSource): Promise<RecordedSteps> {
  const known = new Map<string, RecordedStep>()
  const left = pagesOf((after: TaskRecord | undefined) =>
    run.tasks(UNSUCCESSFUL, { limit: PAGE, ...(after && { after }) }),
  )
  for await (const page of left) for (const task of page) known.set(task.id, recordOf(task))
  const unread = source.areAllRead || !source.isInOrder ? undefined : await new Prefix(run.id, source, known).read()
  if (unread !== undefined) return new RecordedSteps(known, unread)
  const results = pagesOf((after: TaskResult | undefined) =>
    run.results({ limit: PAGE, ...(after && { after: after.id }) }),
  )
  for await (const page of results)
    for (const { id, result, failures } of page) known.set(id, { state: succeededState(result, failures), result })
  return new RecordedSteps(known)
}

/** The first steps of each list of a plan, up to the last one that has a record. */
class Prefix {
  private readonly run: string
  private readonly source: RecordSource
  /** Tasks that have not succeeded, by id; results that are needed are added. */
  private readonly known: Map<string, RecordedStep>

  constructor(run: string, source: RecordSource, known: Map<string, RecordedStep>) {
    this.run = run
    this.source = source
    this.known = known
  }

  /** Ids of steps that succeeded and whose results are not read; undefined if all steps have to be read. */
  async read(): Promise<Set<string> | undefined> {
    const { ledger, plan } = this.source
    const first: StepPlan[] = []
    for (const part of ['steps', ...HANDLER_PARTS] as const) {
      const steps = stepsOf({ phases: phasesIn(plan, part) })
      first.push(...steps.slice(0, await this.length(steps)))
    }
    const ended = first.filter(({ id }) => !this.known.has(id))
    const needed = neededResults(ended, leftAfter(plan, new Set(ended)), plan)
    const others = await this.readOthers(first)
    const { succeeded = 0 } = await ledger.countTasks(this.run)
    if (needed === undefined || needed.length > MOST_RESULTS || succeeded !== ended.length + others) return undefined
    for (const { id } of needed) if ((await this.readSucceeded(id)) === undefined) return undefined
    return new Set(ended.filter(({ id }) => !this.known.has(id)).map(({ id }) => id))
  }

  /** How many of the first steps have a record. */
  private async length(steps: readonly StepPlan[]): Promise<number> {
    let [from, to] = [0, steps.length]
    while (from < to) {
      const middle = (from + to) >> 1
      const { id } = steps[middle] as StepPlan
      if (this.known.has(id) || (await this.taskOf(id)) !== undefined) from = middle + 1
      else to = middle
    }
    return from
  }

  /** Fallbacks that succeeded in place of their steps, and maps that were skipped; answers with how many they are. */
  private async readOthers(first: readonly StepPlan[]): Promise<number> {
    const failed = first.filter(({ id, onFailure }) => typeof onFailure !== 'string' && this.known.get(id)?.failed)
    const ids = [...failed.map(fallbackId), ...mapsOf(this.source.plan).map(({ id }) => id)]
    let count = 0
    for (const id of ids) if (!this.known.has(id) && (await this.readSucceeded(id)) !== undefined) count++
    return count
  }

  private async readSucceeded(id: string): Promise<RecordedStep | undefined> {
    const task = await this.taskOf(id)
    if (task?.status !== 'succeeded') return undefined
    const result = task.result ?? null
    const record = { state: succeededState(result, retryStateOf(task).failures), result }
    this.known.set(id, record)
    return record
  }

  private taskOf(id: string): Promise<TaskRecord | undefined> {
    return this.source.ledger.get({ ...scopeOf(this.run), id })
  }
}

/** Phases of which something may still run: steps that have not succeeded, and maps, whose items may be redriven. */
function leftAfter({ phases }: Plan, ended: ReadonlySet<unknown>): Plan['phases'] {
  return phases.filter((phase) => phase.kind === 'map' || !ended.has(phase))
}

function recordOf(task: TaskRecord): RecordedStep {
  return {
    state: taskState(task),
    ...(task.status === 'failed' && { failed: failureOf(task) }),
    ...(isUntouched(task) && { isUntouched: true }),
  }
}

/** Nothing of it has begun, or of its fresh generation. */
export function isUntouched(task: TaskRecord): boolean {
  return task.status === 'waiting' && task.progress.current === null && retryStateOf(task).launched === 0
}

function failureOf(task: TaskRecord): FailedStep {
  const { stopReason, progress } = task
  return { stopReason: stopReason ?? 'aborted', failure: progress.lastFailure, attempts: retryStateOf(task).launched }
}
