/**
 * Points 18 and 19: a worker finishes what it holds while it is cut off, and its own ledger delivers it, also by the next
 * process in the same directory after kill -9.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Ledger, TaskRecord } from 'reprise/durable'
import { removeJobs } from '../../packages/jobs/src/drive/remove-jobs.js'
import { workflowKey } from '../../packages/jobs/src/record/names.js'
import { until } from '../gates/until.js'
import type { DocumentWorkerSettings } from './document-worker.js'
import { faultsOfJob, ResultWatch } from './job-history.js'
import { type JobProcess, jobProcesses } from './job-processes.js'
import { jobsPlaces, STORES } from './jobs-fixture.js'
import { QUICK, SLOW } from './job-policy.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-cut-off-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
let directories = 0
const newDirectory = (): string => path.join(directory, `w${directories++}`)

const AP = workflowKey('j/ap', 'probe')
const BASE = { job_id: 'j', aggregate: { n: 'sum' } }

/** Writes a line into `ran` in the directory of the worker, and gives a number. */
const probe = (steps: readonly object[] = [{ shell: 'echo $$ >>ran; echo 21', capture: 'n' }]): object => ({
  name: 'probe',
  document: { steps, outputs: { n: '${n}' } },
})

describe.each(STORES)('a worker of documents on $name', { timeout: 120_000 }, (store) => {
  const place = jobsPlaces(store)
  const processes = jobProcesses()

  /** A job of `ap`, whose worker is killed with its workflow finished and not delivered. */
  const killedBeforeDelivery = async (
    request: object = {},
    more: Partial<DocumentWorkerSettings> = {},
  ): Promise<{ shared: Awaited<ReturnType<typeof place>>; ledger: Ledger; settings: DocumentWorkerSettings }> => {
    const shared = await place()
    const ledger = await shared.ledger()
    const settings = { datacenter: 'ap', dir: newDirectory(), ...more }
    const jobs = await shared.open({}, more.retries === 'slow' ? SLOW : QUICK)
    const killed = { ...settings, killedAt: ['end of a workflow', 'within'] as const }
    const worker = await processes.documents(shared.address, killed)
    await jobs.submit({ ...BASE, datacenters: ['ap'], workflows: [probe()], ...request }, { isEmbedded: true })
    expect(await worker.exit).toBe(null)
    return { shared, ledger, settings }
  }

  const note = (worker: JobProcess, kind: string): Promise<unknown> =>
    until(async () => worker.said.includes(`${kind} probe`), `the note ${kind}; it said ${worker.said.join()}`)
  const starts = (dir: string): number => readFileSync(path.join(dir, 'ran'), 'utf8').trim().split('\n').length
  const ended = (ledger: Ledger): Promise<TaskRecord> =>
    until(async () => {
      const task = await ledger.get(AP)
      return task?.status === 'succeeded' ? task : undefined
    }, 'the end of the workflow')

  it('(19) that is killed with a finished workflow delivers it when it starts again, without a charge', async () => {
    const { shared, ledger, settings } = await killedBeforeDelivery()
    await note(await processes.documents(shared.address, settings), 'delivered')
    const { progress } = await ended(ledger)
    expect([progress.retry.launched, progress.allotted ?? 0, starts(settings.dir)]).toEqual([1, 0, 1])
    const jobs = await shared.open()
    expect((await jobs.wait('j')).aggregates['n']).toMatchObject({ value: 21 })
    expect(await faultsOfJob(ledger, 'j')).toEqual([])
  })

  it('(19) delivers a finished map/reduce workflow in the same way', async () => {
    const map = { id: 'each', map: { input: [1, 2, 3], agent_template: [{ shell: 'echo $$ >>ran' }] } }
    const steps = [map, { shell: 'echo 3', capture: 'n' }]
    const { shared, ledger, settings } = await killedBeforeDelivery({ workflows: [probe(steps)] })
    await note(await processes.documents(shared.address, settings), 'delivered')
    await ended(ledger)
    expect(starts(settings.dir)).toBe(3)
  })

  it('(19) that was killed right after the delivery delivers nothing twice', async () => {
    const shared = await place()
    const ledger = await shared.ledger()
    const settings = { datacenter: 'ap', dir: newDirectory() }
    const killed = { ...settings, killedAt: ['end of a workflow', 'after'] as const }
    const worker = await processes.documents(shared.address, killed)
    const jobs = await shared.open()
    await jobs.submit({ ...BASE, datacenters: ['ap'], workflows: [probe()] }, { isEmbedded: true })
    await worker.exit
    await note(await processes.documents(shared.address, settings), 'refused')
    expect(await jobs.wait('j')).toMatchObject({ success: true, totals: { attempts: 1 } })
    expect([starts(settings.dir), await faultsOfJob(ledger, 'j')]).toEqual([1, []])
  })

  it('(19) whose workflow another worker has claimed meanwhile keeps its result to itself', async () => {
    const { shared, ledger, settings } = await killedBeforeDelivery()
    const heir = { ...settings, dir: newDirectory() }
    await processes.documents(shared.address, heir)
    const { progress } = await ended(ledger)
    expect([progress.retry.launched, progress.allotted, starts(heir.dir)]).toEqual([2, 1, 1])
    await note(await processes.documents(shared.address, settings), 'refused')
    expect(await faultsOfJob(ledger, 'j')).toEqual([])
  })

  it.each([
    ['all', 1],
    ['wasted', 0],
  ])('(19) delivers what was charged and not claimed again; counting %s, the charge is %d', async (counts, used) => {
    const request = { retry_budget_counts: counts }
    const { shared, ledger, settings } = await killedBeforeDelivery(request, { retries: 'slow' })
    await processes.documents(shared.address, { ...settings, dir: newDirectory() })
    await until(async () => (await ledger.get(AP))?.progress.lost !== undefined, 'the takeover')
    await note(await processes.documents(shared.address, settings), 'delivered_late')
    const { progress } = await ended(ledger)
    expect([progress.retry.launched, starts(settings.dir)]).toEqual([1, 1])
    const jobs = await shared.open({}, SLOW)
    await jobs.wait('j')
    expect((await jobs.status('j')).budgets[0]).toMatchObject({ used })
    // A second execution of the same number, beside the one that was lost.
    expect((await ledger.attempts(AP)).map(({ attempt, execution }) => [attempt, execution])).toEqual([
      [1, 1],
      [1, 2],
    ])
    expect(await faultsOfJob(ledger, 'j')).toEqual([])
  })

  it.each(['log_only', 'update_result'])('(18, 19) delivers after the completion, by %s', async (policy) => {
    const request = { datacenters: ['eu', 'ap'], best_effort: { min_dcs: 1, deadline: '1h' } }
    const { shared, ledger, settings } = await killedBeforeDelivery({ ...request, late_result_policy: policy })
    await processes.documents(shared.address, { datacenter: 'eu', dir: newDirectory() })
    const jobs = await shared.open()
    await jobs.wait('j')
    const watch = new ResultWatch(ledger)
    const before = await watch.look('j')
    expect(before).toMatchObject({ version: 1, missing: ['ap'], aggregates: { n: { value: 21 } } })
    await note(await processes.documents(shared.address, settings), 'delivered')
    const report = await until(() => jobs.report('j', 'ap'), 'the late report')
    const isUpdate = policy === 'update_result'
    expect(report).toMatchObject({ isLate: true, isCounted: isUpdate, end: 'completed' })
    const after = await watch.look('j')
    if (isUpdate) expect(after).toMatchObject({ version: 2, missing: [], aggregates: { n: { value: 42 } } })
    else expect(JSON.stringify(after)).toBe(JSON.stringify(before))
    expect([...watch.faults, ...(await faultsOfJob(ledger, 'j'))]).toEqual([])
  })

  it('(18) acknowledges the result of a job that was removed', async () => {
    const { shared, ledger, settings } = await killedBeforeDelivery({ best_effort: { min_dcs: 1, deadline: '1s' } })
    const jobs = await shared.open()
    await jobs.wait('j')
    await until(async () => (await removeJobs(ledger, Infinity)).length > 0, 'the removal of the job')
    await note(await processes.documents(shared.address, settings), 'refused')
    expect(await ledger.list({ scopeKind: 'run' })).toEqual([])
  })

  it('(19) that is killed in the middle of a workflow leaves it to the next attempt', async () => {
    const shared = await place()
    const ledger = await shared.ledger()
    const settings = { datacenter: 'ap', dir: newDirectory() }
    const worker = await processes.documents(shared.address, settings)
    const jobs = await shared.open()
    const steps = [{ shell: 'echo $$ >>ran; test -e go || sleep 60; echo 7', capture: 'n' }]
    await jobs.submit({ ...BASE, datacenters: ['ap'], workflows: [probe(steps)] }, { isEmbedded: true })
    await until(async () => existsSync(path.join(settings.dir, 'ran')), 'the first step')
    worker.child.kill('SIGKILL')
    await worker.exit
    writeFileSync(path.join(settings.dir, 'go'), '')
    await note(await processes.documents(shared.address, settings), 'abandoned')
    expect((await ended(ledger)).progress).toMatchObject({ allotted: 1, retry: { launched: 2 } })
    expect(await faultsOfJob(ledger, 'j')).toEqual([])
  })
})
