/** Jobs of the store that was named, open while a command needs them. Imports the jobs and the workflow package. */
import type { Jobs, OperatorSettings } from '@reprise/jobs'
import { openJobsWith, readOperatorSettings } from '@reprise/jobs/internal'
import { expectContent, expectKept, StateDirectory, stateDirectoryOf, withLedger } from '@reprise/workflow/internal'
import { isRepriseError } from 'reprise'
import type { CommandContext } from '../../command-context.js'
import { UsageError } from '../../failures.js'

/** What `openJobsWith` is told beside the options. */
type Plan = NonNullable<Parameters<typeof openJobsWith>[2]>

/** For commands that make a store where there is none. */
export async function withNewJobs<T>(
  { io, settings }: CommandContext,
  act: (jobs: Jobs) => Promise<T>,
  plan: Plan = {},
): Promise<T> {
  expectOperatorSettings(io.env)
  await prepareStore(settings.store)
  const jobs = await openJobsWith(settings.store, { env: io.env }, plan)
  try {
    return await act(jobs)
  } finally {
    await jobs.close()
  }
}

/** A field of a submitted job that is wrong, such as the id from a flag, is wrong usage. */
export async function asUsage<T>(submitting: Promise<T>): Promise<T> {
  try {
    return await submitting
  } catch (error) {
    throw usageOf(error)
  }
}

/** Limits that are wrong or contradict each other are told before anything is opened or made. */
export function expectOperatorSettings(env: CommandContext['io']['env']): OperatorSettings {
  try {
    return readOperatorSettings(env)
  } catch (error) {
    throw usageOf(error)
  }
}

function usageOf(error: unknown): unknown {
  if (!isRepriseError(error, 'invalid_options')) return error
  const [first] = error.problems
  const message = error.problems.map((problem) => `${problem.path}: ${problem.message}`).join('; ')
  return new UsageError(message, first?.suggestion)
}

/** Makes the directory of the store, as a run does. */
export async function prepareStore(store: string): Promise<void> {
  expectKept(store)
  const directory = stateDirectoryOf(store)
  StateDirectory.open(directory)
  await expectContent(store, directory)
}

/** For commands that need a store. */
export async function withJobs<T>(
  { io, settings }: CommandContext,
  act: (jobs: Jobs) => Promise<T>,
  plan: Plan = {},
): Promise<T> {
  expectOperatorSettings(io.env)
  return withLedger(settings.store, async (ledger) => {
    const jobs = await openJobsWith(ledger, { env: io.env }, plan)
    try {
      return await act(jobs)
    } finally {
      await jobs.close()
    }
  })
}
