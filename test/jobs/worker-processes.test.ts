/** `reprise worker` and `reprise job submit` as processes of their own that share a store. Needs a build. */
import { mkdirSync } from 'node:fs'
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
async function workerOf(datacenter: string, ...flags: readonly string[]): Promise<Going> {
  const worker = cli.start('worker', '--datacenter', datacenter, ...flags)
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

test('a worker serves the metrics of all jobs for Prometheus', async () => {
  cli = new CliFixture()
  cli.write('job.yaml', JOB.replace('[eu, us, ap]', '[eu]').replace('echo pong', 'exit 1').replace('min_dcs: 2, ', ''))
  const worker = await workerOf('eu', '--metrics-port', '0')
  await until(
    () => worker.said().includes('/metrics'),
    () => `the address of the metrics; it said ${worker.said()}`,
    worker,
  )
  const url = /Metrics at (http:\S+)/.exec(worker.said())?.[1] ?? ''
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/)
  const { stderr } = await cli.reprise('worker', '--datacenter', 'us', '--metrics-port', new URL(url).port)
  expect(stderr).toMatch(/--metrics-port 127\.0\.0\.1:(\d+): port \1 is in use/)
  expect((await cli.reprise('job', 'submit', 'job.yaml', '--job-id', 'j', '--wait')).code).toBe(1)
  const response = await fetch(url)
  expect(response.headers.get('content-type')).toContain('version=0.0.4')
  const text = await response.text()
  for (const line of [
    '# TYPE retry_budget_consumed_total counter',
    'retry_budget_consumed_total{job_id="j"} 3',
    'retry_budget_exhausted_total{job_id="j"} 1',
    'best_effort_completions_total{reason="all_dcs_reported"} 1',
    'best_effort_completion_ratio{job_id="j"} 0',
  ])
    expect(text.split('\n')).toContain(line)
  expect((await fetch(new URL('/', url))).status).toBe(404)
  expect((await fetch(url, { method: 'POST' })).status).toBe(405)
  worker.child.kill('SIGTERM')
  expect((await worker.ended).code).toBe(143)
})

test.each(['', '0x50', '65536', '-1', 'a b:80', '::1:80'])('a metrics port of "%s" is refused', async (port) => {
  cli = new CliFixture()
  const { code, stderr } = await cli.reprise('worker', '--datacenter', 'eu', `--metrics-port=${port}`)
  expect(code).toBe(2)
  expect(stderr).toContain('is no port')
  expect(cli.has('.reprise')).toBe(false)
})

test('a worker without a directory of its own does not start, and says why', async () => {
  cli = new CliFixture()
  mkdirSync(cli.path('own'))
  cli.write('own/.reprise', '')
  const nowhere = await cli.reprise('worker', '--datacenter', 'eu', '--dir', 'own')
  expect([nowhere.code, nowhere.stderr]).toEqual([74, expect.stringContaining('of a worker cannot be made')])
  const first = await workerOf('eu')
  const second = await cli.reprise('worker', '--datacenter', 'eu')
  expect([second.code, second.stderr]).toEqual([2, expect.stringContaining('is used by another worker')])
  first.child.kill('SIGTERM')
  expect((await first.ended).code).toBe(143)
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

const WRONG: readonly (readonly [flags: readonly string[], told: string])[] = [
  [['--datacenter', 'e u'], '--datacenter e u is not the name of a datacenter'],
  [['--datacenter', ''], 'is not the name of a datacenter'],
  [['--datacenter', 'eu', '--lease', '5ms'], '--lease 5ms is not from 100ms to 1d'],
  [['--datacenter', 'eu', '--dir', 'nowhere'], '--dir nowhere is no directory'],
]

test.each(WRONG)('a worker with %j is refused as wrong usage, and nothing is made', async (flags, told) => {
  cli = new CliFixture()
  const { code, stderr } = await cli.reprise('worker', ...flags)
  expect(stderr).toContain(told)
  expect(code).toBe(2)
  expect(cli.has('.reprise')).toBe(false)
})

test('limits of the operator that are wrong or contradict each other end every command that needs them', async () => {
  cli = new CliFixture()
  cli.write('job.yaml', JOB)
  cli.env['RETRY_BUDGET_MAX'] = '-3'
  for (const command of [
    ['worker', '--datacenter', 'eu'],
    ['job', 'run', 'job.yaml'],
    ['job', 'settings'],
  ]) {
    const { code, stderr } = await cli.reprise(...command)
    expect(stderr).toContain('RETRY_BUDGET_MAX: "-3" is not a whole number')
    expect(code).toBe(2)
  }
  Object.assign(cli.env, { RETRY_BUDGET_DEFAULT: '9', RETRY_BUDGET_MAX: '5' })
  const { code, stderr } = await cli.reprise('job', 'settings')
  expect(stderr).toContain('RETRY_BUDGET_DEFAULT: 9 is more than RETRY_BUDGET_MAX, which is 5')
  expect(code).toBe(2)
  expect(cli.has('.reprise')).toBe(false)
})

test('a job of workers is not executed by a resume, and a datacenter that nobody knows is not disabled', async () => {
  cli = new CliFixture()
  cli.write(
    'job.yaml',
    JOB.replace('[eu, us, ap]', '[eu]').replace('echo pong', 'until test -e go; do sleep 0.05; done'),
  )
  const worker = await workerOf('eu')
  expect((await cli.reprise('job', 'submit', 'job.yaml', '--job-id', 'j')).code).toBe(0)
  const refused = await cli.reprise('resume', 'j')
  expect(refused.stderr).toContain('Job j was submitted to workers, and not begun by `job run` here')
  expect(refused.stderr).toContain('reprise job wait j')
  expect(refused.code).toBe(4)
  const unknown = await cli.reprise('datacenters', 'disable', 'eux')
  expect(unknown.stderr).toContain('No worker has ever registered the datacenter eux: did you mean eu?')
  expect(unknown.code).toBe(4)
  const { stdout } = await cli.reprise('datacenters', '--json')
  expect((JSON.parse(stdout) as { datacenters: { name: string }[] }).datacenters.map(({ name }) => name)).toEqual([
    'eu',
  ])
  cli.write('go', '')
  expect((await cli.reprise('job', 'wait', 'j')).code).toBe(0)
  worker.child.kill('SIGTERM')
  expect((await worker.ended).code).toBe(143)
})
