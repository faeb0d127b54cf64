/**
 * Runs as they are in a ledger, for people and programs to look at: nothing is written, and nobody has to conduct the run.
 * Imports the library, the plan and the shapes.
 */
import {
  type AttemptRow,
  type Json,
  type Ledger,
  livingOwners,
  type OtherOwner,
  type RunFilter,
  type RunRecord,
  type TaskRecord,
  type TaskStatus,
} from 'reprise/durable'
import { attemptsOf } from '../plan/attempts.js'
import { fallbackId, fallbackName } from '../plan/fallback.js'
import type { Plan, StepPlan } from '../plan/plan.js'
import { notesOf, type StepResult } from '../run/run-record.js'
import { isOlder, retryStateOf } from './retry-state.js'
import type {
  AttemptView,
  OwnerView,
  RetryingView,
  RunDetail,
  RunState,
  RunView,
  StepState,
  StepView,
} from './views.js'

/** Where the output of an attempt is, if there is any. */
export type LogFinder = (run: string, step: string, attempt: AttemptRow) => string | null

export interface RunReader {
  readonly ledger: Ledger
  readonly planOf: (record: RunRecord, definition: Json) => Plan
  readonly logOf: LogFinder
}

/** Of those that are looked through for resumes. */
const MAX_EVENTS = 10_000

export async function viewRuns(ledger: Ledger, filter: RunFilter): Promise<RunView[]> {
  const found = await ledger.runs(filter)
  // What is being removed is there only for whoever asks for it.
  const runs = filter.statuses === undefined ? found.filter(({ status }) => status !== 'removing') : found
  const living = await livingOwners(ledger)
  return Promise.all(runs.map(async (run) => runView(run, living, await countsOf(ledger, run))))
}

export async function viewRun(reader: RunReader, id: string): Promise<RunDetail | undefined> {
  const { ledger, planOf } = reader
  const run = await ledger.run(id)
  if (run === undefined) return undefined
  const plan = planOf(run, (await ledger.definition(id)) ?? null)
  const tasks = new Map((await ledger.list({ run: id })).map((task) => [task.id, task]))
  const policies = new Policies(ledger)
  const steps: StepView[] = []
  for (const step of plan.steps) {
    steps.push(await stepView(reader, policies, step, tasks.get(step.id)))
    const fallback = tasks.get(fallbackId(step))
    if (fallback !== undefined)
      steps.push({ ...(await taskView(reader, policies, fallback, 'shell')), name: fallbackName(step) })
    tasks.delete(step.id)
    tasks.delete(fallbackId(step))
  }
  // What the document does not have any more has happened all the same.
  for (const task of tasks.values()) steps.push(await taskView(reader, policies, task, ''))
  const counts: Partial<Record<StepState, number>> = {}
  for (const { state } of steps) counts[state] = (counts[state] ?? 0) + 1
  const events = await ledger.events(0, MAX_EVENTS, id)
  const resumedAtMs = events.filter(({ type }) => type === 'run_resumed').map(({ atMs }) => atMs)
  return { ...runView(run, await livingOwners(ledger), counts), params: notesOf(run).params, steps, resumedAtMs }
}

/** What waits now, in all runs or in one; the next to come first. */
export async function viewRetrying(ledger: Ledger, run?: string): Promise<RetryingView[]> {
  const policies = new Policies(ledger)
  const waiting = await ledger.list({ statuses: ['waiting', 'parked'], ...(run !== undefined && { run }) })
  const views = waiting
    .filter((task) => task.status === 'parked' || retryStateOf(task).failures > 0)
    .map(async (task): Promise<RetryingView> => {
      const { attempts, retryBudgetMs } = await policies.of(task.policyHash)
      const [retry, { lastFailure }] = [retryStateOf(task), task.progress]
      return {
        run: task.run,
        step: task.id,
        state: task.status === 'parked' ? 'parked' : 'retrying',
        attempt: retry.launched + 1,
        attemptsAllowed: attempts,
        nextAttemptAtMs: task.dueAtMs,
        waitedMs: retry.totalDelayMs,
        retryBudgetMs,
        failure: lastFailure,
      }
    })
  return (await Promise.all(views)).toSorted((a, b) => (a.nextAttemptAtMs ?? 0) - (b.nextAttemptAtMs ?? 0))
}

function runView(run: RunRecord, living: ReadonlyMap<string, OtherOwner>, counts: RunView['counts']): RunView {
  const notes = notesOf(run)
  const owner = run.owner === null ? undefined : living.get(run.owner)
  return {
    id: run.id,
    kind: run.kind,
    name: run.name,
    file: notes.file ?? null,
    state: stateOf(run, owner),
    startedAtMs: run.createdAtMs,
    endedAtMs: run.endedAtMs,
    resumes: run.resumes,
    stopReason: notes.stopReason ?? null,
    failedStep: notes.failedStep ?? null,
    counts,
    owner: owner === undefined ? null : ownerView(owner, run),
  }
}

/** One that nobody conducts is interrupted, whatever it says. */
function stateOf({ status }: RunRecord, owner: OtherOwner | undefined): RunState {
  if (status === 'removing') return 'cancelled'
  return status === 'running' && owner === undefined ? 'interrupted' : status
}

function ownerView({ host, pid }: OtherOwner, { updatedAtMs }: RunRecord): OwnerView {
  return { host, pid, sinceMs: updatedAtMs }
}

const STATE_OF: Readonly<Record<TaskStatus, StepState>> = {
  waiting: 'retrying',
  running: 'running',
  parked: 'parked',
  undecided: 'undecided',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
}

async function countsOf(ledger: Ledger, run: RunRecord): Promise<RunView['counts']> {
  const { byStatus, tasks } = await ledger.analytics.totals({ run: run.id })
  const counts: Partial<Record<StepState, number>> = {}
  for (const [status, count] of Object.entries(byStatus)) counts[STATE_OF[status as TaskStatus]] = count
  const pending = (notesOf(run).steps ?? 0) - tasks
  return pending > 0 ? { ...counts, pending } : counts
}

async function stepView(
  reader: RunReader,
  policies: Policies,
  step: StepPlan,
  task: TaskRecord | undefined,
): Promise<StepView> {
  if (task !== undefined) return { ...(await taskView(reader, policies, task, step.action.kind)), name: step.name }
  return {
    id: step.id,
    name: step.name,
    kind: step.action.kind,
    state: 'pending',
    generation: 1,
    attempts: 0,
    attemptsAllowed: attemptsOf(step),
    nextAttemptAtMs: null,
    waitedMs: 0,
    retryBudgetMs: null,
    stopReason: null,
    failure: null,
    startedAtMs: null,
    endedAtMs: null,
    correlationId: null,
    history: [],
  }
}

async function taskView(
  { ledger, logOf }: RunReader,
  policies: Policies,
  task: TaskRecord,
  kind: string,
): Promise<StepView> {
  const { attempts, retryBudgetMs } = await policies.of(task.policyHash)
  const { lastFailure } = task.progress
  const retry = retryStateOf(task)
  const rows = await ledger.attempts(task)
  const isOver = task.owner === null && task.dueAtMs === null
  return {
    id: task.id,
    name: task.id,
    kind,
    state: taskState(task),
    generation: task.generation,
    attempts: retry.launched,
    attemptsAllowed: attempts,
    nextAttemptAtMs: task.dueAtMs,
    waitedMs: retry.totalDelayMs,
    retryBudgetMs,
    stopReason: task.stopReason,
    failure: task.status === 'succeeded' || isOlder(task) ? null : lastFailure,
    startedAtMs: rows[0]?.startedAtMs ?? task.progress.current?.startedAtMs ?? task.createdAtMs,
    endedAtMs: isOver ? task.updatedAtMs : null,
    correlationId: task.correlationId,
    history: rows.map((row) => attemptView(row, logOf(task.run, task.id, row))),
  }
}

export function taskState(task: TaskRecord): StepState {
  const { status, result } = task
  const retry = retryStateOf(task)
  if (status === 'succeeded' && (result as Partial<StepResult> | null | undefined)?.skipped !== undefined)
    return 'skipped'
  if (status === 'succeeded' && retry.failures > 0) return 'recovered'
  // Also one that was stopped in its first attempt: that runs again.
  if (status === 'waiting' && retry.failures === 0) return 'pending'
  return STATE_OF[status]
}

function attemptView(row: AttemptRow, log: string | null): AttemptView {
  const { generation, number, execution, startedAtMs, endedAtMs, outcome, delayBeforeMs, failure } = row
  return { generation, number, execution, startedAtMs, endedAtMs, outcome, delayBeforeMs, failure, log }
}

/** What policies allow, each read once. */
class Policies {
  private readonly ledger: Ledger
  private readonly known = new Map<string, Promise<{ attempts: number; retryBudgetMs: number | null }>>()

  constructor(ledger: Ledger) {
    this.ledger = ledger
  }

  of(hash: string): Promise<{ attempts: number; retryBudgetMs: number | null }> {
    let policy = this.known.get(hash)
    if (policy === undefined) {
      policy = this.read(hash)
      this.known.set(hash, policy)
    }
    return policy
  }

  private async read(hash: string): Promise<{ attempts: number; retryBudgetMs: number | null }> {
    const { attempts = 1, retryBudgetMs = null } = ((await this.ledger.policy(hash))?.policy ?? {}) as {
      attempts?: number
      retryBudgetMs?: number | null
    }
    return { attempts, retryBudgetMs }
  }
}
