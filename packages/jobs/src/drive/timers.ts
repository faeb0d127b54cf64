/**
 * What timers and reports do: their function looks at what a transaction cannot see (which datacenters have workers), and
 * their end is written together with what it means for the job. Any process that serves the queue may execute them.
 * Imports the records, the evaluation and the library.
 */
import type { Json, Ledger, TaskGroup, View } from 'reprise/durable'
import { type Changes, type Definition, defineQueue } from 'reprise/internal'
import { datacenterOf } from '../record/datacenter-record.js'
import { jobOf } from '../record/job-record.js'
import { datacenterRun, tallyKey } from '../record/names.js'
import { TIMER_SHAPE, type TimerInput, timerInputOf } from '../record/queue-shapes.js'
import { acceptReport, evaluateJob, evaluationKeys } from './evaluate-job.js'
import { livingDatacenters } from './living-datacenters.js'
import { retryDatacenters } from './retry-job.js'
import { failUndispatched, stopStragglers } from './stop-workflows.js'
import { keepTally, readTally } from './tally-job.js'

/** `local`: datacenters for which this process starts workers, which may not have registered themselves yet. */
export function timerDefinition(ledger: Ledger, local: readonly string[] = []): Definition {
  const run = (input: TimerInput): Promise<Json> => perform(ledger, input, local)
  return defineQueue({ ...TIMER_SHAPE, run, group: TIMER_GROUP })
}

/** What `follow` sees as the result of the task. */
interface Seen {
  readonly living: readonly string[]
}

async function perform(ledger: Ledger, { kind, job, datacenter }: TimerInput, local: readonly string[]): Promise<Json> {
  if (kind === 'stop') await stopStragglers(ledger, job)
  else if (kind === 'retry') await retryDatacenters(ledger, job)
  else if (kind === 'dispatch') await failUndispatched(ledger, job, datacenter ?? '')
  else if (kind === 'tally') return readTally(ledger, job)
  else return { living: [...new Set([...(await livingDatacenters(ledger)), ...local])] }
  return null
}

const TIMER_GROUP: TaskGroup = {
  classes: ['succeeded'],
  keys: (task) => {
    const { kind, job, datacenter } = timerInputOf(task)
    if (kind === 'stop' || kind === 'retry' || kind === 'dispatch') return {}
    if (kind === 'tally') return { runs: [job], gates: [tallyKey(job)] }
    const { runs, ...keys } = evaluationKeys(job, task.id)
    return kind === 'report' ? { ...keys, runs: [...runs, datacenterRun(job, datacenter ?? '')] } : { ...keys, runs }
  },
  follow: (view, { after, to }, now) => {
    const timer = timerInputOf(after)
    if (timer.kind === 'tally') return to === 'succeeded' ? followTally(view, timer.job, after.result ?? null) : {}
    const { living } = (after.result ?? { living: [] }) as unknown as Seen
    return to === 'succeeded' ? followTimer(view, timer, living, now) : {}
  },
}

function followTally(view: View, job: string, seen: Json): Changes {
  const run = view.run(job)
  return run === undefined || run.status === 'removing' ? {} : keepTally(view, jobOf(run), seen)
}

function followTimer(
  view: View,
  { kind, job, datacenter = '' }: TimerInput,
  living: readonly string[],
  now: number,
): Changes {
  if (kind === 'stop' || kind === 'retry' || kind === 'dispatch') return {}
  const run = view.run(job)
  // The job was removed, or is being removed: there is nothing to do.
  if (run === undefined || run.status === 'removing') return {}
  if (kind !== 'report') return evaluateJob(view, jobOf(run), living, now)
  const reporting = view.run(datacenterRun(job, datacenter))
  return reporting === undefined ? {} : acceptReport(view, jobOf(run), datacenterOf(reporting), living, now)
}
