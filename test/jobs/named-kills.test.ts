/**
 * Point 20: a process that submits and works is killed at each place between the transactions of a job, before and after the
 * commit. Another process goes on from there: the job ends as it would have, and its history is sound.
 */
import { describe, expect, it } from 'vitest'
import type { JobResult } from '@reprise/jobs'
import { removeJobs } from '../../packages/jobs/src/drive/remove-jobs.js'
import { until } from '../gates/until.js'
import { faultsOfJob, ResultWatch } from './job-history.js'
import { jobProcesses } from './job-processes.js'
import { JOB_ID, type PlotName, playOut, plotTo } from './job-plots.js'
import { JobsPlace, STORES } from './jobs-fixture.js'
import { KILL_MOMENTS, KILL_PLACES } from './kill-places.js'

/** What does not depend on which attempts were lost. */
const ENDS: Readonly<Record<Exclude<PlotName, 'deadline' | 'removed'>, Partial<JobResult>>> = {
  mixed: { reason: 'all_dcs_reported', outcome: 'partial', success: true, completed: ['eu', 'us'] },
  late: { reason: 'min_dcs_reached', outcome: 'complete', success: true, version: 2, completed: ['eu', 'us'] },
  stragglers: { reason: 'min_dcs_reached', outcome: 'partial', version: 1, completed: ['eu'], missing: ['us'] },
  cancelled: { reason: 'cancelled', outcome: 'partial', success: false, completed: ['eu'], missing: ['us'] },
  retried: { reason: 'all_dcs_reported', outcome: 'complete', success: true, completed: ['eu', 'us'] },
  disabled: { reason: 'all_dcs_reported', outcome: 'partial', success: false, completed: ['eu'], failed: ['us'] },
}

describe.each(STORES)('a process killed on $name', (store) => {
  const processes = jobProcesses()

  const goOn = async (place: JobsPlace, plot: Exclude<PlotName, 'deadline' | 'removed'>): Promise<void> => {
    const ledger = await place.ledger()
    const jobs = await place.open({ lease: '1s' })
    const job = await playOut(jobs, plot, ledger)
    const watch = new ResultWatch(ledger)
    expect(await watch.look(job.id)).toMatchObject(ENDS[plot])
    // What was stopped or came too late still reports.
    await until(async () => (await job.status()).reported === 2, 'the report of every datacenter')
    await watch.look(job.id)
    expect([...watch.faults, ...(await faultsOfJob(ledger, job.id))]).toEqual([])
  }

  for (const place of KILL_PLACES)
    for (const moment of KILL_MOMENTS)
      it.concurrent(`(20) ${moment} the ${place} leaves a job that goes on`, { timeout: 120_000 }, async ({
        onTestFinished,
      }) => {
        const here = new JobsPlace(await store.address())
        onTestFinished(() => here.close())
        const plot = plotTo(place)
        expect(await processes.actor(here.address, plot, place, moment)).toBe('SIGKILL')
        if (plot !== 'removed' && plot !== 'deadline') return goOn(here, plot)
        const ledger = await here.ledger()
        await removeJobs(ledger, Infinity)
        expect(await ledger.run(JOB_ID)).toBeUndefined()
        expect(await ledger.list({ scopeKind: 'run' })).toEqual([])
      })
})
