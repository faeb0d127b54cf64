/** `reprise job run`: a job on one machine, killed and resumed, with the exit codes of how it ended. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { until } from '../gates/until.js'
import { CliFixture } from '../workflow/cli-fixture.js'

let cli: CliFixture
afterEach(() => cli.remove())

const job = (command: string, more = ''): string => `mode: job
datacenters: [eu, us]
workflows:
  - { name: probe, document: { steps: [{ shell: '${command}', capture: said }], outputs: { n: "\${said}" } } }
aggregate: { n: sum }
${more}`

test('a job runs at every datacenter, and its outputs are added up', async () => {
  cli = new CliFixture()
  cli.write('job.yaml', job('echo 21'))
  const { code, stdout } = await cli.reprise('job', 'run', 'job.yaml', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'complete', aggregates: { n: { value: 42 } } })
})

test('a job that failed everywhere ends with exit code 1, and one that failed at one place with 3', async () => {
  cli = new CliFixture()
  cli.write('all.yaml', job('exit 1', 'retries: none\n'))
  cli.write('one.yaml', job('test $REPRISE_DATACENTER = eu', 'retries: none\n'))
  expect((await cli.reprise('job', 'run', 'all.yaml')).code).toBe(1)
  const { code, stdout } = await cli.reprise('job', 'run', 'one.yaml')
  expect(code).toBe(3)
  expect(stdout).toContain('partial, no success (all_dcs_reported)')
})

test('a job whose process is killed is completed by resume', async () => {
  cli = new CliFixture()
  cli.write('job.yaml', job('touch began-$REPRISE_DATACENTER; until test -e go; do sleep 0.05; done; echo 1'))
  await cli.killed(['job', 'run', 'job.yaml', '--job-id', 'j1'], () => cli.has('began-eu') && cli.has('began-us'))
  cli.write('go', '')
  const { code, stdout } = await cli.reprise('resume', 'j1', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ jobId: 'j1', outcome: 'complete', completed: ['eu', 'us'] })
})

test('resume shows with --dry-run what it would do to a job, and refuses flags that are for runs', async () => {
  cli = new CliFixture()
  cli.write('job.yaml', job('touch began-$REPRISE_DATACENTER; until test -e go; do sleep 0.05; done; echo 1'))
  await cli.killed(['job', 'run', 'job.yaml', '--job-id', 'j1'], () => cli.has('began-eu') && cli.has('began-us'))
  cli.write('go', '')
  const shown = await cli.reprise('resume', 'j1', '--dry-run')
  expect(shown.code).toBe(0)
  expect(shown.stdout).toContain('A resume starts workers for eu, us in this process.')
  for (const flag of [['--reset-retries'], ['--done', 'probe'], ['--max-parallel', '3']] as const) {
    const refused = await cli.reprise('resume', 'j1', ...flag)
    expect(refused.stderr).toContain(`${flag[0]} is for runs of workflows, and j1 is a job`)
    expect(refused.code).toBe(2)
  }
  const { stdout } = await cli.reprise('job', 'status', 'j1', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ state: 'running', budgets: [{ used: 0 }] })
})

test.each([[['latest']], [['job']], [['j']], [[]]] as const)(
  'a job is resumed by %j where no run is meant',
  async (words) => {
    cli = new CliFixture()
    cli.write('job.yaml', job('touch began-$REPRISE_DATACENTER; until test -e go; do sleep 0.05; done; echo 1'))
    await cli.killed(['job', 'run', 'job.yaml', '--job-id', 'j1'], () => cli.has('began-eu') && cli.has('began-us'))
    cli.write('go', '')
    const { stdout, stderr } = await cli.reprise('resume', ...words, '--json')
    expect(stderr).not.toContain('refused')
    expect(JSON.parse(stdout)).toMatchObject({ jobId: 'j1', outcome: 'complete' })
  },
)

test('resume runs what a retry asks for, though enough datacenters have completed before', async () => {
  cli = new CliFixture()
  const best = 'retries: none\nbest_effort: { min_dcs: 1, deadline: 5m, settle: 30s }\n'
  cli.write('job.yaml', job('{ test $REPRISE_DATACENTER = eu || test -e mended; } && echo 1', best))
  const first = await cli.reprise('job', 'run', 'job.yaml', '--job-id', 'j1')
  expect(first.stdout).toContain('failed: us')
  const retried = await cli.reprise('job', 'retry', 'j1')
  expect(retried.stderr).toContain('next: reprise resume j1')
  const again = JSON.parse((await cli.reprise('resume', 'j1', '--json')).stdout) as object
  expect(again).toMatchObject({ reason: 'all_dcs_reported', failed: ['us'], totals: { workflows: 2, attempts: 2 } })
  cli.write('mended', '')
  expect((await cli.reprise('job', 'retry', 'j1')).code).toBe(0)
  const mended = JSON.parse((await cli.reprise('resume', 'j1', '--json')).stdout) as object
  expect(mended).toMatchObject({ reason: 'all_dcs_reported', outcome: 'complete', totals: { succeeded: 2 } })
})

test('a job that settles is not over in the moment in which resume opens it', async () => {
  cli = new CliFixture()
  cli.env['BEST_EFFORT_CHECK_INTERVAL_SECONDS'] = '0.1'
  const wait = 'test $REPRISE_DATACENTER = eu || { touch began; until test -e go; do sleep 0.05; done; }; echo 1'
  cli.write('job.yaml', job(wait, 'best_effort: { min_dcs: 1, deadline: 5m, settle: 4m }\n'))
  const going = await cli.startUntil(['job', 'run', 'job.yaml', '--job-id', 'j1'], () => cli.has('began'))
  await until(async () => going.said().includes('eu completed'), 'the report of eu')
  going.child.kill('SIGINT')
  await going.ended
  cli.write('go', '')
  const { stdout } = await cli.reprise('resume', 'j1', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ reason: 'all_dcs_reported', outcome: 'complete' })
})

test('a workflow of a job may be a map, with its own parameters at a datacenter, and knows where it runs', async () => {
  cli = new CliFixture()
  const line = '$REPRISE_JOB_ID $REPRISE_DATACENTER ${item} ${n}'
  const document = {
    mode: 'mapreduce',
    params: { n: 0 },
    map: { input: { range: [1, 4] }, agent_template: [{ shell: `echo "${line}" >> out-$REPRISE_DATACENTER` }] },
    reduce: [{ shell: 'echo ${map.successful}', capture: 'count' }],
    outputs: { count: '${count}' },
  }
  const workflow = { name: 'load', params: { n: 3 }, params_by_datacenter: { us: { n: 5 } }, document }
  const file = { mode: 'job', datacenters: ['eu', 'us'], workflows: [workflow], aggregate: { count: 'sum' } }
  cli.write('job.yaml', JSON.stringify(file))
  const { stdout } = await cli.reprise('job', 'run', 'job.yaml', '--job-id', 'j1', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'complete', aggregates: { count: { value: 8 } } })
  const linesOf = (datacenter: string): string[] => cli.read(`out-${datacenter}`).trim().split('\n').toSorted()
  expect(linesOf('eu')).toEqual([1, 2, 3, 4].map((item) => `j1 eu ${item} 3`))
  expect(linesOf('us')).toEqual([1, 2, 3, 4].map((item) => `j1 us ${item} 5`))
})

test('outputs that cannot be filled in fail the workflow, which is not retried', async () => {
  cli = new CliFixture()
  cli.write('job.yaml', job(`echo ${'x'.repeat(70_000)}`))
  const { code, stdout } = await cli.reprise('job', 'run', 'job.yaml')
  expect(code).toBe(1)
  expect(stdout).toMatch(/eu\/probe after 1 attempt: .*outputs: /)
})

test('a bad file creates nothing', async () => {
  cli = new CliFixture()
  cli.write('job.yaml', job('echo', 'retry_budget: -1\n'))
  const { code, stderr } = await cli.reprise('job', 'run', 'job.yaml')
  expect(code).toBe(2)
  expect(stderr).toContain('-1 is not a whole number')
  expect(cli.has('.reprise')).toBe(false)
})

test('commands of workflows leave a job alone, and name the command that shows it', async () => {
  cli = new CliFixture()
  cli.write('job.yaml', job('echo 1'))
  cli.write('workflow.yaml', 'steps: [{ shell: "true" }]')
  expect((await cli.reprise('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(0)
  expect((await cli.reprise('job', 'run', 'job.yaml', '--job-id', 'j1')).code).toBe(0)
  const { stdout } = await cli.reprise('ps', '--json')
  expect((JSON.parse(stdout) as { runs: { id: string }[] }).runs.map(({ id }) => id)).toEqual(['r1'])
  expect((await cli.reprise('ps')).stdout).toContain('Jobs are listed by their own command: reprise job list')
  const shown = await cli.reprise('show', 'j1')
  expect(shown.code).not.toBe(0)
  expect(shown.stderr).toContain('j1 is a job, not a run.')
  expect(shown.stderr).toContain('job status j1')
  const cleaned = await cli.reprise('clean', '--older-than', '0s', '--yes', '--json')
  expect(cleaned.code).toBe(0)
  expect(JSON.parse((await cli.reprise('job', 'status', 'j1', '--json')).stdout)).toMatchObject({ state: 'completed' })
  expect((await cli.reprise('doctor')).code).toBe(0)
})
