/**
 * What a resume would do, and what stands against it: read from the ledger, before anything is touched. Imports the
 * library, the plan and the shapes.
 */
import type { StopReason } from 'reprise'
import type { FailureRecord, Ledger, RunRecord, TaskRecord } from 'reprise/durable'
import { faultsOfTasks, livingOwners, sinceSetBack, whileHeld } from 'reprise/internal'
import { attemptsOf } from '../plan/attempts.js'
import { type Difference, differencesOf } from '../plan/differences.js'
import { fallbackId } from '../plan/fallback.js'
import {
  HANDLER_PARTS,
  handlersOf,
  type InterruptAction,
  type PhasePlan,
  phasesFrom,
  type Plan,
  stepsOf,
} from '../plan/plan.js'
import { areHandlersLeft, isFinallyLeft } from '../view/handlers-left.js'
import { mapRefusals, type RecordedMap, recordedMaps } from './map/map-resume.js'
import { expectUsableGates } from './expect-gates.js'
import { expectWorkplaces } from './map/open-workplaces.js'
import { notesOf } from '../view/run-notes.js'
import { repeatRefusal } from './repeat-check.js'
import { runDeadline } from './run-record.js'
import { isOlder, retryStateOf } from '../view/retry-state.js'
import { allTasksOfRun } from '../view/run-pages.js'
import type { ResumePreview } from '../view/views.js'

export interface ResumeChoices {
  /**
   * Whether failed and cancelled steps are granted a fresh set of attempts.
   * @default false
   * @example { resetRetries: true }
   */
  readonly resetRetries: boolean
  /** Whether the run goes on although the document has changed. @default false @example { acceptChanges: true } */
  readonly acceptChanges: boolean
  /** Undecided steps whose interrupted attempt did happen. @default none @example { done: ['charge'] } */
  readonly done: readonly string[]
  /** Undecided steps that are to run again. @default none @example { rerun: ['charge'] } */
  readonly rerun: readonly string[]
  /**
   * The step that runs once more, with all behind it, whether or not they succeeded.
   * @default none
   * @example { from: 'load' }
   */
  readonly from?: string
  /** Whether the run is taken from a process that still holds its lease. @default false @example { force: true } */
  readonly force: boolean
  /**
   * In place of `max_failures` of the maps of the document, from now on.
   * @default that of the document
   * @example { maxFailures: 50 }
   */
  readonly maxFailures?: number
  /**
   * In place of `max_parallel` of the maps of the document, from now on.
   * @default that of the document
   * @example { maxParallel: 4 }
   */
  readonly maxParallel?: number
}

type RefusalReason = 'locked' | 'definition_changed' | 'exhausted' | 'inconsistent' | 'undecided' | 'not_possible'

export interface Refusal {
  /** What stands against the resume. */
  readonly kind: RefusalReason
  /** The same in a sentence. */
  readonly message: string
  /** Choices with which the resume would not be refused for this reason; several are alternatives. Empty: none helps. */
  readonly answers: readonly Partial<ResumeChoices>[]
  /** Retrying the dead letters of the run is another way; absent if it is none. */
  readonly hasLetters?: boolean
  /** Breakers that are open, as far as is recorded: fresh attempts are denied until they let them through. */
  readonly breakers?: readonly string[]
  /** A budget denied the next attempt, and denies fresh ones too while nothing is left. */
  readonly isBudgetEmpty?: boolean
  /** Items wait until a person decides about their dead letters; absent if none does. */
  readonly hasUndecidedItems?: boolean
  /** What has changed in the document; absent if that is not why. */
  readonly differences?: readonly Difference[]
  /** What is inconsistent in the records; absent if that is not why. */
  readonly faults?: readonly string[]
}

export interface ResumeCheck {
  readonly run: RunRecord
  readonly preview: ResumePreview
  /** Empty: it may go on. */
  readonly refusals: readonly Refusal[]
  /** There is nothing left to do. */
  readonly isDone: boolean
  /** Whether the plan is another one: it may still mean the same. */
  readonly isChanged: boolean
  readonly differences: readonly Difference[]
}

/** What the run would go on with, and what it was begun with: asked for only if it is something else. */
export interface ResumePlans {
  readonly now: Plan
  before(): Plan
}

const UNSUCCESSFUL = ['waiting', 'running', 'parked', 'undecided', 'failed', 'cancelled'] as const

export async function checkResume(
  ledger: Ledger,
  run: RunRecord,
  plans: ResumePlans,
  choices: ResumeChoices,
): Promise<ResumeCheck> {
  await expectUsableGates(ledger, plans.now, run.id)
  await expectWorkplaces(ledger, plans.now, notesOf(run).cwd, false)
  const counts = await ledger.countTasks(run.id)
  const { now: plan } = plans
  const from = choices.from ?? notesOf(run).repeatFrom
  const repeated = from === undefined ? [] : phasesFrom(plan, from)
  const isRepeated = idsOf(repeated)
  // Those that succeeded may be very many, and nothing has to be known of them.
  const unsuccessful = await allTasksOfRun(ledger, run.id, UNSUCCESSFUL)
  const left = unsuccessful.filter(({ id }) => !isRepeated.has(id))
  const open = left.filter(({ status }) => status !== 'failed' && status !== 'cancelled')
  const failed = left.filter(({ status }) => status === 'failed' || status === 'cancelled')
  // What is recorded of the document is masked; of what it was, the fingerprint tells.
  const isChanged = run.fingerprint !== plan.fingerprint
  const differences = isChanged ? differencesOf(plans.before(), plan) : []
  const recorded = await recordedMaps(ledger, run.id, plan, choices.resetRetries)
  const maps = recorded.filter(({ map }) => !isRepeated.has(map.id))
  const isHandling = from === undefined && (await isInHandlers(ledger, run, plan, failed))
  const checks = [
    await lockRefusal(ledger, run, choices),
    changeRefusal(run, differences, choices),
    choices.from === undefined
      ? isHandling
        ? undefined
        : endRefusal(run, plan, failed, choices)
      : await repeatRefusal({ ledger, run, plan, left: unsuccessful }, choices.from),
    ...(isHandling ? [] : await mapRefusals(ledger, run, maps, choices)),
    ...(await faultRefusals(ledger, run, open)),
    ...undecidedRefusals(open, choices),
  ]
  const kept = from === undefined ? (counts.succeeded ?? 0) : keptBefore(plan, repeated, left)
  const found = { open, failed, kept, maps, repeated, nowMs: await ledger.now() }
  const preview = previewOf(run, plan, found, choices)
  const refusals = checks.filter((refusal) => refusal !== undefined)
  return { run, preview, refusals, isDone: run.status === 'succeeded' && from === undefined, isChanged, differences }
}

/** Steps before those that run once more; all of them have ended. */
function keptBefore(plan: Plan, repeated: readonly PhasePlan[], left: readonly TaskRecord[]): number {
  const before = plan.phases.slice(0, plan.phases.length - repeated.length)
  const unsuccessful = new Set(left.map(({ id }) => id))
  return stepsOf({ phases: before }).filter(({ id }) => !unsuccessful.has(id)).length
}

/** Of phases, and of their fallbacks. */
function idsOf(phases: readonly PhasePlan[]): ReadonlySet<string> {
  return new Set(phases.flatMap((phase) => [phase.id, fallbackId(phase)]))
}

/** Whether the steps have ended, and what goes on is `on_failure` or `finally`: nothing else is retried then. */
async function isInHandlers(
  ledger: Ledger,
  run: RunRecord,
  plan: Plan,
  failed: readonly TaskRecord[],
): Promise<boolean> {
  if (handlersOf(plan).length === 0) return false
  if (run.status === 'cancelled') return isFinallyLeft(ledger, run, plan)
  if (run.status !== 'running' && run.status !== 'interrupted') return false
  const { ending } = notesOf(run)
  // Killed between the failure of the last step and the record of what follows from it, only the failure is known.
  if (ending === undefined && !failed.some(({ id }) => endsRun(plan, id))) return false
  const parts = ending === undefined || ending.state === 'failed' ? HANDLER_PARTS : (['finally'] as const)
  return areHandlersLeft(ledger, run.id, plan, parts)
}

async function lockRefusal(ledger: Ledger, run: RunRecord, { force }: ResumeChoices): Promise<Refusal | undefined> {
  const holder = run.owner === null ? undefined : (await livingOwners(ledger)).get(run.owner)
  if (holder === undefined || force) return undefined
  const { pid, host, leaseLeftMs } = holder
  const since = new Date(run.updatedAtMs).toISOString()
  const isHere = await isSeen(ledger, run.owner)
  return {
    kind: 'locked',
    message: `Run ${run.id} is being executed by process ${pid} on ${host} since ${since}. ${whileHeld(isHere, leaseLeftMs)}`,
    // A process that is seen to live and renews its lease is not to be robbed.
    answers: leaseLeftMs > 0 && isHere ? [] : [{ force: true }],
  }
}

/** Whether the process is seen on this machine; of others only the lease tells, and here none counts. */
async function isSeen(ledger: Ledger, owner: string | null): Promise<boolean> {
  const { spans } = ledger
  const seen = await livingOwners({ spans, owners: () => ledger.owners(), leaseNow: async () => Infinity })
  return owner !== null && seen.has(owner)
}

function changeRefusal(
  run: RunRecord,
  differences: readonly Difference[],
  { acceptChanges }: ResumeChoices,
): Refusal | undefined {
  if (differences.length === 0 || acceptChanges) return undefined
  return {
    kind: 'definition_changed',
    message: `The workflow has changed since run ${run.id} began.`,
    answers: [{ acceptChanges: true }],
    differences,
  }
}

function endRefusal(
  run: RunRecord,
  plan: Plan,
  failed: readonly TaskRecord[],
  { resetRetries }: ResumeChoices,
): Refusal | undefined {
  if (resetRetries) return undefined
  const cure = { answers: [{ resetRetries: true }] }
  if (run.status === 'cancelled') return { kind: 'not_possible', message: `Run ${run.id} was cancelled.`, ...cure }
  const isOutOfTime = run.status === 'failed' && notesOf(run).stopReason === 'timeout'
  const final = failed
    // What the timeout of the run has cancelled has not failed by itself.
    .filter(({ status }) => !isOutOfTime || status !== 'cancelled')
    .filter(({ id }) => (run.status !== 'running' && run.status !== 'interrupted') || endsRun(plan, id))
  if (final.length === 0) {
    if (!isOutOfTime) return undefined
    return { kind: 'exhausted', message: `Run ${run.id} has reached its timeout.`, ...cure }
  }
  const list = final.map((task) => {
    const { id, stopReason } = task
    const count = retryStateOf(task).launched
    return `${id} (${stopReason ?? 'failed'} after ${count} ${count === 1 ? 'attempt' : 'attempts'})`
  })
  const message = `Failed for good: ${list.join(', ')}. A resume does not retry failed steps.`
  const breakers = [...new Set(final.flatMap(({ progress }) => denierOf('breaker', progress.lastFailure) ?? []))]
  const isBudgetEmpty = final.some(({ progress }) => denierOf('budget', progress.lastFailure) !== undefined)
  return {
    kind: 'exhausted',
    message,
    ...cure,
    ...(breakers.length > 0 && { breakers }),
    ...(isBudgetEmpty && { isBudgetEmpty }),
  }
}

/** The breaker or budget that denied the next attempt; undefined if none of this kind did. */
export function denierOf(kind: 'breaker' | 'budget', failure: FailureRecord | null | undefined): string | undefined {
  const gate = failure?.denial?.gate
  return gate?.startsWith(`${kind}:`) === true ? gate.slice(kind.length + 1) : undefined
}

/** Whether nothing comes after it once it has failed. */
function endsRun({ phases }: Plan, id: string): boolean {
  const step = phases.find((one) => one.id === id || fallbackId(one) === id)
  return step !== undefined && (step.onFailure === 'stop' || step.id !== id)
}

async function faultRefusals(ledger: Ledger, run: RunRecord, open: readonly TaskRecord[]): Promise<Refusal[]> {
  const faulty = await faultsOfTasks(ledger, open)
  if (faulty.length === 0) return []
  const faults = faulty.flatMap(({ task, faults: found }) => found.map((fault) => `${task.id}: ${fault}`))
  const message = `The records of run ${run.id} are inconsistent; nothing was changed.`
  return [{ kind: 'inconsistent', message, answers: [], faults }]
}

function undecidedRefusals(open: readonly TaskRecord[], { done, rerun }: ResumeChoices): Refusal[] {
  const undecided = open.filter(({ status }) => status === 'undecided').map(({ id }) => id)
  const answered = [...done, ...rerun]
  const refusals: Refusal[] = undecided
    .filter((id) => !answered.includes(id))
    .map((id) => ({
      kind: 'undecided',
      message: `Step ${id} was interrupted, and Reprise cannot know whether it took effect.`,
      answers: [{ done: [id] }, { rerun: [id] }],
    }))
  for (const id of answered.filter((one) => !undecided.includes(one)))
    refusals.push({
      kind: 'not_possible',
      message: `Step ${id} is not undecided, so it needs no answer.`,
      answers: [],
    })
  return refusals
}

/** Why it will not run again, as the driver says when it comes to it; undefined if it will. */
function denialOf(task: TaskRecord, allowed: number, nowMs: number): StopReason | undefined {
  const { failures, expiresAtMs, deadlineAtMs } = retryStateOf(task)
  if (failures >= allowed) return 'attempts_exhausted'
  if (deadlineAtMs !== null && nowMs >= deadlineAtMs) return 'timeout'
  return expiresAtMs !== null && nowMs >= expiresAtMs ? 'retry_budget_exhausted' : undefined
}

/** Stopped in order, an attempt waits to be run again. */
function isInterrupted({ status, progress }: TaskRecord): boolean {
  return status === 'running' || (status === 'waiting' && progress.current !== null)
}

interface FoundTasks {
  readonly open: readonly TaskRecord[]
  readonly failed: readonly TaskRecord[]
  readonly kept: number
  readonly maps: readonly RecordedMap[]
  /** Those that run once more. */
  readonly repeated: readonly PhasePlan[]
  readonly nowMs: number
}

function previewOf(
  run: RunRecord,
  plan: Plan,
  { open, failed, kept: succeeded, maps, repeated, nowMs }: FoundTasks,
  { resetRetries, done, rerun, from }: ResumeChoices,
): ResumePreview {
  const allowed = new Map(stepsOf(plan).map((step) => [step.id, attemptsOf(step)]))
  const rules = new Map(stepsOf(plan).map(({ id, onInterrupt }) => [id, onInterrupt]))
  const isAgain = (task: TaskRecord): boolean =>
    isInterrupted(task) ? (rules.get(task.id) ?? 'rerun') === 'rerun' : rerun.includes(task.id)
  // What the plan does not have any more is cancelled.
  const planned = new Set(plan.phases.flatMap((step) => [step.id, fallbackId(step)]))
  const going = open.filter(({ id }) => planned.has(id))
  const resting = going.filter((task) => !isInterrupted(task) && task.status !== 'undecided')
  // Also an attempt that was interrupted: past the expiry of its budget or its deadline it is not run again.
  const interrupted = going.filter((task) => isInterrupted(task) && isAgain(task))
  const denied = [...interrupted, ...resting].flatMap((task) => {
    const reason = denialOf(task, allowed.get(task.id) ?? 1, nowMs)
    return reason === undefined ? [] : { step: task.id, reason }
  })
  const isDenied = ({ id }: TaskRecord): boolean => denied.some(({ step }) => step === id)
  const again = going.filter((task) => isAgain(task) && !isDenied(task))
  const waiting = resting.filter((task) => !isDenied(task))
  const known = new Set([...open, ...failed, ...openMaps(maps)].map(({ id }) => id))
  const kept = succeeded + maps.length - openMaps(maps).length
  return {
    run: run.id,
    kept: kept + done.length,
    rerun: again.map((task) => ({
      step: task.id,
      attempt: task.progress.current?.attempt ?? 1,
      of: allowed.get(task.id) ?? 1,
    })),
    waiting: waiting.map((task) => ({
      step: task.id,
      attempt: retryStateOf(task).launched + 1,
      of: allowed.get(task.id) ?? 1,
      // As the resume takes it up: no longer than what was left when it was written.
      nextAttemptAtMs: sinceSetBack(task, nowMs).dueAtMs,
    })),
    denied,
    reset: resetRetries ? failed.map(({ id }) => id) : [],
    repeated: repeated.map(({ id }) => id),
    pending: Math.max(
      0,
      plan.phases.length - repeated.length - kept - plan.phases.filter(({ id }) => known.has(id)).length,
    ),
    budgetLeft: open.flatMap((task) => {
      const { expiresAtMs } = retryStateOf(task)
      return expiresAtMs === null ? [] : { step: task.id, expiresAtMs }
    }),
    maps: maps.map(({ preview }) => preview),
    warnings: [...timeWarnings(run, plan, resetRetries || from !== undefined, nowMs), ...stepWarnings(open, rules)],
  }
}

/** Maps that the resume goes on with. */
function openMaps(maps: readonly RecordedMap[]): { readonly id: string }[] {
  const isEnded = ({ record, preview }: RecordedMap): boolean =>
    (record.status === 'succeeded' || record.status === 'completed_with_failures') && preview.reset === 0
  return maps.filter((one) => !isEnded(one)).map(({ map }) => ({ id: map.id }))
}

/** With fresh attempts the time of the run counts anew. */
function timeWarnings(run: RunRecord, plan: Plan, isFresh: boolean, nowMs: number): string[] {
  const notes = notesOf(run)
  const deadlineAtMs = runDeadline(plan, run, notes)
  const isOver = deadlineAtMs !== null && nowMs >= deadlineAtMs && notes.ending === undefined
  if (!isOver || isFresh) return []
  return ['the run has reached its `timeout`: no further step begins']
}

function stepWarnings(open: readonly TaskRecord[], rules: ReadonlyMap<string, InterruptAction>): string[] {
  return [
    ...open.filter(isOlder).map(({ id }) => `step ${id} was recorded without a retry state: it gets a fresh one`),
    ...open.filter(isInterrupted).flatMap(({ id }) => warningOf(id, rules.get(id))),
  ]
}

/** What becomes of an attempt in flight, where it is not simply run again. */
function warningOf(id: string, rule: InterruptAction = 'rerun'): string[] {
  if (rule === 'rerun') return []
  const what = rule === 'fail' ? '`on_interrupt: fail` leaves it to you' : 'its `verify` command looks first'
  return [`step ${id} was interrupted: ${what}`]
}
