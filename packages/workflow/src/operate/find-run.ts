/**
 * Finds a run by its id, the beginning of its id, the name of its workflow, or `latest`. Imports the library and recorded
 * plans.
 */
import type { Ledger, RunRecord } from 'reprise/durable'
import { ENDED_RUN_STATUSES, JOB_KIND, livingOwners, nearest } from 'reprise/internal'
import { recordedPlan } from '../run/recorded-plan.js'
import { standingRuns } from '../view/run-pages.js'
import { RUN_STATES } from '../view/views.js'
import { OperationError } from './operation-error.js'
import { ifKept } from './store.js'

/** Stands for the run that was started last. No run can have it as its id. */
export const LATEST = 'latest'

/** At most this many runs are looked at for a similar id. */
const LOOKED_AT = 1000
/** An error has at most this many runs, and one more if there are more. */
export const LISTED_RUNS = 10
/** A run that is being removed is found by its whole id only. */
const KEPT = RUN_STATES

/**
 * A whole id comes before a name, and a name before the beginning of an id: ids begin with the name of their workflow.
 * `orStep`: an unknown run that is a step of the last run is refused as that.
 */
export async function findRun(
  ledger: Ledger,
  named: string,
  { orStep = false }: { readonly orStep?: boolean } = {},
): Promise<RunRecord> {
  if (named === LATEST) return lastRun(ledger)
  const run = await ledger.run(named)
  if (run?.kind === JOB_KIND)
    throw new OperationError('not_possible', { code: 'run_is_job', job: named }, `${named} is a job, not a run.`)
  if (run !== undefined) return run
  const [last] = await standingRuns(ledger, { name: named, statuses: KEPT, limit: 1 })
  if (last !== undefined) return last
  // One more than is listed tells whether there are more.
  const found =
    named === '' ? [] : await standingRuns(ledger, { idPrefix: named, statuses: KEPT, limit: LISTED_RUNS + 1 })
  const [only] = found
  if (only === undefined) throw (orStep && (await stepOfLast(ledger, named))) || (await notFound(ledger, named))
  if (found.length > 1) throw await ambiguous(ledger, named, found)
  return only
}

async function lastRun(ledger: Ledger): Promise<RunRecord> {
  const [last] = await standingRuns(ledger, { statuses: KEPT, limit: 1 })
  if (last !== undefined) return last
  throw new OperationError('not_found', { code: 'no_runs' }, 'There are no runs yet.')
}

/** The error if the name is not of a run, but of a step of the run that was started last. */
async function stepOfLast(ledger: Ledger, named: string): Promise<OperationError | undefined> {
  const [last] = await standingRuns(ledger, { statuses: KEPT, limit: 1 })
  if (last === undefined) return undefined
  const { phases } = recordedPlan(last, (await ledger.definition(last.id)) ?? null)
  const step = phases.find(({ id }) => id === named) ?? phases.find(({ name }) => name === named)
  if (step === undefined) return undefined
  const message = `There is no run ${named}. The last run, ${last.id}, has a step ${named}.`
  return new OperationError('not_found', { code: 'step_of_last_run', step: step.id }, message)
}

async function notFound(ledger: Ledger, named: string): Promise<OperationError> {
  const known = (await standingRuns(ledger, { limit: LOOKED_AT })).flatMap(({ id, name }) => [id, name])
  const near = nearest(named, [...new Set(known)])
  const message = `There is no run ${named}.${near === undefined ? '' : ` Did you mean ${near}?`}`
  return new OperationError('not_found', { code: 'unknown_run', near }, message)
}

async function ambiguous(ledger: Ledger, named: string, found: readonly RunRecord[]): Promise<OperationError> {
  const count = found.length > LISTED_RUNS ? `more than ${LISTED_RUNS}` : found.length
  const message = `The ids of ${count} runs begin with ${named}: give more of the id.`
  const runs = found.map(({ id, createdAtMs }) => ({ id, createdAtMs }))
  const problem = { code: 'ambiguous_run', found: runs, nowMs: await ledger.now() } as const
  return new OperationError('not_possible', problem, message)
}

/** The id of a run that may be removed. */
export async function findEndedRun(ledger: Ledger, named: string): Promise<string> {
  const { id, status, endedAtMs } = await findRun(ledger, named)
  if (endedAtMs !== null && ENDED_RUN_STATUSES.has(status)) return id
  const message = `Run ${id} has not ended, so it is not removed.`
  throw new OperationError('not_possible', { code: 'run_not_ended', run: id }, message)
}

/** Refuses an id that a run has, before anything is opened for writing. */
export async function expectNewRun(store: string, id: string): Promise<void> {
  const known = await ifKept(store, (ledger) => ledger.run(id))
  if (known !== undefined)
    throw new OperationError('not_possible', { code: 'run_exists', run: id }, `There is a run ${id} already.`)
}

/** Whether a living process executes the run. */
export async function isConducted(ledger: Ledger, { owner }: Pick<RunRecord, 'owner'>): Promise<boolean> {
  return owner !== null && (await livingOwners(ledger)).has(owner)
}

/** The only one that can be resumed. */
export async function interruptedRun(ledger: Ledger): Promise<RunRecord> {
  const living = await livingOwners(ledger)
  const open = await standingRuns(ledger, { statuses: ['running', 'interrupted'] })
  const left = open.filter(({ owner }) => owner === null || !living.has(owner))
  const [only] = left
  if (only !== undefined && left.length === 1) return only
  if (only === undefined) throw await noneInterrupted(ledger)
  const problem = { code: 'several_interrupted_runs', runs: left.map(({ id }) => id) } as const
  throw new OperationError('not_possible', problem, `${left.length} runs were interrupted: name one of them.`)
}

/** A resume without a name after a failure usually means the run that has just failed. */
async function noneInterrupted(ledger: Ledger): Promise<OperationError> {
  const [last] = await standingRuns(ledger, { statuses: KEPT, limit: 1 })
  const message = 'No run was interrupted: there is nothing to resume.'
  if (last?.status !== 'failed' && last?.status !== 'completed_with_failures')
    return new OperationError('not_found', { code: 'no_interrupted_run', failed: null }, message)
  const failed = `The last run, ${last.id}, has failed steps: to retry them, name the run and reset its retries.`
  return new OperationError('not_found', { code: 'no_interrupted_run', failed: last.id }, `${message} ${failed}`)
}
