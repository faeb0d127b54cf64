/**
 * What jobs cost on a PostgreSQL server: one large job over a slow network, its submission, very many small jobs, and small
 * jobs beside a large one. Imports jobs, the proxy of the tests and the server of the benchmarks.
 */
import { performance } from 'node:perf_hooks'
import { type Job, type JobHandler, type Jobs, openJobs } from '@reprise/jobs'
import { PostgresProxy } from '../../test/postgres/proxy.js'
import type { Line } from '../ledger/report.js'
import { median } from '../ledger/statistics.js'

const SITES = ['eu', 'us', 'ap'] as const
const quick: JobHandler = async () => ({ n: 1 })
const after =
  (ms: number): JobHandler =>
  () =>
    new Promise((resolve) => setTimeout(() => resolve({ n: 1 }), ms))

function workflowsOf(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({ name: `w${index}`, handler: 'quick' }))
}

async function closeAll(opened: readonly { close(): Promise<unknown> }[]): Promise<void> {
  for (const one of opened.toReversed()) await one.close()
}

/** 300 workflows at three datacenters, each worker `roundTripMs` away from the database. */
export async function measureRoundTrip(url: string, workflows: number, roundTripMs: number): Promise<Line> {
  const opened: { close(): Promise<unknown> }[] = []
  try {
    const proxy = await PostgresProxy.listen(Number(new URL(url).port))
    opened.push(proxy)
    const near = await openJobs(url, { env: {} })
    opened.push(near)
    for (const datacenter of SITES) {
      const far = await openJobs(`${proxy.urlOf(url)}&connections=2`, { env: {} })
      opened.push(far)
      await far.work({ datacenter, slots: 16, handlers: { quick } })
    }
    proxy.delayMs = roundTripMs / 2
    const startMs = performance.now()
    const job = await near.submit({ datacenters: SITES, workflows: workflowsOf(workflows) })
    const { success } = await job.result()
    if (!success) throw new Error('The job has failed')
    const value = (performance.now() - startMs) / 1000
    proxy.delayMs = 0
    return { what: `${workflows} workflows at 3 datacenters, ${roundTripMs} ms round trip`, value, unit: 's' }
  } finally {
    await closeAll(opened)
  }
}

/** All in one transaction. */
export async function measureSubmission(url: string, workflows: number, datacenters: number): Promise<Line[]> {
  const jobs = await openJobs(url, { env: {} })
  try {
    const names = Array.from({ length: datacenters }, (_, index) => `dc${index}`)
    const times: number[] = []
    const cpuTimes: number[] = []
    for (let round = 0; round < 5; round++) {
      const [startMs, cpu] = [performance.now(), process.cpuUsage()]
      await jobs.submit({ datacenters: names, workflows: workflowsOf(workflows) }, { isEmbedded: true })
      times.push((performance.now() - startMs) / 1000)
      const { user, system } = process.cpuUsage(cpu)
      cpuTimes.push((user + system) / 1e6)
    }
    const what = `a job of ${workflows * datacenters} tasks in one submission, the median of ${times.length}`
    return [
      { what, value: median(times), unit: 's', most: { goal: 2 } },
      { what: '… processor time of the process', value: median(cpuTimes), unit: 's' },
    ]
  } finally {
    await jobs.close()
  }
}

const AT_ONCE = 32

/** Jobs of one workflow, one after the other with 32 at a time: what the first cost, and the last. */
export async function measureMany(url: string, count: number): Promise<Line[]> {
  const jobs = await openJobs(url, { env: {} })
  try {
    await jobs.work({ datacenter: 'eu', slots: AT_ONCE, handlers: { quick } })
    const part = Math.max(1, Math.floor(count / 10))
    const parts: { readonly wallMs: number; readonly cpuMs: number }[] = []
    for (let done = 0; done < count; done += part) {
      const [startMs, cpu] = [performance.now(), process.cpuUsage()]
      await inLanes(AT_ONCE, part, (index) => runOne(jobs, `job-${done + index}`))
      const { user, system } = process.cpuUsage(cpu)
      parts.push({ wallMs: (performance.now() - startMs) / part, cpuMs: (user + system) / 1000 / part })
    }
    const cpus = parts.map(({ cpuMs }) => cpuMs)
    const [first, last] = [median(cpus.slice(1, 4)), median(cpus.slice(-3))]
    const walls = parts.map(({ wallMs }) => wallMs)
    const listed = performance.now()
    await jobs.list({ limit: 20 })
    const listMs = performance.now() - listed
    const metered = performance.now()
    await jobs.metrics()
    return [
      { what: `a job of one workflow, of ${count}: from submission to result`, value: median(walls), unit: 'ms' },
      { what: '… processor time of the process, jobs in the second to fourth tenth', value: first, unit: 'ms' },
      { what: '… in the last three tenths', value: last, unit: 'ms' },
      { what: '… the last by the first', value: last / first, unit: '×', most: { goal: 1.25 } },
      { what: `the latest 20 of ${count} jobs`, value: listMs, unit: 'ms' },
      { what: `metrics of ${count} jobs`, value: performance.now() - metered, unit: 'ms' },
    ]
  } finally {
    await jobs.close()
  }
}

async function runOne(jobs: Jobs, id: string): Promise<void> {
  const job = await jobs.submit({ job_id: id, datacenters: ['eu'], workflows: workflowsOf(1) })
  await job.result()
}

async function inLanes(lanes: number, count: number, act: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await act(next++)
  }
  await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane))
}

/** Jobs of three workflows that are submitted while a large one has filled the queue of the datacenter. */
export async function measureFairness(url: string, large: number, small: number): Promise<Line[]> {
  const jobs = await openJobs(url, { env: {} })
  try {
    await jobs.work({ datacenter: 'eu', slots: 8, handlers: { quick: after(20) } })
    const alone = await timesOf(jobs, small)
    const startMs = performance.now()
    const job = await jobs.submit({ datacenters: ['eu'], workflows: workflowsOf(large) })
    const largeEnd = job.result().then(() => performance.now() - startMs)
    const beside = await timesOf(jobs, small)
    const hasEnded = (await job.status()).state === 'completed'
    const largeMs = await largeEnd
    const [aloneMs, besideMs] = [median(alone), median(beside)]
    return [
      { what: 'a job of 3 workflows, alone', value: aloneMs, unit: 'ms' },
      {
        what: `… beside a job of ${large} workflows${hasEnded ? ' (which ended before)' : ''}`,
        value: besideMs,
        unit: 'ms',
      },
      { what: '… by its time alone', value: besideMs / aloneMs, unit: '×', most: { goal: 3 } },
      { what: 'the large job', value: largeMs / 1000, unit: 's' },
    ]
  } finally {
    await jobs.close()
  }
}

async function timesOf(jobs: Jobs, count: number): Promise<number[]> {
  const times: number[] = []
  for (let index = 0; index < count; index++) {
    const startMs = performance.now()
    const job: Job = await jobs.submit({ datacenters: ['eu'], workflows: workflowsOf(3) })
    await job.result()
    times.push(performance.now() - startMs)
  }
  return times
}
