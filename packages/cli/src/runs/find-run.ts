/**
 * Finds a run by its id, the beginning of its id, the name of its workflow, or `latest`. Imports the library, recorded
 * plans and the errors of commands.
 */
import { recordedPlan } from '@reprise/workflow/internal'
import type { Ledger, RunRecord } from 'reprise/durable'
import { livingOwners, nearest, type RunStatus } from 'reprise/internal'
import { RefusedError } from '../failures.js'
import { relativeTime } from '../output/relative-time.js'

/** Stands for the run that was started last. No run can have it as its id. */
export const LATEST = 'latest'

/** At most this many runs are looked at for a similar id. */
const LOOKED_AT = 1000
/** At most this many runs are listed in an error. */
const SHOWN = 10
/** A run that is being removed is found by its whole id only. */
const KEPT: readonly RunStatus[] = [
  'running',
  'interrupted',
  'succeeded',
  'completed_with_failures',
  'failed',
  'cancelled',
]

/**
 * For read-only commands: without a name, the run that was started last. `stepCommand`: the command takes a step after the
 * run, so the error for an unknown run suggests it for a step of the last run.
 */
export async function findRunOrLast(
  ledger: Ledger,
  named: string | undefined,
  stepCommand?: 'show' | 'logs',
): Promise<RunRecord> {
  return findRun(ledger, named ?? LATEST, stepCommand)
}

/** A whole id comes before a name, and a name before the beginning of an id: ids begin with the name of their workflow. */
export async function findRun(ledger: Ledger, named: string, stepCommand?: 'show' | 'logs'): Promise<RunRecord> {
  if (named === LATEST) return lastRun(ledger)
  const run = await ledger.run(named)
  if (run !== undefined) return run
  const [last] = await ledger.runs({ name: named, statuses: KEPT, limit: 1 })
  if (last !== undefined) return last
  // One more than is shown tells whether there are more.
  const found = named === '' ? [] : await ledger.runs({ idPrefix: named, statuses: KEPT, limit: SHOWN + 1 })
  const [only] = found
  if (only === undefined) {
    const ofStep = stepCommand === undefined ? undefined : await stepOfLast(ledger, named, stepCommand)
    throw ofStep ?? (await notFound(ledger, named))
  }
  if (found.length > 1) throw await ambiguous(ledger, named, found)
  return only
}

async function lastRun(ledger: Ledger): Promise<RunRecord> {
  const [last] = await ledger.runs({ statuses: KEPT, limit: 1 })
  if (last !== undefined) return last
  const message = 'There are no runs yet.'
  throw new RefusedError({ kind: 'not_found', message, next: [['run', 'workflow.yaml']] })
}

/** What to type if the name is not of a run, but of a step of the run that was started last. */
async function stepOfLast(ledger: Ledger, named: string, command: string): Promise<RefusedError | undefined> {
  const [last] = await ledger.runs({ statuses: KEPT, limit: 1 })
  if (last === undefined) return undefined
  const { phases } = recordedPlan(last, (await ledger.definition(last.id)) ?? null)
  const step = phases.find(({ id }) => id === named) ?? phases.find(({ name }) => name === named)
  if (step === undefined) return undefined
  const message = `There is no run ${named}. The last run, ${last.id}, has a step ${named}.`
  return new RefusedError({ kind: 'not_found', message, next: [[command, LATEST, step.id], ['ps']] })
}

async function notFound(ledger: Ledger, named: string): Promise<RefusedError> {
  const known = (await ledger.runs({ limit: LOOKED_AT })).flatMap(({ id, name }) => [id, name])
  const near = nearest(named, [...new Set(known)])
  const message = `There is no run ${named}.${near === undefined ? '' : ` Did you mean ${near}?`}`
  return new RefusedError({ kind: 'not_found', message, next: [['ps']] })
}

async function ambiguous(ledger: Ledger, named: string, found: readonly RunRecord[]): Promise<RefusedError> {
  const nowMs = await ledger.now()
  const shown = found.slice(0, SHOWN)
  return new RefusedError({
    kind: 'not_possible',
    message: `The ids of ${found.length > SHOWN ? `more than ${SHOWN}` : found.length} runs begin with ${named}: give more of the id.`,
    details: [
      ...shown.map(({ id, createdAtMs }) => `${id}, started ${relativeTime(createdAtMs, nowMs)}`),
      ...(found.length > SHOWN ? ['…'] : []),
    ],
    next: [['ps']],
  })
}

/** The only one that can be resumed. */
export async function interruptedRun(ledger: Ledger): Promise<RunRecord> {
  const living = await livingOwners(ledger)
  const open = await ledger.runs({ statuses: ['running', 'interrupted'] })
  const left = open.filter(({ owner }) => owner === null || !living.has(owner))
  const [only] = left
  if (only !== undefined && left.length === 1) return only
  if (only === undefined) {
    throw await noneInterrupted(ledger)
  }
  const more = left.length > SHOWN ? [['ps', '--state', 'interrupted']] : []
  const next = [...left.slice(0, SHOWN).map(({ id }) => ['resume', id]), ...more]
  throw new RefusedError({
    kind: 'not_possible',
    message: `${left.length} runs were interrupted: name one of them.`,
    next,
  })
}

/** Whoever resumes without a name after a failure means the run that has just failed. */
async function noneInterrupted(ledger: Ledger): Promise<RefusedError> {
  const [last] = await ledger.runs({ statuses: KEPT, limit: 1 })
  const message = 'No run was interrupted: there is nothing to resume.'
  if (last?.status !== 'failed' && last?.status !== 'completed_with_failures') {
    return new RefusedError({ kind: 'not_found', message, next: [['ps']] })
  }
  return new RefusedError({
    kind: 'not_found',
    message: `${message} The last run, ${last.id}, has failed steps, which a resume does not retry.`,
    next: [['resume', last.id, '--reset-retries'], ['ps']],
  })
}
