/**
 * The metrics of AD-44, derived from the ledger and so equal on every process that is asked. Imports the records.
 *
 * Invariant: at most 2 000 jobs have a series of their own; the others share `other`.
 */
import type { Ledger } from 'reprise/durable'
import { budgetOf } from '../record/budget-record.js'
import { datacenterOf } from '../record/datacenter-record.js'
import { jobOf, type JobRun, standingsOf } from '../record/job-record.js'
import { budgetName, COUNTER_PREFIX, datacenterRun, JOB_KIND } from '../record/names.js'
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
const OTHER = 'other'

const HELP = {
  retry_budget_consumed_total: 'Retries that the budget of a job has granted.',
  retry_budget_exhausted_total: 'Workflows that a budget has denied a retry.',
  retry_budget_refunded_total: 'Retries that were given back to the budget of a job.',
  best_effort_completions_total: 'Jobs with best effort that have completed, by reason.',
  best_effort_completion_ratio: 'Completed datacenters of all targets of a job.',
} as const

type MetricName = keyof typeof HELP

/** Options of `metrics`. */
export interface MetricOptions {
  /** Whether series have the label `job_id`. @default true @example { byJob: false } */
  readonly byJob?: boolean
}

export async function readMetrics(ledger: Ledger, { byJob = true }: MetricOptions = {}): Promise<JobMetric[]> {
  const gates = await ledger.gates()
  const budgets = new Map(gates.filter(({ kind }) => kind === 'budget').map((gate) => [gate.key, gate]))
  const series = new Series(byJob)
  for await (const job of everyJob(ledger)) {
    for (const name of budgetNames(job)) {
      const gate = budgets.get(`budget:${name}`)
      if (gate === undefined) continue
      const { grants, refunds } = budgetOf(gate).state
      series.add('retry_budget_consumed_total', job.id, grants)
      series.add('retry_budget_refunded_total', job.id, refunds)
    }
    series.add('retry_budget_exhausted_total', job.id, await deniedOf(ledger, job))
    if (job.detail.settings.bestEffort) series.ratio(job.id, ratioOf(job))
  }
  const byReason = new Map<string, number>()
  for (const { key, state } of gates) {
    if (!key.startsWith(COUNTER_PREFIX)) continue
    for (const [reason, count] of Object.entries((state ?? {}) as Readonly<Record<string, number>>))
      byReason.set(reason, (byReason.get(reason) ?? 0) + count)
  }
  return [...series.metrics(), ...[...byReason].map(([reason, value]) => completions(reason, value))]
}

async function* everyJob(ledger: Ledger): AsyncGenerator<JobRun> {
  let after: { readonly id: string; readonly createdAtMs: number } | undefined
  for (;;) {
    const page = await ledger.runs({ kind: JOB_KIND, limit: 500, ...(after && { after }) })
    for (const run of page) if (run.status !== 'removing') yield jobOf(run)
    after = page.at(-1)
    if (page.length < 500) return
  }
}

function budgetNames({ id, detail }: JobRun): readonly string[] {
  const { budgetScope } = detail.settings
  return budgetScope === 'job' ? [budgetName(id)] : detail.targets.map((name) => budgetName(id, name))
}

async function deniedOf(ledger: Ledger, { id, detail }: JobRun): Promise<number> {
  const runs = await Promise.all(detail.targets.map((name) => ledger.run(datacenterRun(id, name))))
  return runs.reduce((sum, run) => sum + (run === undefined ? 0 : datacenterOf(run).detail.denied), 0)
}

function ratioOf({ detail }: JobRun): number {
  const counted = standingsOf(detail, []).filter(({ end }) =>
    countsTowardMinimum(end, detail.settings.datacenterSuccess),
  )
  return counted.length / Math.max(1, detail.targets.length)
}

function completions(reason: string, value: number): JobMetric {
  const name = 'best_effort_completions_total'
  return { name, type: 'counter', help: HELP[name], labels: { reason }, value }
}

class Series {
  private readonly byJob: boolean
  private readonly jobs = new Set<string>()
  private readonly counters = new Map<string, { readonly name: MetricName; readonly label: string; value: number }>()
  private readonly ratios = new Map<string, number[]>()

  constructor(byJob: boolean) {
    this.byJob = byJob
  }

  add(name: MetricName, job: string, value: number): void {
    const label = this.labelOf(job)
    const key = `${name} ${label}`
    const known = this.counters.get(key) ?? { name, label, value: 0 }
    known.value += value
    this.counters.set(key, known)
  }

  ratio(job: string, value: number): void {
    const label = this.labelOf(job)
    this.ratios.set(label, [...(this.ratios.get(label) ?? []), value])
  }

  /** The latest jobs have their own. */
  private labelOf(job: string): string {
    if (!this.byJob) return ''
    if (this.jobs.size < MOST_SERIES) this.jobs.add(job)
    return this.jobs.has(job) ? job : OTHER
  }

  metrics(): JobMetric[] {
    const labels = (label: string): Readonly<Record<string, string>> => (label === '' ? {} : { job_id: label })
    const counters = [...this.counters.values()].map(
      ({ name, label, value }): JobMetric => ({
        name,
        type: 'counter',
        help: HELP[name],
        labels: labels(label),
        value,
      }),
    )
    const name = 'best_effort_completion_ratio'
    const ratios = [...this.ratios].map(([label, values]): JobMetric => {
      const value = values.reduce((sum, one) => sum + one, 0) / values.length
      return { name, type: 'gauge', help: HELP[name], labels: labels(label), value }
    })
    return [...counters, ...ratios]
  }
}
