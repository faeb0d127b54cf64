/**
 * Steps of a run as they are in a ledger, from what was read of all of them at once: a run may have very many. Imports
 * the library, the plan and the shapes.
 */
import type { AttemptRow, Json, Ledger, TaskRecord, TaskStatus } from 'reprise/durable'
import { attemptsOf } from '../plan/attempts.js'
import type { StepPlan } from '../plan/plan.js'
import type { StepResult } from '../run/run-record.js'
import { isOlder, retryStateOf, waitedMsOf } from './retry-state.js'
import { attemptMs, type TimeSpan } from './run-times.js'
import type { AttemptView, StepState, StepView } from './views.js'

/** Where the output of an attempt is, if there is any. */
export type LogFinder = (step: string, attempt: AttemptMark) => string | null

export type AttemptMark = Pick<AttemptRow, 'generation' | 'attempt' | 'execution'>

export interface StepRows {
  readonly attempts: readonly AttemptRow[]
  readonly sessions: readonly TimeSpan[]
  readonly logOf: LogFinder
  /** No process conducts the run, which has not ended. */
  readonly isInterrupted: boolean
}

export class StepViews {
  private readonly policies = new Policies()
  private attempts: ReadonlyMap<string, readonly AttemptRow[]>
  private readonly sessions: readonly TimeSpan[]
  private readonly logOf: LogFinder
  private readonly isInterrupted: boolean

  /** `rows`: the attempts of all steps, and when processes conducted their run. */
  constructor(rows: StepRows) {
    this.sessions = rows.sessions
    this.logOf = rows.logOf
    this.isInterrupted = rows.isInterrupted
    this.attempts = byTask(rows.attempts)
  }

  /** Goes on to other tasks, with their attempts. */
  turnTo(attempts: ReadonlyMap<string, readonly AttemptRow[]>): void {
    this.attempts = attempts
  }

  /** Before these tasks are looked at. */
  know(ledger: Ledger, tasks: readonly TaskRecord[]): Promise<void> {
    return this.policies.know(ledger, tasks)
  }

  step(step: StepPlan, task: TaskRecord | undefined): StepView {
    const part = step.part === undefined ? {} : { part: step.part }
    if (task !== undefined) return { ...this.task(task, step.action.kind, step.name), ...part }
    return {
      id: step.id,
      name: step.name,
      ...part,
      kind: step.action.kind,
      state: 'pending',
      generation: 1,
      attempts: 0,
      attemptsAllowed: attemptsOf(step),
      nextAttemptAtMs: null,
      activeMs: 0,
      waitedMs: 0,
      retryBudgetMs: null,
      stopReason: null,
      failure: null,
      startedAtMs: null,
      endedAtMs: null,
      correlationId: null,
      log: null,
      history: [],
    }
  }

  /** One that the plan need not have. */
  task(task: TaskRecord, kind: string, name = task.id): StepView {
    const { attempts, retryBudgetMs } = this.policies.of(task.policyHash)
    const { lastFailure } = task.progress
    const retry = retryStateOf(task)
    const rows = this.attempts.get(task.id) ?? []
    const history = rows.map((row) => attemptView(row, this.logOf(task.id, row)))
    const isOver = task.owner === null && task.dueAtMs === null
    return {
      id: task.id,
      name,
      kind,
      state: this.isInterrupted && wasStarted(task, rows.at(-1)) ? 'interrupted' : taskState(task),
      generation: task.generation,
      attempts: retry.launched,
      attemptsAllowed: attempts,
      nextAttemptAtMs: task.dueAtMs,
      activeMs: this.activeMs(task, rows),
      waitedMs: waitedMsOf(task, this.sessions.at(-1)?.toMs ?? Infinity),
      retryBudgetMs,
      stopReason: task.stopReason,
      failure: task.status === 'succeeded' || isOlder(task) ? null : lastFailure,
      startedAtMs: rows[0]?.startedAtMs ?? task.progress.current?.startedAtMs ?? task.createdAtMs,
      endedAtMs: isOver ? task.updatedAtMs : null,
      correlationId: task.correlationId,
      log:
        this.runningLog(task) ?? history.findLast((one) => one.generation === task.generation && one.log)?.log ?? null,
      history,
    }
  }

  private runningLog({ id, generation, status, progress: { current } }: TaskRecord): string | null {
    return status === 'running' && current ? this.logOf(id, { ...current, generation }) : null
  }

  private activeMs({ status, progress }: TaskRecord, rows: readonly AttemptRow[]): number {
    const { current } = progress
    const isRunning = status === 'running' && current !== null && current !== undefined
    let sumMs = isRunning ? attemptMs({ startedAtMs: current.startedAtMs, endedAtMs: Infinity }, this.sessions) : 0
    for (const row of rows) sumMs += attemptMs(row, this.sessions)
    return sumMs
  }
}

function byTask(rows: readonly AttemptRow[]): Map<string, AttemptRow[]> {
  const attempts = new Map<string, AttemptRow[]>()
  for (const row of rows) {
    const known = attempts.get(row.id)
    if (known === undefined) attempts.set(row.id, [row])
    else known.push(row)
  }
  return attempts
}

/** Whether the last thing that happened to a task, before its process was stopped or killed, was the start of an attempt. */
function wasStarted({ status, generation }: TaskRecord, last: AttemptRow | undefined): boolean {
  if (status === 'running') return true
  return status === 'waiting' && last?.outcome === 'interrupted' && last.generation === generation
}

export const STATE_OF: Readonly<Record<TaskStatus, StepState>> = {
  waiting: 'retrying',
  running: 'running',
  parked: 'parked',
  undecided: 'undecided',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
}

export function taskState(task: TaskRecord): StepState {
  const { status, result } = task
  const { failures } = retryStateOf(task)
  if (status === 'succeeded') return succeededState(result, failures)
  // Also one that was stopped in its first attempt: that runs again.
  if (status === 'waiting' && failures === 0) return 'pending'
  return STATE_OF[status]
}

/** `failures`: of attempts before. */
export function succeededState(result: Json | undefined, failures: number): StepState {
  if ((result as Partial<StepResult> | null | undefined)?.skipped !== undefined) return 'skipped'
  return failures > 0 ? 'recovered' : 'succeeded'
}

/** Why it was skipped, as it is recorded. */
export function reasonOf({ result }: TaskRecord): string {
  return (result as Partial<StepResult> | null | undefined)?.skipped ?? 'when'
}

function attemptView(row: AttemptRow, log: string | null): AttemptView {
  const { generation, attempt, execution, startedAtMs, endedAtMs, outcome, delayBeforeMs, failure } = row
  return { generation, attempt, execution, startedAtMs, endedAtMs, outcome, delayBeforeMs, failure, log }
}

/** What a policy allows. */
export interface Allowance {
  readonly attempts: number
  readonly retryBudgetMs: number | null
}

/** What policies allow, each read once. */
export class Policies {
  private readonly known = new Map<string, Allowance>()

  /** Reads the policies of these tasks. */
  async know(ledger: Ledger, tasks: readonly Pick<TaskRecord, 'policyHash'>[]): Promise<void> {
    for (const { policyHash } of tasks) {
      if (this.known.has(policyHash)) continue
      const policy = ((await ledger.policy(policyHash))?.policy ?? {}) as Partial<Allowance>
      this.known.set(policyHash, { attempts: policy.attempts ?? 1, retryBudgetMs: policy.retryBudgetMs ?? null })
    }
  }

  of(hash: string): Allowance {
    return this.known.get(hash) ?? { attempts: 1, retryBudgetMs: null }
  }
}
