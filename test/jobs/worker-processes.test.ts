/** `reprise worker` and `reprise job submit` as processes of their own that share a store. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { CliFixture, type Going, until } from '../workflow/cli-fixture.js'

let cli: CliFixture
afterEach(() => cli.remove())

const JOB = `mode: job
datacenters: [eu, us, ap]
workflows:
  - { name: ping, document: { steps: [{ shell: 'echo pong' }] } }
best_effort: { min_dcs: 2, deadline: 60s }
`

/** A worker that has registered its datacenter. */
async function workerOf(datacenter: string): Promise<Going> {
  const worker = cli.start('worker', '--datacenter', datacenter)
  await until(
    () => worker.said().includes(`Working for ${datacenter}`),
    () => `a worker of ${datacenter}; it said ${worker.said()}`,
    worker,
  )
  return worker
}

test('workers run what is submitted, and a job whose third datacenter was killed succeeds with two', async () => {
  cli = new CliFixture()
  cli.write('job.yaml', JOB)
  const lost = await workerOf('ap')
  lost.child.kill('SIGKILL')
  await lost.ended
  const workers = [await workerOf('eu'), await workerOf('us')]
  const { code, stdout } = await cli.reprise('job', 'submit', 'job.yaml', '--wait', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'partial', success: true, reason: 'min_dcs_reached' })
  // They wait for further jobs until they are stopped.
  expect(workers.map(({ child }) => child.exitCode)).toEqual([null, null])
  for (const { child } of workers) child.kill('SIGTERM')
  expect((await Promise.all(workers.map(({ ended }) => ended))).map(({ code: end }) => end)).toEqual([143, 143])
})

test('a job for a datacenter that no worker has registered is refused with the command that starts one', async () => {
  cli = new CliFixture()
  cli.write('job.yaml', JOB)
  const { code, stderr } = await cli.reprise('job', 'submit', 'job.yaml')
  expect(code).toBe(2)
  expect(stderr).toContain('reprise worker --datacenter eu')
})

test('an id that is no name is refused as wrong usage', async () => {
  cli = new CliFixture()
  cli.write('job.yaml', JOB)
  const { code, stderr } = await cli.reprise('job', 'run', 'job.yaml', '--job-id', 'a/b')
  expect(code).toBe(2)
  expect(stderr).toContain('"a/b" is not a name')
})
