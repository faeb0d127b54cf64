/** Jobs of the store that was named, open while a command needs them. Imports the jobs and the workflow package. */
import { type Job, type Jobs, type JobSummary, openJobs } from '@reprise/jobs'
import {
  expectKept,
  expectOwnStore,
  LATEST,
  StateDirectory,
  stateDirectoryOf,
  withLedger,
} from '@reprise/workflow/internal'
import { isRepriseError } from 'reprise'
import type { CommandContext } from '../../command-context.js'
import { RefusedError, UsageError } from '../../failures.js'

/** More jobs than these are not searched for a name or the beginning of an id. */
const SEARCHED = 200

/** For commands that make a store where there is none. */
export async function withNewJobs<T>({ world, settings }: CommandContext, act: (jobs: Jobs) => Promise<T>): Promise<T> {
  prepareStore(settings.store)
  const jobs = await openJobs(settings.store, { env: world.env })
  try {
    return await act(jobs)
  } finally {
    await jobs.close()
  }
}

/** Submits a job; a field of it that is wrong, such as the id from a flag, is wrong usage. */
export async function submitTo(jobs: Jobs, ...submission: Parameters<Jobs['submit']>): ReturnType<Jobs['submit']> {
  try {
    return await jobs.submit(...submission)
  } catch (error) {
    if (!isRepriseError(error, 'invalid_options')) throw error
    const [first] = error.problems
    const message = error.problems.map((problem) => `${problem.path}: ${problem.message}`).join('; ')
    throw new UsageError(message, first?.suggestion)
  }
}

/** Makes the directory of the store, as a run does. */
export function prepareStore(store: string): void {
  expectKept(store)
  const directory = stateDirectoryOf(store)
  StateDirectory.open(directory)
  expectOwnStore(store, directory)
}

/** For commands that need a store. */
export async function withJobs<T>({ world, settings }: CommandContext, act: (jobs: Jobs) => Promise<T>): Promise<T> {
  return withLedger(settings.store, async (ledger) => {
    const jobs = await openJobs(ledger, { env: world.env })
    try {
      return await act(jobs)
    } finally {
      await jobs.close()
    }
  })
}

/** The job that is meant: an id, the beginning of one, a name for its last job, or `latest`. */
export async function findJob(jobs: Jobs, text: string): Promise<Job> {
  try {
    return await jobs.find(text)
  } catch (error) {
    if (!isRepriseError(error, 'task_refused') || error.kind !== 'not_found') throw error
  }
  const known = await jobs.list({ limit: SEARCHED })
  const named = text === LATEST ? known : known.filter(({ name }) => name === text)
  const [latest] = named
  if (latest !== undefined) return jobs.find(latest.id)
  const begun = known.filter(({ id }) => id.startsWith(text))
  const [only, ...others] = begun
  if (only !== undefined && others.length === 0) return jobs.find(only.id)
  throw notOne(text, begun)
}

function notOne(text: string, found: readonly JobSummary[]): RefusedError {
  const message = found.length === 0 ? `There is no job ${text}` : `${text} is the beginning of several jobs`
  return new RefusedError({
    kind: 'not_found',
    message,
    details: found.slice(0, 5).map(({ id }) => id),
    next: [['job', 'list']],
  })
}
