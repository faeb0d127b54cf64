/**
 * What a process does with a job, for tests that kill it: each plot leads to one place after the other, and can be taken up
 * by another process from wherever it was left. Imports jobs.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Job, JobHandler, Jobs } from '@reprise/jobs'
import type { Ledger } from 'reprise/durable'
import { removeJobs } from '../../packages/jobs/src/drive/remove-jobs.js'
import type { KillPlace } from './kill-places.js'

export const JOB_ID = 'j'
const SITES = ['eu', 'us'] as const

const some = (name: string, more: object = {}): object => ({ name, handler: 'some', ...more })

const BASE = { job_id: JOB_ID, datacenters: [...SITES] }

/** `once` fails its first attempt, `never` every attempt; `last` needs `once`. */
const MIXED = {
  ...BASE,
  workflows: [
    some('once', { params: { fails: 1 } }),
    some('never', { params: { fails: 999 } }),
    some('last', { needs: ['once'] }),
  ],
  retry_budget: 30,
  retry_budget_per_workflow: 4,
  best_effort: { min_dcs: 2, deadline: '10m' },
}

/** The workflow at `us` does not end before the job has completed. */
const LATE = {
  ...BASE,
  workflows: [some('probe', { params_by_datacenter: { us: { until: 'completed' } } })],
  best_effort: { min_dcs: 1, deadline: '10m' },
  late_result_policy: 'update_result',
}

const HANGING = { ...LATE, workflows: [some('probe', { params_by_datacenter: { us: { until: 'stopped' } } })] }

interface Plot {
  readonly request: Readonly<Record<string, unknown>>
  /** What is done with the job after its submission; repeated by the process that takes the plot up. */
  readonly act: (jobs: Jobs, job: Job, ledger: Ledger) => Promise<unknown>
}

const wait = (_jobs: Jobs, job: Job): Promise<unknown> => job.result()

const PLOTS = {
  mixed: { request: MIXED, act: wait },
  late: {
    request: LATE,
    act: async (jobs, job) => {
      await job.result()
      while ((await jobs.report(job.id, 'us')) === undefined) await delay(20)
    },
  },
  stragglers: {
    request: { ...HANGING, stragglers: 'cancel' },
    act: async (jobs, job) => {
      await job.result()
      while ((await jobs.report(job.id, 'us')) === undefined) await delay(20)
    },
  },
  cancelled: {
    request: { ...HANGING, best_effort: false, late_result_policy: 'log_only' },
    act: async (jobs, job) => {
      while ((await job.status()).reported === 0) await delay(20)
      await job.cancel()
      while ((await jobs.report(job.id, 'us')) === undefined) await delay(20)
    },
  },
  retried: {
    request: {
      ...BASE,
      workflows: [some('first', { params: { until: 'retried' } }), some('second', { needs: ['first'] })],
      retries: 'none',
    },
    act: async (_jobs, job) => {
      // A worker that was killed in the second round costs a retry, which this job does not have: then there is a third.
      while ((await job.result()).outcome !== 'complete') await job.retry({ onlyFailed: true })
    },
  },
  disabled: {
    request: { ...HANGING, best_effort: false },
    act: async (jobs, job) => {
      while ((await job.status()).reported === 0) await delay(20)
      await jobs.disable('us', 'fibre cut')
      await job.result()
    },
  },
  /** Nobody reports: the first timer that is claimed is that of the deadline. */
  deadline: {
    request: {
      ...BASE,
      workflows: [some('probe', { params: { until: 'stopped' } })],
      best_effort: { min_dcs: 1, deadline: '2s' },
    },
    act: wait,
  },
  removed: {
    request: { ...BASE, workflows: [some('probe')] },
    act: async (_jobs, job, ledger) => {
      await job.result()
      await removeJobs(ledger, Infinity)
    },
  },
} satisfies Readonly<Record<string, Plot>>

export type PlotName = keyof typeof PLOTS

const LEADS_TO: Readonly<Record<PlotName, readonly KillPlace[]>> = {
  mixed: [
    'submit',
    'claim of a workflow',
    'retry of a workflow',
    'denial of a retry',
    'end of a workflow',
    'last end of a datacenter',
    'claim of a timer',
    'report',
    'completion',
  ],
  late: ['late report'],
  stragglers: ['stop of stragglers'],
  cancelled: ['cancellation'],
  retried: ['order to retry', 'retry of a datacenter', 'end of the retry'],
  disabled: ['failure of a datacenter'],
  deadline: [],
  removed: ['removal'],
}

export function plotTo(place: KillPlace): PlotName {
  const found = (Object.keys(LEADS_TO) as PlotName[]).find((name) => LEADS_TO[name].includes(place))
  if (found === undefined) throw new Error(`No plot leads to ${place}`)
  return found
}

/** Submits the job, or finds it, works for both datacenters, and goes on from wherever the job stands. */
export async function playOut(jobs: Jobs, name: PlotName, ledger: Ledger): Promise<Job> {
  const { request, act }: Plot = PLOTS[name]
  const handlers = { some: handlerFor(jobs) }
  for (const datacenter of SITES) await jobs.work({ datacenter, slots: 2, lease: '1s', handlers })
  const job = await jobs.submit(request)
  await act(jobs, job, ledger)
  return job
}

function handlerFor(jobs: Jobs): JobHandler {
  const isRetried = async (job: string): Promise<boolean> =>
    (await jobs.events(0, { job })).events.some(({ event }) => event === 'JobRetried')
  return async ({ fails = 0, until }, { attempt, jobId, signal }) => {
    if (until === 'stopped') await delay(3_600_000, undefined, { signal })
    if (until === 'completed') await jobs.wait(jobId, { signal })
    if (until === 'retried' && !(await isRetried(jobId))) throw new Error('not before a retry by hand')
    if (attempt <= Number(fails)) throw new Error(`no ${attempt}`)
    return { attempts: attempt }
  }
}
