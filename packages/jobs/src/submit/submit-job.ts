/**
 * Records a job, all or nothing: the job, its datacenters, its budget, a task for each workflow at each datacenter, and its
 * timers, in one transaction. Imports the rules, the records and the library.
 *
 * Invariants: the same id or key with the same payload is the same job, however many processes submit it at once; with
 * another payload nothing is written. The row of the budget, which can be locked before it is there, orders submitters.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { OptionsError, type PolicyInput } from 'reprise'
import {
  type GateRecord,
  type Json,
  type Ledger,
  type NewTask,
  type RunRecord,
  TaskRefusedError,
  type View,
} from 'reprise/durable'
import type { Changes } from 'reprise/internal'
import { jobEvent } from '../drive/job-event.js'
import { newBudgetGate } from '../record/budget-record.js'
import { fieldsOf, textIn } from '../record/damaged-record.js'
import { runOfDatacenter } from '../record/datacenter-record.js'
import { jobOf, runOfJob } from '../record/job-record.js'
import { aliasKey, budgetKey, DATACENTER_KIND, datacenterRun, JOB_KIND } from '../record/names.js'
import { newTimer } from '../record/queue-shapes.js'
import { type Clamp, effectiveSettings, type EffectiveSettings } from '../rules/clamp.js'
import { idFromKey, type JobRequest, readJobRequest } from '../rules/job-request.js'
import type { OperatorSettings } from '../rules/operator-settings.js'
import { expectKnown } from './known-datacenters.js'
import { effectiveOperator } from './operator-record.js'
import { type NeedsGraph, needsGraph, workflowTasks } from './workflow-tasks.js'

export interface SubmitParts {
  readonly ledger: Ledger
  /** Of the environment of this process. */
  readonly operator: OperatorSettings
  readonly policy: PolicyInput
}

/** Options of `submit`. */
export interface SubmitOptions {
  /**
   * The datacenters are worker groups of the submitter's own: they need not be registered.
   * @default false
   * @example { isEmbedded: true }
   */
  readonly isEmbedded?: boolean
  /** Who submits it, for its event. @default nobody is named @example { by: 'ada' } */
  readonly by?: string
}

/** A job that was submitted, now or before. */
export interface SubmittedJob {
  /** The id of the job. */
  readonly id: string
  /** False: the same job had been submitted before. */
  readonly isNew: boolean
  /** What holds for it. */
  readonly settings: EffectiveSettings
  /** Values that the job did not get as they were requested. */
  readonly clamps: readonly Clamp[]
}

/** Workflows times datacenters: they are recorded in one transaction, for which others wait. */
const MAX_TASKS = 20_000

/** How often the owner of a key is looked for again, where another submitter was faster. */
const LOOKS = 5

/** Throws an `OptionsError` for a wrong request, and a `TaskRefusedError` (`conflict`) for another payload. */
export async function submitJob(
  parts: SubmitParts,
  value: unknown,
  options: SubmitOptions = {},
): Promise<SubmittedJob> {
  const request = readJobRequest(value)
  expectSize(request)
  const operator = await effectiveOperator(parts.ledger, parts.operator)
  const { settings, clamps } = effectiveSettings(request, operator)
  for (let look = 0; look < LOOKS; look++) {
    const id = await idOf(parts.ledger, request)
    // A job that was submitted before is found again, though a datacenter of it was disabled meanwhile.
    if (options.isEmbedded !== true && (await parts.ledger.run(id)) === undefined)
      await expectKnown(parts.ledger, request.datacenters)
    const submitted = await record(parts, { id, request, settings, clamps, by: options.by })
    if (submitted !== undefined) return submitted
  }
  throw new TaskRefusedError('conflict', 'The idempotency key is being used for another job at the moment')
}

function expectSize({ workflows, datacenters }: JobRequest): void {
  const tasks = workflows.length * datacenters.length
  if (tasks <= MAX_TASKS) return
  const message = `${workflows.length} workflows at ${datacenters.length} datacenters are ${tasks}, and at most ${MAX_TASKS} are submitted at once: split the job`
  throw new OptionsError('the job', [{ path: 'workflows', message }])
}

/** The id that was given, the job that has the key, or a new one. */
async function idOf(ledger: Ledger, { id, idempotencyKey, name }: JobRequest): Promise<string> {
  if (idempotencyKey === null) return id ?? newJobId(name)
  const derived = idFromKey(idempotencyKey)
  if (id !== null && id !== derived) return id
  const key = aliasKey(derived)
  const alias = await ledger.transact({ tasks: [], gates: [key] }, (view) => ({ result: aliasIn(view, key) }))
  return alias ?? derived
}

/** An id that nobody has, with the name and the day for people. */
export function newJobId(name: string): string {
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
  return `${name.slice(0, 90)}-${day}-${randomBytes(4).toString('hex')}`
}

function aliasIn(view: View, key: string): string | undefined {
  const gate = view.gate(key)
  return gate === undefined ? undefined : textIn(fieldsOf(gate.state, key), 'job', key)
}

interface Submission {
  readonly id: string
  readonly request: JobRequest
  readonly settings: EffectiveSettings
  readonly clamps: readonly Clamp[]
  /** Who submits it; undefined: nobody is named. */
  readonly by: string | undefined
}

/** Undefined: the key belongs to another job than was thought, and has to be looked up again. */
async function record(parts: SubmitParts, submission: Submission): Promise<SubmittedJob | undefined> {
  const { id, request } = submission
  const { datacenters, idempotencyKey } = request
  const derived = idempotencyKey === null ? id : idFromKey(idempotencyKey)
  const alias = aliasKey(derived)
  const graph = needsGraph(request.workflows)
  const correlationId = randomUUID()
  const made = (now: number): JobRows => rowsOf(parts, submission, graph, correlationId, now)
  const { tasks } = made(0)
  const keys = {
    gates: [...budgetsOf(submission).map(({ key }) => key), ...(idempotencyKey === null ? [] : [alias])],
    runs: [...new Set([id, derived, ...datacenters.map((name) => datacenterRun(id, name))])],
    tasks: tasks.map(({ task }) => task),
  }
  return parts.ledger.transact<SubmittedJob | undefined>(keys, (view) => {
    const owner = idempotencyKey === null ? undefined : aliasIn(view, alias)
    if (owner !== undefined && owner !== id) {
      if (request.id !== null && request.id !== derived) throw keyConflict(owner)
      return { result: undefined }
    }
    const existing = view.run(id)
    if (existing !== undefined) return { result: sameJob(existing, submission) }
    if (derived !== id && view.run(derived) !== undefined) throw keyConflict(derived)
    const { tasks: created, ...rows } = made(view.now)
    const aliases = derived === id ? [] : [aliasGate(alias, id)]
    const { settings, clamps } = submission
    return {
      ...rows,
      created,
      gates: [...(rows.gates ?? []), ...aliases],
      result: { id, isNew: true, settings, clamps },
    }
  })
}

function aliasGate(key: string, job: string): GateRecord {
  return { key, kind: 'record', state: { job } }
}

function keyConflict(owner: string): TaskRefusedError {
  return new TaskRefusedError('conflict', `The idempotency key belongs to the job ${owner}, which has another id`)
}

/** The job as it was submitted before, if it is the same. */
function sameJob(run: RunRecord, { id, request, clamps }: Submission): SubmittedJob {
  if (run.kind !== JOB_KIND)
    throw new TaskRefusedError('conflict', `There is a run ${id} that is no job: choose another id`)
  if (run.status === 'removing') throw new TaskRefusedError('conflict', `The job ${id} is being removed`)
  const { settings, idempotencyKey } = jobOf(run).detail
  if (request.idempotencyKey !== null && request.idempotencyKey !== idempotencyKey)
    throw new TaskRefusedError('conflict', `The job ${id} was submitted with another idempotency key`)
  if (run.fingerprint !== request.payloadHash)
    throw new TaskRefusedError(
      'conflict',
      `The job ${id} was submitted before with other content: choose another id or key`,
    )
  return { id, isNew: false, settings, clamps }
}

/** `tasks`: those that are created. */
type JobRows = Omit<Changes, 'tasks' | 'created'> & { readonly tasks: readonly NewTask[] }

/** Everything that a new job consists of. */
function rowsOf(
  { policy }: SubmitParts,
  submission: Submission,
  graph: NeedsGraph,
  correlationId: string,
  now: number,
): JobRows {
  const { id, request, settings, clamps, by } = submission
  const { datacenters, workflows, name, payloadHash, idempotencyKey } = request
  const common = { status: 'running', owner: null, fence: 1, resumes: 0, correlationId, ...timesAt(now) } as const
  const job = {
    ...common,
    id,
    kind: JOB_KIND,
    name,
    fingerprint: payloadHash,
    detail: {
      settings,
      targets: datacenters,
      startedAtMs: now,
      slots: {},
      completion: null,
      completedAtMs: null,
      version: 0,
      idempotencyKey,
      retry: null,
      tally: null,
    },
  }
  const named = by === undefined ? {} : { by }
  const about = { name, datacenters: [...datacenters], workflows: workflows.length, ...named }
  const counts = { total: workflows.length, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 }
  const detail = { job: id, counts, blocked: graph.blocked, denied: 0, end: null, round: 0 }
  const sites = datacenters.map((datacenter) => ({
    run: runOfDatacenter({
      ...common,
      id: datacenterRun(id, datacenter),
      kind: DATACENTER_KIND,
      name: datacenter,
      fingerprint: payloadHash,
      detail,
    }),
    definition: null,
  }))
  const taskInput = { job: id, workflows, settings, graph, policy, correlationId }
  return {
    runs: [{ run: runOfJob(job), definition: { request, clamps } as unknown as Json }, ...sites],
    gates: budgetsOf(submission),
    events: [jobEvent('JobSubmitted', job, about, now)],
    tasks: [
      ...datacenters.flatMap((datacenter) => workflowTasks({ ...taskInput, datacenter }, now)),
      ...timersOf(submission, correlationId, now),
    ],
  }
}

function timesAt(now: number): Pick<RunRecord, 'createdAtMs' | 'updatedAtMs' | 'endedAtMs'> {
  return { createdAtMs: now, updatedAtMs: now, endedAtMs: null }
}

function budgetsOf({ id, request, settings }: Submission): GateRecord[] {
  if (settings.budgetScope === 'job') return [newBudgetGate(budgetKey(id), settings)]
  return request.datacenters.map((datacenter) => newBudgetGate(budgetKey(id, datacenter), settings))
}

function timersOf({ id: job, request, settings }: Submission, correlationId: string, now: number): NewTask[] {
  const { deadlineMs, timeoutMs, dispatchTimeoutMs, checkIntervalMs } = settings
  const at = (afterMs: number): { job: string; dueAtMs: number; correlationId: string } => {
    return { job, dueAtMs: now + afterMs, correlationId }
  }
  // With a check after it: the process that has taken the timer may stop before it fires, and hold it for its lease.
  const ending = (kind: 'deadline' | 'timeout', afterMs: number | null): NewTask[] =>
    afterMs === null
      ? []
      : [
          newTimer({ kind, ...at(afterMs) }, now),
          newTimer({ kind: 'check', datacenter: kind, ...at(afterMs + checkIntervalMs) }, now),
        ]
  return [
    ...ending('deadline', deadlineMs),
    ...ending('timeout', timeoutMs),
    ...(dispatchTimeoutMs === null
      ? []
      : request.datacenters.map((datacenter) =>
          newTimer({ kind: 'dispatch', datacenter, ...at(dispatchTimeoutMs) }, now),
        )),
  ]
}
