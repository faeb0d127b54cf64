/** `outputs` of a workflow: kept with the end of the run, masked, and bounded. */
import { afterEach, expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

let scene: CliFixture
afterEach(() => scene.remove())

const outputsOf = async (): Promise<{ outputs: unknown; outputsError: unknown; state: string }> => {
  const { stdout } = await scene.reprise('show', '--json')
  return JSON.parse(stdout) as { outputs: unknown; outputsError: unknown; state: string }
}

test('a run that has ended has the outputs of its workflow, and a reference alone keeps its type', async () => {
  scene = new CliFixture(`
params: { region: eu }
steps:
  - { id: count, shell: echo 42, capture: total, capture_format: number }
outputs:
  total: \${total}
  label: region \${region}
  all: { exit: "\${steps.count.exit_code}", list: ["\${total}", x] }
`)
  expect((await scene.reprise('run', 'workflow.yaml')).code).toBe(0)
  expect(await outputsOf()).toMatchObject({
    state: 'succeeded',
    outputs: { total: 42, label: 'region eu', all: { exit: 0, list: [42, 'x'] } },
    outputsError: null,
  })
  const { stdout } = await scene.reprise('show')
  expect(stdout).toContain('label = "region eu"')
})

test('an output that cannot be filled in fails the run, and says why', async () => {
  scene = new CliFixture(`
steps: [{ id: look, shell: 'echo "{}"', capture: found, capture_format: json }]
outputs: { name: "\${found.name.first}" }
`)
  expect((await scene.reprise('run', 'workflow.yaml')).code).toBe(1)
  expect(await outputsOf()).toMatchObject({
    state: 'failed',
    outputs: null,
    outputsError: expect.stringContaining('name'),
  })
})

test('outputs of more than 64 kB fail the run', async () => {
  scene = new CliFixture(`
steps: [{ id: big, shell: 'head -c 70000 /dev/zero | tr "\\\\0" x', capture: text }]
outputs: { text: "\${text}" }
`)
  expect((await scene.reprise('run', 'workflow.yaml')).code).toBe(1)
  expect(await outputsOf()).toMatchObject({ outputsError: expect.stringContaining('at most 64000 are kept') })
})

test('a secret in an output is masked', async () => {
  scene = new CliFixture(`
secrets: [TOKEN]
steps: [{ shell: 'true' }]
outputs: { token: "\${env.TOKEN}" }
`)
  scene.env['TOKEN'] = 'very-secret-token'
  expect((await scene.reprise('run', 'workflow.yaml')).code).toBe(0)
  expect(JSON.stringify(await outputsOf())).not.toContain('very-secret')
})

test('an output that refers to nothing is refused before anything runs', async () => {
  scene = new CliFixture('steps: [{ shell: touch ran }]\noutputs: { n: "${nothing}" }\n')
  const { code, stderr } = await scene.reprise('run', 'workflow.yaml')
  expect(code).toBe(2)
  expect(stderr).toContain('outputs.n')
})
