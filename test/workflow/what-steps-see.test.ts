/** What a step is given, and what is shown of it: values, variables, output. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

test('`env` in texts and conditions is what the commands of the step get', async () => {
  fixture = new CliFixture(`
env: { REGION: eu, PLACE: "\${env.HOME}/data" }
steps:
  - id: file
    write_file: { path: file, content: "\${env.REGION} \${env.PLACE} \${env.OWN}" }
    env: { OWN: mine, REGION: us }
  - { id: wanted, shell: "echo \${env.REGION} $REGION > wanted", when: env.REGION == "eu" }
  - { id: unwanted, shell: touch unwanted, when: env.REGION == "us" }
`)
  fixture.env = { HOME: '/nowhere' }
  const { code, stderr } = await fixture.reprise(...RUN)
  expect(code, stderr).toBe(0)
  expect(fixture.read('file')).toBe('us /nowhere/data mine')
  expect(fixture.read('wanted')).toBe('eu eu\n')
  expect(fixture.has('unwanted')).toBe(false)
})

test('logs come in the order of the steps, and the title of each begins a line', async () => {
  fixture = new CliFixture(`
steps:
  - { id: second-by-name, shell: printf one }
  - { id: first-by-name, shell: printf two }
`)
  await fixture.reprise(...RUN)
  const { stdout } = await fixture.reprise('logs', 'r1')
  expect(stdout).toBe('── second-by-name, attempt 1 ──\none\n── first-by-name, attempt 1 ──\ntwo')
})

test('a run in memory is refused: nothing could be said of it afterwards', async () => {
  fixture = new CliFixture('steps: [{ shell: touch ran }]')
  const { code, stderr } = await fixture.reprise('run', 'workflow.yaml', '--store', 'memory:')
  expect(code).toBe(2)
  expect(stderr).toContain('keeps nothing')
  expect(fixture.has('ran')).toBe(false)
  expect((await fixture.reprise('show', 'r1', '--store', 'memory:')).code).toBe(2)
})
