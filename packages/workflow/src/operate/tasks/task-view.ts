/**
 * What people and programs are shown of durable tasks of programs: the shapes that `--json` prints. Imports the library and
 * the views.
 */
import type { StopReason } from 'reprise'
import type { AttemptRow, FailureRecord, Json, Ledger, StoredEvent, TaskRecord, TaskStatus } from 'reprise/durable'
import { livingOwners, type OtherOwner } from 'reprise/internal'
import { retryStateOf, waitedMsOf } from '../../view/retry-state.js'
import { Policies } from '../../view/step-views.js'

/** A durable task of a program. */
export interface TaskView {
  /** What names it on the command line: `NAME/ID`. */
  readonly task: string
  readonly name: string
  readonly id: string
  readonly state: TaskStatus
  readonly generation: number
  /** Attempts begun in this generation. */
  readonly attempts: number
  readonly attemptsAllowed: number
  /** When the next attempt starts; of a parked task, when it gives up. */
  readonly nextAttemptAtMs: number | null
  readonly waitedMs: number
  readonly stopReason: StopReason | null
  readonly failure: FailureRecord | null
  readonly startedAtMs: number
  readonly changedAtMs: number
  /** The process that has it; null if none does, or if that is gone. */
  readonly owner: { readonly pid: number; readonly host: string } | null
  readonly correlationId: string
}

/** A task with its data and its history. */
export interface TaskDetail extends TaskView {
  readonly input: Json
  /** What it gave; null if it has not succeeded. */
  readonly result: Json
  /** Its attempts, of all generations. */
  readonly history: readonly TaskAttempt[]
  /** What people did: resets, changes of its data, cancellations. */
  readonly changes: readonly TaskChange[]
}

/** One start of an attempt. */
interface TaskAttempt
  extends Pick<
    AttemptRow,
    | 'generation'
    | 'attempt'
    | 'execution'
    | 'startedAtMs'
    | 'endedAtMs'
    | 'outcome'
    | 'delayBeforeMs'
    | 'failure'
    | 'signature'
  > {}

/** Something that was changed by hand. */
interface TaskChange {
  readonly type: string
  readonly changedAtMs: number
  /** Who and why, and what was there before. */
  readonly detail: Json
}

/** At most this many changes are shown. */
const MOST_CHANGES = 1000
const CHANGES: ReadonlySet<string> = new Set([
  'reset',
  'input_changed',
  'acknowledged',
  'decided',
  'cancelled',
  'retry_now',
  'policy_accepted',
])

export async function taskViews(ledger: Ledger, tasks: readonly TaskRecord[]): Promise<TaskView[]> {
  const [policies, living, nowMs] = [new Policies(), await livingOwners(ledger), await ledger.now()]
  await policies.know(ledger, tasks)
  return tasks.map((task) => viewOf(task, policies.of(task.policyHash).attempts, living, nowMs))
}

export async function taskDetail(ledger: Ledger, task: TaskRecord): Promise<TaskDetail> {
  const [view] = (await taskViews(ledger, [task])) as [TaskView]
  const { scopeKind, scope, id } = task
  const events = await ledger.events(0, MOST_CHANGES, { scopeKind, scope, id })
  const history = (await ledger.attempts(task)).map(attemptView)
  return { ...view, input: task.input, result: task.result ?? null, history, changes: events.flatMap(changeView) }
}

function viewOf(
  task: TaskRecord,
  attemptsAllowed: number,
  living: ReadonlyMap<string, OtherOwner>,
  nowMs: number,
): TaskView {
  const owner = task.owner === null ? undefined : living.get(task.owner)
  return {
    task: `${task.scope}/${task.id}`,
    name: task.scope,
    id: task.id,
    state: task.status,
    generation: task.generation,
    attempts: retryStateOf(task).launched,
    attemptsAllowed,
    nextAttemptAtMs: task.dueAtMs,
    waitedMs: waitedMsOf(task, nowMs),
    stopReason: task.stopReason,
    failure: task.progress.lastFailure ?? null,
    startedAtMs: task.createdAtMs,
    changedAtMs: task.updatedAtMs,
    owner: owner === undefined ? null : { pid: owner.pid, host: owner.host },
    correlationId: task.correlationId,
  }
}

function attemptView(row: AttemptRow): TaskAttempt {
  const { generation, attempt, execution, startedAtMs, endedAtMs, outcome, delayBeforeMs, failure, signature } = row
  return { generation, attempt, execution, startedAtMs, endedAtMs, outcome, delayBeforeMs, failure, signature }
}

function changeView({ type, atMs, detail }: StoredEvent): TaskChange[] {
  return CHANGES.has(type) ? [{ type, changedAtMs: atMs, detail }] : []
}
