/**
 * The operations on jobs of a ledger: what a gate answers, and the commands that have a store. Imports the jobs.
 */
import type { Jobs } from './jobs.js'
import { ResultWaiters } from './result-waiters.js'
import type { JobListRequest, JobOperations, JobSettingsAnswer } from './routes/job-operations.js'
import { stricterOf } from './rules/operator-settings.js'
import type { JobSummary } from './view/job-views.js'

const USUAL_LIMIT = 20

export function operationsOf(jobs: Jobs): JobOperations {
  const environment = jobs.limits
  const waiters = new ResultWaiters(jobs)
  const settings = async (): Promise<JobSettingsAnswer> => {
    const store = (await jobs.settings()) ?? null
    return { environment, store, effective: store === null ? environment : stricterOf(environment, store) }
  }
  return {
    submitJob: async ({ job: request }, { by }) => {
      const { id: job, isNew, settings: effective, clamps } = await jobs.submit(request, { by })
      return { job, isNew, settings: effective, clamps }
    },
    listJobs: (request) => listPage(jobs, request),
    showJob: ({ id }) => jobs.status(id),
    jobResult: async ({ id, wait_seconds: seconds = 0 }, { signal }) =>
      seconds === 0 ? ((await jobs.result(id)) ?? null) : waiters.wait(id, seconds * 1000, signal),
    jobEvents: async ({ id, after = 0, limit = USUAL_LIMIT }) => {
      // A job that is not there is said so: it has no events either.
      await jobs.find(id)
      return jobs.events(after, { job: id, limit })
    },
    cancelJob: async ({ id: job }, { by }) => ({ job, cancelled: (await jobs.cancel(job, { by })) === 'cancelled' }),
    retryJob: async ({ id: job, only_failed: onlyFailed = false, datacenter }, { by }) => {
      await jobs.retry(job, { onlyFailed, by, ...(datacenter !== undefined && { datacenter }) })
      return { job, retried: true }
    },
    listDatacenters: async () => ({ datacenters: await jobs.datacenters() }),
    listWorkers: async () => {
      const datacenters = await jobs.datacenters()
      return {
        workers: datacenters.flatMap(({ name, workers }) => workers.map((one) => ({ datacenter: name, ...one }))),
      }
    },
    disableDatacenter: async ({ name: datacenter, reason = 'disabled by hand' }, { by }) => {
      await jobs.disable(datacenter, reason, { by })
      return { datacenter, disabled: reason }
    },
    enableDatacenter: async ({ name: datacenter }, { by }) => {
      await jobs.disable(datacenter, null, { by })
      return { datacenter, disabled: null }
    },
    showSettings: settings,
    writeSettings: async () => {
      await jobs.writeSettings()
      return settings()
    },
  }
}

async function listPage(
  jobs: Jobs,
  { state, limit = USUAL_LIMIT, cursor }: JobListRequest,
): Promise<{ readonly jobs: readonly JobSummary[]; readonly next: string | null }> {
  const after = cursor === undefined ? undefined : jobAt(cursor)
  // One more than is shown: whether the list goes on is known without asking for an empty page.
  const found = await jobs.list({ limit: limit + 1, ...(state && { state }), ...(after && { after }) })
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  return { jobs: shown, next: found.length > limit && last !== undefined ? cursorOf(last) : null }
}

/** Times of PostgreSQL are finer than a millisecond. */
function cursorOf({ id, submittedAtMs }: JobSummary): string {
  return `${submittedAtMs}~${id}`
}

function jobAt(cursor: string): Pick<JobSummary, 'id' | 'submittedAtMs'> {
  const end = cursor.indexOf('~')
  return { id: cursor.slice(end + 1), submittedAtMs: Number(cursor.slice(0, end)) }
}
