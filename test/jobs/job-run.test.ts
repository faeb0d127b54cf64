/** `reprise job run`: a job on one machine, killed and resumed, with the exit codes of how it ended. Needs a build. */
import { afterEach, expect, test } from 'vitest'
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
  const shown = await cli.reprise('show', 'j1')
  expect(shown.code).not.toBe(0)
  expect(shown.stderr).toContain('j1 is a job, not a run.')
  expect(shown.stderr).toContain('job status j1')
  const cleaned = await cli.reprise('clean', '--older-than', '0s', '--yes', '--json')
  expect(cleaned.code).toBe(0)
  expect(JSON.parse((await cli.reprise('job', 'status', 'j1', '--json')).stdout)).toMatchObject({ state: 'completed' })
  expect((await cli.reprise('doctor')).code).toBe(0)
})
