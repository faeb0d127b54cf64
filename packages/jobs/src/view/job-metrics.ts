/**
 * The metrics of AD-44, derived from the ledger and so equal on every process that is asked. Imports the records.
 *
 * Invariants: at most 2 000 jobs have a series of their own; the others share `other`. What is read does not grow with the
 * number of jobs that are kept: the latest jobs, those that still run, and a fixed number of sums.
 */
import type { Ledger } from 'reprise/durable'
import { countJob, isSettled } from '../drive/tally-job.js'
import { type JobCounts, jobOf, type JobRun, NOTHING_COUNTED, standingsOf } from '../record/job-record.js'
import { COMPLETION_KEYS, JOB_KIND, TALLY_KEYS } from '../record/names.js'
import { countsTowardMinimum } from '../rules/datacenter-end.js'

/** One number of a metric. */
export interface JobMetric {
  /** As AD-44 calls it. */
  readonly name: string
  /** Whether it only grows. */
  readonly type: 'counter' | 'gauge'
  /** What it counts. */
  readonly help: string
  /** By name; without any it is a sum over all jobs. */
  readonly labels: Readonly<Record<string, string>>
  /** The number. */
  readonly value: number
}

const MOST_SERIES = 2000
const PAGE = 500
const OTHER = 'other'

const HELP = {
  retry_budget_consumed_total: 'Retries that the budget of a job has granted.',
  retry_budget_exhausted_total: 'Workflows that a budget has denied a retry.',
  retry_budget_refunded_total: 'Retries that were given back to the budget of a job.',
  best_effort_completions_total: 'Jobs with best effort that have completed, by reason.',
  best_effort_completion_ratio: 'Completed datacenters of all targets of a job.',
} as const

type MetricName = keyof typeof HELP

const COUNTERS = [
  ['retry_budget_consumed_total', 'grants'],
  ['retry_budget_exhausted_total', 'denied'],
  ['retry_budget_refunded_total', 'refunds'],
] as const satisfies readonly (readonly [MetricName, keyof JobCounts])[]

/** Options of `metrics`. */
export interface MetricOptions {
  /** Whether series have the label `job_id`. @default true @example { byJob: false } */
  readonly byJob?: boolean
}

/** `most`: jobs with series of their own. */
export async function readMetrics(
  ledger: Ledger,
  { byJob = true }: MetricOptions = {},
  most = MOST_SERIES,
): Promise<JobMetric[]> {
  // The sums first: what a job adds to them afterwards is counted with the job.
  const sums = await sumsIn(ledger, TALLY_KEYS)
  const completions = await sumsIn(ledger, COMPLETION_KEYS)
  const latest = await jobsIn(ledger, most)
  const counted: { readonly job: JobRun; readonly counts: JobCounts }[] = []
  for (const job of latest) counted.push({ job, counts: await countsOf(ledger, job) })
  const rest = await countsOfRest(ledger, sums, latest, most)
  const ratios = latest.filter(({ detail }) => detail.settings.bestEffort)
  const series = byJob
    ? [
        ...counted.flatMap(({ job, counts }) => countersOf(counts, { job_id: job.id })),
        ...(Object.values(rest).some((count) => count > 0) ? countersOf(rest, { job_id: OTHER }) : []),
        ...ratios.map((job) => ratioMetric(ratioOf(job), { job_id: job.id })),
      ]
    : [
        ...countersOf(counted.map(({ counts }) => counts).reduce(added, rest), {}),
        ...(ratios.length === 0
          ? []
          : [ratioMetric(ratios.reduce((sum, job) => sum + ratioOf(job), 0) / ratios.length, {})]),
      ]
  return [...series, ...Object.entries(completions).map(([reason, value]) => completionMetric(reason, value))]
}

/** The latest jobs, or the latest of those that run after one of the list. */
async function jobsIn(ledger: Ledger, most: number, runningAfter?: JobRun): Promise<JobRun[]> {
  const jobs: JobRun[] = []
  let after: Pick<JobRun, 'id' | 'createdAtMs'> | undefined = runningAfter
  for (;;) {
    const limit = Math.min(PAGE, most - jobs.length)
    if (limit === 0) return jobs
    const statuses = runningAfter === undefined ? {} : { statuses: ['running' as const] }
    const page = await ledger.runs({ kind: JOB_KIND, limit, ...statuses, ...(after && { after }) })
    jobs.push(...page.filter(({ status }) => status !== 'removing').map(jobOf))
    after = page.at(-1)
    if (page.length < limit) return jobs
  }
}

/** A job that has settled keeps its counts; those of any other are read. */
async function countsOf(ledger: Ledger, job: JobRun): Promise<JobCounts> {
  const { tally } = job.detail
  return tally !== null && tally.round === job.resumes && isSettled(job) ? tally : countJob(ledger, job)
}

/** Of older jobs, kept and removed: what is in the sums without the latest jobs, and what still runs. */
async function countsOfRest(
  ledger: Ledger,
  sums: Readonly<Record<string, number>>,
  latest: readonly JobRun[],
  most: number,
): Promise<JobCounts> {
  const own = latest.map(({ detail }) => detail.tally ?? NOTHING_COUNTED).reduce(added, NOTHING_COUNTED)
  const of = (name: keyof JobCounts): number => Math.max(0, (sums[name] ?? 0) - own[name])
  const settled = { grants: of('grants'), refunds: of('refunds'), denied: of('denied') }
  const last = latest.at(-1)
  const running = last === undefined || latest.length < most ? [] : await jobsIn(ledger, most, last)
  let counts = settled
  for (const job of running) counts = added(counts, await countsOf(ledger, job))
  return counts
}

function added(a: JobCounts, b: JobCounts): JobCounts {
  return { grants: a.grants + b.grants, refunds: a.refunds + b.refunds, denied: a.denied + b.denied }
}

/** Counts by name, summed over the rows. */
async function sumsIn(ledger: Ledger, keys: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const states = await ledger.transact({ tasks: [], gates: keys }, (view) => ({
    result: keys.map((key) => (view.gate(key)?.state ?? {}) as Readonly<Record<string, number>>),
  }))
  const sums: Record<string, number> = {}
  for (const state of states) for (const [name, count] of Object.entries(state)) sums[name] = (sums[name] ?? 0) + count
  return sums
}

function ratioOf({ detail }: JobRun): number {
  const counted = standingsOf(detail, []).filter(({ end }) =>
    countsTowardMinimum(end, detail.settings.datacenterSuccess),
  )
  return counted.length / Math.max(1, detail.targets.length)
}

function countersOf(counts: JobCounts, labels: JobMetric['labels']): JobMetric[] {
  return COUNTERS.map(([name, count]) => ({ name, type: 'counter', help: HELP[name], labels, value: counts[count] }))
}

function ratioMetric(value: number, labels: JobMetric['labels']): JobMetric {
  const name = 'best_effort_completion_ratio'
  return { name, type: 'gauge', help: HELP[name], labels, value }
}

function completionMetric(reason: string, value: number): JobMetric {
  const name = 'best_effort_completions_total'
  return { name, type: 'counter', help: HELP[name], labels: { reason }, value }
}
