/** `outputs` of a workflow: kept with the end of the run, masked, and bounded. */
import { afterEach, expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

const outputsOf = async (): Promise<{ outputs: unknown; outputsError: unknown; state: string }> => {
  const { stdout } = await fixture.reprise('show', '--json')
  return JSON.parse(stdout) as { outputs: unknown; outputsError: unknown; state: string }
}

test('a run that has ended has the outputs of its workflow, and a reference alone keeps its type', async () => {
  fixture = new CliFixture(`
params: { region: eu }
steps:
  - { id: count, shell: echo 42, capture: total, capture_format: number }
outputs:
  total: \${total}
  label: region \${region}
  all: { exit: "\${steps.count.exit_code}", list: ["\${total}", x] }
`)
  expect((await fixture.reprise('run', 'workflow.yaml')).code).toBe(0)
  expect(await outputsOf()).toMatchObject({
    state: 'succeeded',
    outputs: { total: 42, label: 'region eu', all: { exit: 0, list: [42, 'x'] } },
    outputsError: null,
  })
  const { stdout } = await fixture.reprise('show')
  expect(stdout).toContain('label = "region eu"')
})

test('an output that cannot be filled in fails the run, and says why', async () => {
  fixture = new CliFixture(`
steps: [{ id: look, shell: 'echo "{}"', capture: found, capture_format: json }]
outputs: { name: "\${found.name.first}" }
`)
  expect((await fixture.reprise('run', 'workflow.yaml')).code).toBe(1)
  expect(await outputsOf()).toMatchObject({
    state: 'failed',
    outputs: null,
    outputsError: expect.stringContaining('name'),
  })
})

test('outputs of more than 64 kB fail the run', async () => {
  fixture = new CliFixture(`
steps: [{ id: big, shell: 'head -c 70000 /dev/zero | tr "\\\\0" x', capture: text }]
outputs: { text: "\${text}" }
`)
  expect((await fixture.reprise('run', 'workflow.yaml')).code).toBe(1)
  expect(await outputsOf()).toMatchObject({ outputsError: expect.stringContaining('at most 64000 are kept') })
})

test('a secret in an output is masked', async () => {
  fixture = new CliFixture(`
secrets: [TOKEN]
steps: [{ shell: 'true' }]
outputs: { token: "\${env.TOKEN}" }
`)
  fixture.env['TOKEN'] = 'very-secret-token'
  expect((await fixture.reprise('run', 'workflow.yaml')).code).toBe(0)
  expect(JSON.stringify(await outputsOf())).not.toContain('very-secret')
})

test('an output that refers to nothing is refused before anything runs', async () => {
  fixture = new CliFixture('steps: [{ shell: touch ran }]\noutputs: { n: "${nothing}" }\n')
  const { code, stderr } = await fixture.reprise('run', 'workflow.yaml')
  expect(code).toBe(2)
  expect(stderr).toContain('outputs.n')
})

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

test('a run that is killed in `finally` and resumed has the outputs that its steps gave', async () => {
  fixture = new CliFixture(`
steps: [{ id: main, shell: echo hello, capture: said }]
finally: [{ id: clean, shell: 'echo x >> cleaned; echo late; test -e go || sleep 60', capture: said }]
outputs: { said: "\${said}", exit: "\${steps.main.exit_code}" }
`)
  await fixture.killed(RUN, () => fixture.count('cleaned') === 1)
  expect(await outputsOf()).toMatchObject({ outputs: null })
  fixture.write('go', '')
  const { code, stderr } = await fixture.reprise('resume', 'r1')
  expect(code, stderr).toBe(0)
  expect(await outputsOf()).toMatchObject({ state: 'succeeded', outputs: { said: 'hello', exit: 0 } })
})

test('a step of `finally` that failed and is continued after leaves the outputs as they are', async () => {
  fixture = new CliFixture(`
steps: [{ id: main, shell: echo hello, capture: said }]
finally: [{ id: clean, shell: exit 3, retry: { attempts: 1, on_failure: continue } }]
outputs: { said: "\${said}" }
`)
  expect((await fixture.reprise(...RUN)).code).toBe(3)
  expect(await outputsOf()).toMatchObject({ state: 'completed_with_failures', outputs: { said: 'hello' } })
})

test('`on_failure` sees why outputs could not be filled in, also after a kill, and a resume of the run tries again', async () => {
  fixture = new CliFixture(`
steps: [{ id: main, shell: echo x >> main }]
on_failure: [{ id: tell, shell: 'echo "[\${run.failed_step}] \${run.error}" >> told; test -e go || sleep 60' }]
finally: [{ id: clean, shell: 'echo "\${run.state}" >> cleaned' }]
outputs: { region: "\${env.REGION_OF_RUN}" }
`)
  await fixture.killed(RUN, () => fixture.count('told') === 1)
  fixture.write('go', '')
  expect((await fixture.reprise('resume', 'r1')).code).toBe(1)
  const why = expect.stringContaining('REGION_OF_RUN')
  expect(fixture.read('told').trim().split('\n')).toEqual(Array(2).fill(expect.stringMatching(/^\[\] .*REGION_OF_RUN/)))
  expect(await outputsOf()).toMatchObject({ state: 'failed', outputs: null, outputsError: why })
  fixture.env['REGION_OF_RUN'] = 'eu'
  const { code, stderr } = await fixture.reprise('resume', 'r1')
  expect(code, stderr).toBe(0)
  expect(await outputsOf()).toMatchObject({ state: 'succeeded', outputs: { region: 'eu' }, outputsError: null })
  expect([fixture.count('main'), fixture.count('told'), fixture.read('cleaned')]).toEqual([1, 2, 'failed\nsucceeded\n'])
})

test('an output that refers to a step of `finally` is refused', async () => {
  fixture = new CliFixture(`
steps: [{ shell: touch ran }]
finally: [{ id: clean, shell: 'true' }]
outputs: { n: "\${steps.clean.exit_code}", state: "\${run.state}" }
`)
  const { code, stderr } = await fixture.reprise('run', 'workflow.yaml')
  expect([code, fixture.has('ran')], stderr).toEqual([2, false])
  expect(stderr).toContain('outputs.n')
  expect(stderr).toContain('outputs.state')
})
