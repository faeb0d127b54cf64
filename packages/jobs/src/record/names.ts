/**
 * How the rows of a job are called: runs, queues, tasks and gates. Pure. Imports the library's keys.
 *
 * A job is the run `J`; each of its datacenters is the run `J/eu`, whose tasks are the workflows there. What concerns the
 * whole job at a moment (a report, a deadline) is a task of `J` in one queue that every process serves.
 */
import type { TaskKey } from 'reprise/durable'
import { childId } from 'reprise/internal'

export { DATACENTER_KIND, JOB_KIND } from 'reprise/internal'

/** The queue of all timers and reports. */
export const TIMER_QUEUE = 'jobs/timers'

/** A workflow that waits for another one is due then: a date that no clock of a ledger reaches. */
export const HELD_UNTIL_MS = Date.UTC(9999, 11, 31)

/** More workflows of one job at a datacenter than this wait in a queue of their own, so that small jobs are not starved. */
const LARGE_JOB = 100

export function datacenterRun(job: string, datacenter: string): string {
  return childId(job, datacenter)
}

/** Claims take turns between the two queues of a datacenter. */
export function workQueue(datacenter: string, isLarge: boolean): string {
  return isLarge ? `jobs/${datacenter}/large` : `jobs/${datacenter}`
}

export function isLargeJob(workflows: number): boolean {
  return workflows > LARGE_JOB
}

/** `datacenter`: where each datacenter has a budget of its own. */
export function budgetKey(job: string, datacenter?: string): string {
  return `budget:job/${datacenter === undefined ? job : datacenterRun(job, datacenter)}`
}

/** One for the job, or one for each datacenter. */
export function budgetKeys(
  job: string,
  { settings, targets }: { readonly settings: { readonly budgetScope: string }; readonly targets: readonly string[] },
): string[] {
  return settings.budgetScope === 'job' ? [budgetKey(job)] : targets.map((name) => budgetKey(job, name))
}

/** The job that was submitted with an idempotency key, where its id is not made of the key. */
export function aliasKey(derivedId: string): string {
  return `record:job-key/${derivedId}`
}

/** Tells stores of jobs apart, for what a worker keeps on its own disk. */
export const STORE_KEY = 'record:job-store'

export const SETTINGS_KEY = 'record:job-settings'

export function datacenterKey(datacenter: string): string {
  return `record:datacenter/${datacenter}`
}

/** Counters of completions are spread over this many rows: jobs that complete at once do not wait for each other. */
const COUNTER_ROWS = 16

export function counterKey(job: string): string {
  return `record:job-completions/${counterRow(job)}`
}

function counterRow(job: string): number {
  let sum = 0
  for (const char of job) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 65_521
  return sum % COUNTER_ROWS
}

/** Counted completions, in a row for each of the numbers that `counterKey` gives. */
export const COMPLETION_KEYS: readonly string[] = numbered('record:job-completions/')

/** What jobs have counted until they settled, in rows like those of completions. */
export const TALLY_KEYS: readonly string[] = numbered('record:job-tallies/')

export function tallyKey(job: string): string {
  return `record:job-tallies/${counterRow(job)}`
}

function numbered(prefix: string): string[] {
  return Array.from({ length: COUNTER_ROWS }, (_, row) => `${prefix}${row}`)
}

/** What may happen to a job at a moment, or because of a report. */
export const TIMER_KINDS = [
  'report',
  'deadline',
  'timeout',
  'settle',
  'check',
  'dispatch',
  'stop',
  'retry',
  'tally',
] as const

export type TimerKind = (typeof TIMER_KINDS)[number]

export function timerId(kind: TimerKind, datacenter?: string): string {
  return datacenter === undefined ? kind : `${kind}.${datacenter}`
}

export function timerKey(job: string, kind: TimerKind, datacenter?: string): TaskKey {
  return { scopeKind: 'run', scope: job, id: timerId(kind, datacenter) }
}

export function workflowKey(run: string, workflow: string): TaskKey {
  return { scopeKind: 'run', scope: run, id: workflow }
}
