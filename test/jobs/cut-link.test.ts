/** Point 19: a worker whose link to PostgreSQL is cut goes on with what it holds, and delivers before it claims anything. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Ledger, TaskRecord } from 'reprise/durable'
import type { Jobs } from '@reprise/jobs'
import { openJobsWith } from '../../packages/jobs/src/jobs.js'
import { workflowKey } from '../../packages/jobs/src/record/names.js'
import { until } from '../gates/until.js'
import { PostgresProxy } from '../postgres/proxy.js'
import { faultsOfJob } from './job-history.js'
import { jobsPlaces, STORES } from './jobs-fixture.js'
import { QUICK } from './job-policy.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-cut-link-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
let directories = 0

const place = jobsPlaces(STORES[1])
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** Two steps; the first waits for the file `go`, the second is begun while the link is cut. */
const document = {
  steps: [
    { shell: 'echo a >>ran; until test -e go; do sleep 0.02; done' },
    { shell: 'echo b >>ran; echo 21', capture: 'n' },
  ],
  outputs: { n: '${n}' },
}
const request = { datacenters: ['ap'], workflows: [{ name: 'probe', document }] }
const LEASE = '2s'

interface Cut {
  readonly proxy: PostgresProxy
  readonly direct: Jobs
  readonly ledger: Ledger
  readonly dir: string
  readonly ran: () => string
  readonly go: () => void
  readonly task: (job: string) => Promise<TaskRecord | undefined>
}

/** A worker of `ap` behind a proxy, in the middle of job `j`. */
async function cutWorker(): Promise<Cut> {
  const shared = await place()
  const ledger = await shared.ledger()
  const direct = await shared.open({ lease: LEASE })
  const proxy = await PostgresProxy.listen(Number(new URL(shared.address).port))
  closing.push(() => proxy.close())
  const jobs = await openJobsWith(proxy.urlOf(shared.address), { env: {}, lease: LEASE }, { policy: QUICK })
  closing.push(() => jobs.close().catch(() => undefined))
  const dir = path.join(directory, `w${directories++}`)
  await jobs.work({ datacenter: 'ap', dir, lease: LEASE, slots: 2 })
  await direct.submit({ ...request, job_id: 'j' })
  const ran = (): string => (existsSync(path.join(dir, 'ran')) ? readFileSync(path.join(dir, 'ran'), 'utf8') : '')
  await until(async () => ran() === 'a\n', 'the first step')
  const go = (): void => writeFileSync(path.join(dir, 'go'), '')
  const task = (job: string): Promise<TaskRecord | undefined> => ledger.get(workflowKey(`${job}/ap`, 'probe'))
  return { proxy, direct, ledger, dir, ran, go, task }
}

describe('a worker that is cut off from PostgreSQL', { timeout: 120_000 }, () => {
  it.each(['both', 'answers'] as const)(
    '(19) finishes what it holds, claims nothing meanwhile, and delivers it when the link is back (%s silent)',
    async (silence) => {
      const { proxy, direct, ledger, dir, ran, go } = await cutWorker()
      proxy.silenceAll(silence)
      await direct.submit({ ...request, job_id: 'k' })
      go()
      await until(async () => ran().includes('b'), 'the second step')
      const cutAtMs = await ledger.leaseNow()
      await until(async () => (await ledger.leaseNow()) > cutAtMs + 3000, 'the end of the lease')
      expect(ran().split('\n').filter(Boolean)).toHaveLength(2)
      proxy.heal('reset')
      const [first, second] = [await direct.wait('j'), await direct.wait('k')]
      expect([first.totals.attempts, first.aggregates]).toEqual([1, {}])
      expect(second).toMatchObject({ success: true, totals: { attempts: 1 } })
      const ends = [first, second].map(({ datacenters }) => datacenters[0]?.workflows[0])
      expect(ends.map((end) => end?.state)).toEqual(['succeeded', 'succeeded'])
      // A claim that was on its way when the answers stopped is committed by the server.
      if (silence === 'both') expect(ends[1]?.startedAtMs ?? 0).toBeGreaterThan(cutAtMs + 1000)
      expect(readFileSync(path.join(dir, 'ran'), 'utf8')).toBe('a\nb\na\nb\n')
      expect([...(await faultsOfJob(ledger, 'j')), ...(await faultsOfJob(ledger, 'k'))]).toEqual([])
    },
  )

  it('(19) stops what another worker of its datacenter has taken over once it is back', async () => {
    const { proxy, direct, ledger, ran, task } = await cutWorker()
    proxy.silenceAll()
    const heir = path.join(directory, `w${directories++}`)
    await direct.work({ datacenter: 'ap', dir: heir, lease: LEASE })
    await until(async () => (await task('j'))?.progress.retry.launched === 2, 'the takeover')
    proxy.heal('reset')
    writeFileSync(path.join(heir, 'go'), '')
    expect(await direct.wait('j')).toMatchObject({ success: true, totals: { attempts: 2, retries: 1 } })
    expect(ran()).toBe('a\n')
    expect(await faultsOfJob(ledger, 'j')).toEqual([])
  })
})
