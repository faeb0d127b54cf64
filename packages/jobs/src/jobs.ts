/**
 * Jobs for programs: submit one and wait for its result, or work for a datacenter. A process that has jobs open also
 * executes timers and reports of every job of the ledger, so that a deadline fires while any process is alive. Imports the
 * library and every part of this package.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Clock, type DurationInput, OptionsError, parseDuration, type PolicyInput } from 'reprise'
import { type Durable, type Ledger, openDurable, openLedger } from 'reprise/durable'
import { expectOptions, type OptionCheck, serveQueue, sharedLedger } from 'reprise/internal'
import { cancelJob, notFound } from './drive/cancel-job.js'
import { removeJobs } from './drive/remove-jobs.js'
import { retryJob, type JobRetryOptions } from './drive/retry-job.js'
import { failDatacenter } from './drive/stop-workflows.js'
import { timerDefinition } from './drive/timers.js'
import { WakingLedger } from './drive/waking-ledger.js'
import type { JobRun } from './record/job-record.js'
import { DATACENTER_KIND, TIMER_QUEUE } from './record/names.js'
import { datacenterOf } from './record/datacenter-record.js'
import { WORKFLOW_POLICY } from './record/queue-shapes.js'
import type { DatacenterReport, JobResult } from './rules/job-result.js'
import { type OperatorSettings, readOperatorSettings } from './rules/operator-settings.js'
import { disableDatacenter } from './submit/known-datacenters.js'
import { recordedOperator, recordOperator } from './submit/operator-record.js'
import { submitJob, type SubmitOptions, type SubmittedJob } from './submit/submit-job.js'
import { type JobMetric, type MetricOptions, readMetrics } from './view/job-metrics.js'
import type { DatacenterView, JobStatus, JobSummary } from './view/job-views.js'
import { readDatacenters } from './view/read-datacenters.js'
import { findJob, type JobFilter, listJobs, readStatus } from './view/read-job.js'
import { type JobEventFilter, type JobEventPage, readJobEvents } from './view/read-job-events.js'
import { readReport, readResult } from './view/read-result.js'
import { type JobWorker, startWorker, type WorkOptions } from './work/worker.js'

/** Options of `openJobs`. An option that is misspelt or of the wrong type is refused. */
export interface JobsOptions {
  /**
   * Where the operator's settings are read: `RETRY_BUDGET_MAX` and the others.
   * @default `process.env`
   * @example { env: { RETRY_BUDGET_MAX: '10' } }
   */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** How long jobs are kept after they completed: 1 minute or more. @default for ever @example { retention: '7d' } */
  readonly retention?: DurationInput
  /**
   * How long this process is believed to live without a heartbeat.
   * @default '15s'
   * @example { lease: '5s' }
   */
  readonly lease?: DurationInput
}

const CHECKS: Readonly<Record<keyof JobsOptions, OptionCheck>> = {
  env: [(value) => typeof value === 'object' && value !== null, 'an object with a text for each variable'],
  retention: [() => true, ''],
  lease: [() => true, ''],
}

/** Timers and reports are short: more of them at a time than a process has to do. */
const TIMERS_AT_ONCE = 16
/** Shown within a second of the deciding report, with room for a slow store. */
const LOOK_MS = 200
const SWEEP_MS = 60_000

/**
 * Opens jobs on a store: `sqlite:PATH` for one machine, `postgres://…` for many. Rejects with an `OptionsError` for wrong
 * options or contradicting operator settings, and with a `LedgerError` if the store cannot be opened.
 * @example
 * const jobs = await openJobs('sqlite:./jobs.db')
 * await jobs.work({ datacenter: 'eu', handlers: { probe: async () => ({ requests: 1 }) } })
 * const job = await jobs.submit({ workflows: [{ name: 'probe', handler: 'probe' }], datacenters: ['eu'] })
 * const { outcome } = await job.result()
 * await jobs.close()
 */
export async function openJobs(address: string | Ledger, options: JobsOptions = {}): Promise<Jobs> {
  return openJobsWith(address, options)
}

/** What tests replace. */
export interface JobsEnvironment {
  /** Of retries of workflows, the same for every process that shares the ledger. */
  readonly policy?: PolicyInput
  /** What waits are timed by; of a ledger in memory, which has the same. */
  readonly clock?: Clock
}

/** What our own programs add. */
interface JobsPlan {
  /**
   * Datacenters for which this process will work: they count as living from the first timer that it executes, which may be
   * before their workers have registered themselves.
   */
  readonly worksFor?: (ledger: Ledger) => Promise<readonly string[]>
  /** What the process calls itself in the ledger (default: `jobs`). */
  readonly role?: string
}

/** The datacenters of a job; none where there is no such job. */
export async function datacentersOfJob(ledger: Ledger, id: string): Promise<readonly string[]> {
  return (await findJob(ledger, id))?.detail.targets ?? []
}

export async function openJobsWith(
  address: string | Ledger,
  options: JobsOptions,
  { policy = WORKFLOW_POLICY, clock, worksFor, role = 'jobs' }: JobsEnvironment & JobsPlan = {},
): Promise<Jobs> {
  expectOptions('openJobs', options, CHECKS)
  const { env = process.env, retention, lease = '15s' } = options
  const operator = readOperatorSettings(env)
  const retentionMs = retention === undefined ? undefined : parseDuration(retention)
  if (retentionMs !== undefined && retentionMs < 60_000)
    throw new OptionsError('openJobs', [{ path: 'retention', message: 'is too short: say 1m or more' }])
  const waking = new WakingLedger(typeof address === 'string' ? await openLedger(address) : address)
  const timed = clock && { clock }
  const identity = { role }
  const durable = await openDurable(waking.ledger, { concurrency: TIMERS_AT_ONCE, lease, identity, ...timed })
  const ledger = sharedLedger(durable)
  try {
    const local = await worksFor?.(ledger)
    waking.serve(durable, [TIMER_QUEUE])
    await serveQueue(durable, timerDefinition(ledger, local))
  } catch (error) {
    await durable.close()
    throw error
  }
  return new Jobs({ durable, ledger, waking, operator, policy, clock, retentionMs })
}

interface JobsParts {
  /** Executes timers and reports. */
  readonly durable: Durable
  /** The store, which is closed with `durable`. */
  readonly ledger: Ledger
  /** Wakes what executes tasks in this process. */
  readonly waking: WakingLedger
  /** The operator's settings of this environment. */
  readonly operator: OperatorSettings
  /** Of retries of workflows. */
  readonly policy: PolicyInput
  /** Undefined: that of the system. */
  readonly clock: Clock | undefined
  /** How long completed jobs are kept; undefined: for ever. */
  readonly retentionMs: number | undefined
}

/** Jobs on one store: what `openJobs` resolves to. */
export class Jobs {
  private readonly parts: JobsParts
  private readonly workers = new Set<JobWorker>()
  private readonly sweep: NodeJS.Timeout | undefined
  /** The operator's settings of this process. */
  readonly limits: OperatorSettings

  /** `openJobs` makes one. */
  constructor(parts: JobsParts) {
    this.parts = parts
    this.limits = parts.operator
    const { retentionMs } = parts
    if (retentionMs !== undefined)
      this.sweep = setInterval(() => void this.removeOld().catch(() => undefined), SWEEP_MS).unref()
  }

  /**
   * Submits a job, all or nothing. The same id or key with the same payload is the same job. Rejects with an
   * `OptionsError` that names every field which is wrong, and with a `TaskRefusedError` for another payload.
   * @example const job = await jobs.submit({ workflows: [{ name: 'a', handler: 'probe' }], datacenters: ['eu', 'us'] })
   */
  async submit(request: unknown, options: SubmitOptions = {}): Promise<Job> {
    return new Job(this, await submitJob(this.parts, request, options))
  }

  /** The job with this id; rejects if there is none. @example const job = await jobs.find('probe-1') */
  async find(id: string): Promise<Job> {
    const { detail } = await this.expectJob(id)
    return new Job(this, { id, isNew: false, settings: detail.settings, clamps: [] })
  }

  /** Jobs of the store, the latest first. @example const running = await jobs.list({ state: 'running' }) */
  list(filter: JobFilter = {}): Promise<JobSummary[]> {
    return listJobs(this.parts.ledger, filter)
  }

  /** Everything that is known of a job. @example const { waitsFor } = await jobs.status('probe-1') */
  async status(id: string): Promise<JobStatus> {
    return readStatus(this.parts.ledger, await this.expectJob(id))
  }

  /** The result of a job that has completed; undefined while it runs. @example const result = await jobs.result('probe-1') */
  async result(id: string): Promise<JobResult | undefined> {
    return readResult(this.parts.ledger, await this.expectJob(id))
  }

  /**
   * What a datacenter has reported, also if it came too late to count; undefined if it has not reported.
   * @example const report = await jobs.report('probe-1', 'ap')
   */
  async report(id: string, datacenter: string): Promise<DatacenterReport | undefined> {
    const { detail } = await this.expectJob(id)
    const slot = detail.slots[datacenter]
    return slot === undefined ? undefined : readReport(this.parts.ledger, id, datacenter, slot)
  }

  /**
   * Waits until the job has completed. Rejects with the reason of the signal if that aborts first; the job goes on.
   * @example const { outcome } = await jobs.wait('probe-1', { signal: AbortSignal.timeout(60_000) })
   */
  async wait(id: string, { signal }: WaitOptions = {}): Promise<JobResult> {
    for (;;) {
      signal?.throwIfAborted()
      const result = await this.result(id)
      if (result !== undefined) return result
      // The reason of the signal is thrown above, not the error of the timer.
      await delay(LOOK_MS, undefined, signal && { signal }).catch(() => undefined)
    }
  }

  /** Cancels a job; `completed`: it was over before. @example await jobs.cancel('probe-1') */
  async cancel(id: string, { by }: ChangeOptions = {}): Promise<'cancelled' | 'completed'> {
    return cancelJob(this.parts.ledger, id, by)
  }

  /**
   * A new round of the workflows that did not succeed; the budget is not reset.
   * @example await jobs.retry('probe-1', { onlyFailed: true })
   */
  async retry(id: string, options: JobRetryOptions = {}): Promise<void> {
    await retryJob(this.parts.ledger, id, options)
  }

  /**
   * Works for a datacenter from now on, until the worker or the jobs are closed.
   * @example const worker = await jobs.work({ datacenter: 'eu', slots: 8 })
   */
  async work(options: WorkOptions): Promise<JobWorker> {
    const worker = await startWorker(this.parts, options)
    this.workers.add(worker)
    return worker
  }

  /** Datacenters with their workers. @example const [eu] = await jobs.datacenters() */
  datacenters(): Promise<DatacenterView[]> {
    return readDatacenters(this.parts.ledger)
  }

  /**
   * New jobs for the datacenter are refused, and what is open there is recorded failed. `reason`: null enables it again.
   * @example await jobs.disable('ap', 'fibre cut')
   */
  async disable(datacenter: string, reason: string | null, { by }: ChangeOptions = {}): Promise<void> {
    const { ledger } = this.parts
    await disableDatacenter(ledger, datacenter, reason, by)
    if (reason === null) return
    const open = await ledger.runs({ kind: DATACENTER_KIND, name: datacenter, statuses: ['running'] })
    for (const run of open)
      await failDatacenter(ledger, datacenterOf(run).detail.job, datacenter, 'datacenter_disabled', reason)
  }

  /** The operator's settings in the store; undefined if nobody has written any. @example const limits = await jobs.settings() */
  settings(): Promise<OperatorSettings | undefined> {
    return recordedOperator(this.parts.ledger)
  }

  /** Writes this process's operator settings into the store, for whoever submits from now on. @example await jobs.writeSettings() */
  async writeSettings(): Promise<OperatorSettings> {
    const { ledger, operator } = this.parts
    await recordOperator(ledger, operator)
    return operator
  }

  /** The metrics of all jobs, from the store. @example const metrics = await jobs.metrics({ byJob: false }) */
  metrics(options: MetricOptions = {}): Promise<JobMetric[]> {
    return readMetrics(this.parts.ledger, options)
  }

  /** What has happened to jobs after an event. @example const { events, lastSeq } = await jobs.events(0) */
  events(afterSeq: number, filter: JobEventFilter = {}): Promise<JobEventPage> {
    return readJobEvents(this.parts.ledger, afterSeq, filter)
  }

  /** Removes jobs that `retention` does not keep, at once. @example const ids = await jobs.removeOld() */
  async removeOld(): Promise<string[]> {
    const { ledger, retentionMs } = this.parts
    return retentionMs === undefined ? [] : removeJobs(ledger, (await ledger.now()) - retentionMs)
  }

  /** Stops what runs here, which other workers take over, and closes the store. @example await jobs.close() */
  async close(): Promise<void> {
    clearInterval(this.sweep)
    await Promise.all([...this.workers].map((worker) => worker.close()))
    await this.parts.durable.close()
  }

  private async expectJob(id: string): Promise<JobRun> {
    const job = await findJob(this.parts.ledger, id)
    if (job === undefined) throw notFound(id)
    return job
  }
}

/** Options of `cancel` and `disable`. */
export interface ChangeOptions {
  /** Who asks for it, for its event. @default nobody is named @example { by: 'ada' } */
  readonly by?: string
}

/** Options of `wait` and `result`. */
export interface WaitOptions {
  /** Ends the waiting, not the job. @default none @example { signal: AbortSignal.timeout(60_000) } */
  readonly signal?: AbortSignal
}

/** One job. */
export class Job implements SubmittedJob {
  private readonly jobs: Jobs
  /** The id of the job. */
  readonly id: string
  /** False: the same job had been submitted before. */
  readonly isNew: boolean
  /** What holds for it. */
  readonly settings: SubmittedJob['settings']
  /** Values that it did not get as they were requested. */
  readonly clamps: SubmittedJob['clamps']

  /** `submit` and `find` make one. */
  constructor(jobs: Jobs, { id, isNew, settings, clamps }: SubmittedJob) {
    this.jobs = jobs
    this.id = id
    this.isNew = isNew
    this.settings = settings
    this.clamps = clamps
  }

  /** Waits until the job has completed. @example const { success } = await job.result() */
  result(options: WaitOptions = {}): Promise<JobResult> {
    return this.jobs.wait(this.id, options)
  }

  /** Everything that is known of it. @example const { waitsFor } = await job.status() */
  status(): Promise<JobStatus> {
    return this.jobs.status(this.id)
  }

  /** Cancels it; `completed`: it was over before. @example await job.cancel() */
  cancel(options: ChangeOptions = {}): Promise<'cancelled' | 'completed'> {
    return this.jobs.cancel(this.id, options)
  }

  /** A new round of the workflows that did not succeed. @example await job.retry({ onlyFailed: true }) */
  retry(options: JobRetryOptions = {}): Promise<void> {
    return this.jobs.retry(this.id, options)
  }
}
