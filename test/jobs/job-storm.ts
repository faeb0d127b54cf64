/**
 * Jobs of 100 workflows through an outage and through errors that stay, on a virtual clock with the product's own rules:
 * what completes, and how many attempts the outage sees. Imports jobs on a virtual clock and the checks.
 */
import type { JobHandler } from '@reprise/jobs'
import { seededRandom } from '../../packages/reprise/src/core/seeded-random.js'
import { faultsOfJob } from './job-history.js'
import { VirtualJobs } from './virtual-jobs.js'

export const WORKFLOWS = 100
export const OUTAGE_SECONDS = 30
export const ERROR_RATE = 0.2
/** Longer than any job of these needs. */
const TIMEOUT = '30m'
const TIMEOUT_SECONDS = 1800

/** Settings of jobs that are compared. */
export const KINDS = {
  recommended: {
    name: 'budget 20, cap 5, `park`, `wasted`',
    request: {
      retry_budget: 20,
      retry_budget_per_workflow: 5,
      on_budget_exhausted: 'park',
      retry_budget_counts: 'wasted',
    },
  },
  capOfThree: {
    name: 'budget 20, cap 3, `park`, `wasted`',
    request: {
      retry_budget: 20,
      retry_budget_per_workflow: 3,
      on_budget_exhausted: 'park',
      retry_budget_counts: 'wasted',
    },
  },
  defaults: { name: 'the defaults: budget 20, cap 3, `fail`, `all`', request: {} },
  noRetries: { name: '`retries: none`', request: { retries: 'none' } },
} as const satisfies Readonly<Record<string, JobKind>>

export interface JobKind {
  readonly name: string
  readonly request: Readonly<Record<string, unknown>>
}

export interface StormFigures {
  readonly jobs: number
  /** Jobs of which every workflow succeeded. */
  complete: number
  readonly workflows: { succeeded: number; total: number }
  attempts: number
  /** Attempts of the outage that were not first attempts. */
  retriesInOutage: number
  /** Of the job that took longest, to 5 s. */
  seconds: number
  readonly faults: string[]
}

export interface StormSize {
  readonly jobs: number
  readonly seed: number
}

/** Each job is submitted at the start of an outage. */
export function playOutage(kind: JobKind, size: StormSize): Promise<StormFigures> {
  return playJobs(kind, size, (fixture, figures, from) => async (_params, { attempt }) => {
    const isDown = fixture.seconds() - from() < OUTAGE_SECONDS
    if (isDown && attempt > 1) figures.retriesInOutage++
    await fixture.clock.sleep('200ms')
    if (isDown) throw new Error('down')
    return {}
  })
}

/** Every attempt fails with the same chance. */
export function playErrors(kind: JobKind, size: StormSize): Promise<StormFigures> {
  const random = seededRandom(size.seed)
  return playJobs(kind, size, ({ clock }) => async () => {
    await clock.sleep('50ms')
    if (random() < ERROR_RATE) throw new Error('unlucky')
    return {}
  })
}

type HandlerOf = (fixture: VirtualJobs, figures: StormFigures, from: () => number) => JobHandler

async function playJobs({ request }: JobKind, { jobs }: StormSize, handlerOf: HandlerOf): Promise<StormFigures> {
  const workflows = { succeeded: 0, total: 0 }
  const figures = { jobs, complete: 0, workflows, attempts: 0, retriesInOutage: 0, seconds: 0, faults: [] as string[] }
  let from = 0
  const fixture = await VirtualJobs.open((opened) => handlerOf(opened, figures, () => from), 20)
  try {
    for (let number = 0; number < jobs; number++) {
      const names = Array.from({ length: WORKFLOWS }, (_, index) => ({ name: `w${index}`, handler: 'some' }))
      const fixed = { job_id: `j${number}`, datacenters: ['eu'], workflows: names, timeout: TIMEOUT }
      const job = await fixture.jobs.submit({ ...fixed, ...request })
      from = fixture.seconds()
      const status = await fixture.play(job, from + TIMEOUT_SECONDS, '5s')
      const [eu] = status.datacenters
      workflows.succeeded += eu?.counts.succeeded ?? 0
      workflows.total += eu?.counts.total ?? 0
      figures.attempts += (eu?.workflows ?? []).reduce((sum, { attempts }) => sum + attempts, 0)
      if (status.outcome === 'complete') figures.complete++
      figures.seconds = Math.max(figures.seconds, fixture.seconds() - from)
      figures.faults.push(...(await faultsOfJob(fixture.ledger, job.id)))
    }
  } finally {
    await fixture.close()
  }
  return figures
}
