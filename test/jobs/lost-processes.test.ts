/**
 * Points 13, 19 and 20: what becomes of a job whose submitter is dead, and of a workflow whose worker is dead or stopped.
 * Times are those of the ledger. Nothing but the named processes executes timers: the test only reads.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Ledger, TaskRecord } from 'reprise/durable'
import { jobOf, type JobRun } from '../../packages/jobs/src/record/job-record.js'
import { timerKey, workflowKey } from '../../packages/jobs/src/record/names.js'
import { readReport } from '../../packages/jobs/src/view/read-result.js'
import { until } from '../gates/until.js'
import { faultsOfJob } from './job-history.js'
import { type JobProcess, jobProcesses, stopBetweenTransactions } from './job-processes.js'
import { jobsPlaces, STORES } from './jobs-fixture.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-lost-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
let files = 0
/** A workflow ends when its file is there. */
const newFile = (): string => path.join(directory, `go-${files++}`)

const LEASE_MS = 2000
/** A process that had to be found dead first would make the deadline a minute late. */
const LONG_LEASE = '60s'
/** A second is promised; this leaves room for a busy machine. */
const MOST_LATE_MS = 3000

const key = workflowKey('j/eu', 'w')
const workflow = async (ledger: Ledger): Promise<TaskRecord> => (await ledger.get(key)) as TaskRecord
const jobIn = async (ledger: Ledger): Promise<JobRun | undefined> => {
  const run = await ledger.run('j')
  return run && jobOf(run)
}
const completedJob = (ledger: Ledger): Promise<JobRun> =>
  until(async () => {
    const job = await jobIn(ledger)
    return job === undefined || job.detail.completion === null ? undefined : job
  }, 'the completion of the job')

describe.each(STORES)('on $name', (store) => {
  const place = jobsPlaces(store)
  const processes = jobProcesses()

  it('(13) a deadline fires in time while every slot is taken and the submitter is dead', {
    timeout: 120_000,
  }, async () => {
    const shared = await place()
    const ledger = await shared.ledger()
    await processes.worker(shared.address, 'eu', LONG_LEASE)
    const never = { name: 'w', handler: 'some', params: { until: newFile() } }
    const workflows = Array.from({ length: 5 }, (_, index) => ({ ...never, name: `w${index}` }))
    const request = { job_id: 'j', datacenters: ['eu', 'us'], workflows, best_effort: { min_dcs: 1, deadline: '5s' } }
    const submitter = await processes.submitter(shared.address, [request], LONG_LEASE)
    await until(async () => submitter.said.includes('j'), 'the submission')
    submitter.child.kill('SIGKILL')
    await submitter.exit
    const { detail } = await completedJob(ledger)
    expect(detail.completion).toMatchObject({ reason: 'deadline_expired', outcome: 'failed' })
    const lateMs = (detail.completedAtMs ?? 0) - detail.startedAtMs - (detail.settings.deadlineMs ?? 0)
    expect(lateMs).toBeGreaterThanOrEqual(0)
    expect(lateMs).toBeLessThan(MOST_LATE_MS)
    expect(await faultsOfJob(ledger, 'j')).toEqual([])
  })

  it('(13) a deadline does not wait for the lease of a process that stopped when it was about to fire it', {
    timeout: 120_000,
  }, async () => {
    const shared = await place()
    const ledger = await shared.ledger()
    void processes.actor(shared.address, 'deadline', 'claim of a timer', 'after', LONG_LEASE, 'SIGSTOP')
    await until(async () => (await ledger.get(timerKey('j', 'deadline')))?.status === 'running', 'the claim')
    const { detail: before } = (await jobIn(ledger)) as JobRun
    const firesAtMs = before.startedAtMs + (before.settings.deadlineMs ?? 0)
    // Of another datacenter, so that it has nothing to do but timers.
    await processes.worker(shared.address, 'ap', LONG_LEASE)
    const readyAtMs = await ledger.now()
    const { detail } = await completedJob(ledger)
    expect(detail.completion).toMatchObject({ reason: 'deadline_expired' })
    const dueAtMs = Math.max(readyAtMs, firesAtMs + before.settings.checkIntervalMs)
    expect((detail.completedAtMs ?? 0) - dueAtMs).toBeLessThan(MOST_LATE_MS)
    expect(await faultsOfJob(ledger, 'j')).toEqual([])
  })

  /** A job of one workflow, which `first` has begun. */
  const begun = async (): Promise<{
    readonly address: string
    readonly ledger: Ledger
    readonly first: JobProcess
    readonly submitter: JobProcess
    readonly go: () => void
  }> => {
    const shared = await place()
    const ledger = await shared.ledger()
    const first = await processes.worker(shared.address, 'eu', `${LEASE_MS}ms`)
    const file = newFile()
    const workflows = [{ name: 'w', handler: 'some', params: { until: file } }]
    const submitter = await processes.submitter(shared.address, [{ job_id: 'j', datacenters: ['eu'], workflows }])
    await until(async () => (await ledger.get(key))?.status === 'running', 'the first attempt')
    return { address: shared.address, ledger, first, submitter, go: () => writeFileSync(file, '') }
  }

  const secondAttempt = (ledger: Ledger): Promise<TaskRecord> =>
    until(async () => {
      const task = await workflow(ledger)
      return task.status === 'running' && task.progress.retry.launched === 2 ? task : undefined
    }, 'the second attempt')

  /** Who ended the workflow, and after how many attempts. */
  const endOf = async (ledger: Ledger): Promise<object> => {
    const { detail } = await completedJob(ledger)
    const slot = detail.slots['eu']
    if (slot === undefined) throw new Error('eu has not reported')
    const { workflows } = await readReport(ledger, 'j', 'eu', slot)
    expect(await faultsOfJob(ledger, 'j')).toEqual([])
    return { ...workflows[0], charged: (await workflow(ledger)).progress.allotted ?? 0 }
  }

  it.each(['SIGKILL', 'SIGSTOP'] as const)(
    '(20) a workflow whose worker gets %s is taken over within its lease, for one retry',
    { timeout: 120_000 },
    async (signal) => {
      const { address, ledger, first, go } = await begun()
      const heir = await processes.worker(address, 'eu', LONG_LEASE)
      await stopBetweenTransactions(first, ledger, ['j', 'j/eu'], [key])
      first.child.kill(signal)
      const lostAtMs = await ledger.leaseNow()
      await secondAttempt(ledger)
      expect((await ledger.leaseNow()) - lostAtMs).toBeLessThan(LEASE_MS + MOST_LATE_MS)
      first.child.kill('SIGCONT')
      go()
      const { pid } = heir.child
      expect(await endOf(ledger)).toMatchObject({ state: 'succeeded', attempts: 2, charged: 1, outputs: { pid } })
    },
  )

  it('(19) a worker that was stopped past its lease delivers its result if nobody has taken over', {
    timeout: 120_000,
  }, async () => {
    const { ledger, first, go } = await begun()
    await stopBetweenTransactions(first, ledger, ['j', 'j/eu'], [key])
    const stoppedAtMs = await ledger.leaseNow()
    await until(async () => (await ledger.leaseNow()) > stoppedAtMs + LEASE_MS + 500, 'the end of the lease')
    go()
    first.child.kill('SIGCONT')
    const { pid } = first.child
    expect(await endOf(ledger)).toMatchObject({ state: 'succeeded', attempts: 1, charged: 0, outputs: { pid } })
  })

  it('(16) datacenters that vanish at once are suspected, and neither failed nor charged, until they are back', {
    timeout: 120_000,
  }, async () => {
    const shared = await place()
    const jobs = await shared.open({ env: { BEST_EFFORT_CHECK_INTERVAL_SECONDS: '0.2' } })
    const names = ['eu', 'us', 'ap']
    const workers = await Promise.all(names.map((name) => processes.worker(shared.address, name)))
    const file = newFile()
    const probe = { name: 'w', handler: 'some', params: { until: file }, params_by_datacenter: { eu: { until: null } } }
    const best = { min_dcs: 3, deadline: '1h', settle: '1m' }
    const job = await jobs.submit({ job_id: 'j', datacenters: names, workflows: [probe], best_effort: best })
    const states = async (): Promise<readonly string[]> =>
      (await job.status()).datacenters.map(({ state, workflows }) => `${state} ${workflows[0]?.state}`)
    const running = 'running running'
    const hasBegun = async (): Promise<boolean> =>
      (await states()).join() === ['completed succeeded', running, running].join()
    await until(hasBegun, 'the first attempts')
    for (const { child } of workers.slice(1)) child.kill('SIGKILL')
    const suspected = 'suspected running'
    const areLost = async (): Promise<boolean> =>
      (await states()).join() === ['completed succeeded', suspected, suspected].join()
    await until(areLost, 'the suspicion')
    const ledger = await shared.ledger()
    const lostAtMs = await ledger.leaseNow()
    await until(async () => (await ledger.leaseNow()) > lostAtMs + 2 * LEASE_MS, 'the end of their leases')
    expect(await areLost()).toBe(true)
    const status = await job.status()
    expect(status).toMatchObject({ state: 'running', reported: 1, budgets: [{ used: 0 }] })
    expect(status.waitsFor).toMatch(/us \(no worker for \d+s\), ap \(no worker for \d+s\)/)
    writeFileSync(file, '')
    await Promise.all(names.slice(1).map((name) => processes.worker(shared.address, name)))
    expect(await job.result()).toMatchObject({ outcome: 'complete', totals: { attempts: 5, retries: 2 } })
    expect(await faultsOfJob(ledger, 'j')).toEqual([])
  })
})
