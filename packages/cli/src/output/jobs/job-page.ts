/** A job as a page: how it stands, and what came of it. Imports the matrix, words and types. */
import type { JobResult, JobStatus, JobSummary } from '@reprise/jobs'
import { plural, roundedDuration } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { fitTable, type FittedColumn } from '../fitted-table.js'
import type { Display } from '../display.js'
import { relativeTime } from '../relative-time.js'
import { wrapText } from '../wrap.js'
import { jobMatrix } from './job-matrix.js'

const MOST_FAILURES = 20
/** In a pipe everything is shown. */
const ALL_ROWS = 100_000

/** `reprise job status JOB`. */
export function jobPage(status: JobStatus, nowMs: number, display: Display): string[] {
  const failed = status.datacenters.flatMap(({ name, workflows }) =>
    workflows
      .filter(({ error, state }) => error !== null && state !== 'succeeded')
      .map((one) => ({
        place: `${name}/${one.name}`,
        attempts: one.attempts,
        denied: one.denied?.reason ?? null,
        error: one.error,
      })),
  )
  return [
    ...jobMatrix(status, nowMs, { columns: Math.min(display.screen, 240), rows: ALL_ROWS }, display),
    ...status.clamps.flatMap(({ sentence }) => wrapText('  changed: ', plainText(sentence), display.width)),
    ...failureLines(failed, display),
  ]
}

interface FailedPlace {
  readonly place: string
  readonly attempts: number
  readonly denied: string | null
  readonly error: string | null
}

function failureLines(failed: readonly FailedPlace[], display: Display): string[] {
  const shown = failed.slice(0, MOST_FAILURES)
  const rest = failed.length - shown.length
  const lines = shown.flatMap(({ place, attempts, denied, error }) => {
    const why = [denied, error].filter((text) => text !== null).join(': ')
    return wrapText(
      `  ${display.style.red(plainText(place))} `,
      plainText(`after ${plural(attempts, 'attempt')}: ${why}`),
      display.screen,
    )
  })
  if (lines.length === 0) return []
  return ['', ...lines, ...(rest === 0 ? [] : [`  … ${rest} more`])]
}

/** What `job run`, `wait` and `result` say at the end. */
export function resultPage(result: JobResult, display: Display): string[] {
  const { style } = display
  const { success, outcome, reason, jobId, durationMs, totals } = result
  const paint = success ? style.green : outcome === 'failed' ? style.red : style.yellow
  const head = `Job ${plainText(jobId)}: ${paint(`${outcome}, ${success ? 'success' : 'no success'}`)} (${reason}) after ${roundedDuration(durationMs)}`
  const failed = result.datacenters.flatMap(({ name, workflows }) =>
    workflows
      .filter(({ state }) => state === 'failed')
      .map((one) => ({ place: `${name}/${one.name}`, attempts: one.attempts, denied: one.denied, error: one.error })),
  )
  const counts = `${totals.succeeded}/${totals.workflows} workflows ok, ${plural(totals.attempts, 'attempt')}, ${plural(totals.retries, 'retry', 'retries')}`
  return [
    head,
    ...listed('completed', result.completed, display),
    ...listed('failed', result.failed, display),
    ...listed(`missing (${result.stragglers.replaceAll('_', ' ')})`, result.missing, display),
    `  ${counts}`,
    ...Object.entries(result.aggregates).map(([name, one]) => `  ${plainText(name)} = ${aggregateText(one)}`),
    ...failureLines(failed, display),
  ]
}

function listed(title: string, names: readonly string[], display: Display): string[] {
  return names.length === 0 ? [] : wrapText(`  ${title}: `, plainText(names.join(', ')), display.width)
}

function aggregateText({ kind, value, buckets = [], count, datacenters }: JobResult['aggregates'][string]): string {
  const over = `over ${plural(count, 'value')} of ${plural(datacenters.length, 'datacenter')}`
  if (kind !== 'histogram') return `${value === null ? '-' : Number(value.toPrecision(12))} (${kind} ${over})`
  const parts = buckets.map(({ upTo, count: many }) => `≤${upTo ?? '∞'}: ${many}`)
  return `${parts.join(' ')} (${over})`
}

/** `reprise job list`. */
export function jobsTable(jobs: readonly JobSummary[], nowMs: number, display: Display): string[] {
  if (jobs.length === 0) return ['No jobs.']
  const columns: FittedColumn<JobSummary>[] = [
    { title: 'job', cell: ({ id }) => plainText(id), paint: () => display.style.bold, least: 12 },
    { title: 'state', cell: ({ state, outcome }) => outcome ?? state },
    { title: 'success', cell: ({ success }) => (success === null ? '' : success ? 'yes' : 'no'), expendable: 1 },
    { title: 'reason', cell: ({ reason }) => reason ?? '', expendable: 3 },
    { title: 'reported', align: 'right', cell: ({ reported, targets }) => `${reported}/${targets.length}` },
    {
      title: 'submitted',
      align: 'right',
      cell: ({ submittedAtMs }) => relativeTime(submittedAtMs, nowMs),
      expendable: 2,
    },
  ]
  return fitTable(columns, jobs, display)
}
