/**
 * Point 20: workers and the submitter are killed and stopped at random moments; every job is submitted once and completes,
 * and J1 to J5 hold. `KILLS=150` for more.
 */
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../packages/reprise/src/core/seeded-random.js'
import { until } from '../gates/until.js'
import { faultsOfJob, ResultWatch } from './job-history.js'
import { type JobProcess, jobProcesses } from './job-processes.js'
import { jobsPlaces, STORES } from './jobs-fixture.js'

const KILLS = Number(process.env['KILLS'] ?? 6)
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const DATACENTERS = ['eu', 'us']
const WORKFLOWS = 12
/** Longer than the lease of the processes. */
const STOP_MS = 2500
const JOBS_AT_ONCE = 2

const requestOf = (id: string): object => ({
  job_id: id,
  datacenters: DATACENTERS,
  workflows: Array.from({ length: WORKFLOWS }, (_, index) => {
    const needs = index >= 9 ? { needs: [`w${index - 9}`] } : {}
    return { name: `w${index}`, handler: 'some', params: { fails: index % 3 === 0 ? 1 : 0 }, ...needs }
  }),
  retry_budget: 50,
  retry_budget_per_workflow: 5,
  best_effort: { min_dcs: 2, deadline: '1h' },
})

describe.each(STORES)('jobs on $name whose processes are killed', (store) => {
  const place = jobsPlaces(store)
  const processes = jobProcesses()

  it(`(20) complete with nothing lost or counted twice, seed ${SEED}`, {
    timeout: 180_000 + KILLS * 10_000,
  }, async () => {
    const shared = await place()
    const ledger = await shared.ledger()
    const watch = new ResultWatch(ledger)
    const random = seededRandom(SEED)
    const ids = Array.from({ length: Math.max(JOBS_AT_ONCE, KILLS) }, (_, index) => `j${index}`)
    const starts: readonly (() => Promise<JobProcess>)[] = [
      ...DATACENTERS.map((name) => () => processes.worker(shared.address, name)),
      ...Array.from({ length: JOBS_AT_ONCE }, (_, part) => () => {
        const own = ids.filter((_id, index) => index % JOBS_AT_ONCE === part)
        return processes.submitter(shared.address, own.map(requestOf))
      }),
    ]
    const running = await Promise.all(starts.map((start) => start()))
    for (let kill = 0; kill < KILLS; kill++) {
      await new Promise((resolve) => setTimeout(resolve, random() * 600))
      const one = Math.floor(random() * running.length)
      const [life, start] = [running[one], starts[one]]
      if (life === undefined || start === undefined) throw new RangeError(`There is no process ${one}`)
      if (random() < 0.25) {
        life.child.kill('SIGSTOP')
        await new Promise((resolve) => setTimeout(resolve, STOP_MS))
        life.child.kill('SIGCONT')
      } else {
        life.child.kill('SIGKILL')
        running[one] = await start()
      }
      for (const id of ids) await watch.look(id)
    }
    const submitters = running.slice(DATACENTERS.length)
    expect(await Promise.all(submitters.map(({ exit }) => exit))).toEqual(submitters.map(() => 0))
    for (const id of ids) {
      const result = await until(() => watch.look(id), `the end of ${id}`)
      expect(result.totals).toMatchObject({ workflows: 24, succeeded: 24 })
      expect(await faultsOfJob(ledger, id)).toEqual([])
    }
    expect(watch.faults).toEqual([])
    expect((await ledger.runs({ kind: 'job' })).map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  })
})
