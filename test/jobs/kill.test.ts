/** Point 20: workers are killed at random moments; the job completes, and J1 to J4 hold. `KILLS=100` for more. */
import { type ChildProcess, spawn } from 'node:child_process'
import { afterEach, describe, expect, it } from 'vitest'
import { bundleProgram } from '../bundled-program.js'
import { bundledFor } from '../gates/shared-place.js'
import { faultsOfJob } from './job-history.js'
import { jobsPlaces, named, STORES } from './jobs-fixture.js'

const KILLS = Number(process.env['KILLS'] ?? 4)
const DATACENTERS = ['eu', 'us']
const program = bundledFor(() => bundleProgram(new URL('job-worker.ts', import.meta.url)))

describe.each(STORES)('a job on $name whose workers are killed', (store) => {
  const place = jobsPlaces(store)
  const living = new Set<ChildProcess>()
  afterEach(() => {
    for (const child of living) child.kill('SIGKILL')
    living.clear()
  })

  const start = async (address: string, datacenter: string): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [program().file, address, datacenter], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    living.add(child)
    child.once('exit', () => living.delete(child))
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    return child
  }

  it('(20) completes with nothing lost or counted twice', { timeout: 120_000 + KILLS * 10_000 }, async () => {
    const shared = await place()
    const jobs = await shared.open()
    const workers = new Map<string, ChildProcess>()
    for (const name of DATACENTERS) workers.set(name, await start(shared.address, name))
    const budget = { retry_budget: 50, retry_budget_per_workflow: 5 }
    const workflows = named(12, (index) => ({ fails: index % 3 === 0 ? 1 : 0 }))
    const ids: string[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      const job = await jobs.submit({ datacenters: DATACENTERS, workflows, ...budget })
      ids.push(job.id)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 400))
      const name = kill % 2 === 0 ? 'eu' : 'us'
      workers.get(name)?.kill('SIGKILL')
      workers.set(name, await start(shared.address, name))
      const result = await job.result()
      expect(result.totals).toMatchObject({ workflows: 24, succeeded: 24 })
    }
    const ledger = await shared.ledger()
    for (const id of ids) expect(await faultsOfJob(ledger, id)).toEqual([])
  })
})
