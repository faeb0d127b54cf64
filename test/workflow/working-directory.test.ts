/** Where the commands of a workflow run, wherever it is started. Needs a build. */
import { mkdirSync, realpathSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

let scene: CliFixture
afterEach(() => scene.remove())

test('steps run in the directory of the document, and `working_dir` counts from there', async () => {
  scene = new CliFixture()
  mkdirSync(scene.path('flows/data'), { recursive: true })
  scene.write(
    'flows/workflow.yaml',
    `
steps:
  - shell: pwd -P > here
  - shell: pwd -P > there
    working_dir: data
  - write_file: { path: written, content: hello }
`,
  )
  const { code, stderr } = await scene.reprise('run', 'flows/workflow.yaml')
  expect(code, stderr).toBe(0)
  const flows = realpathSync(scene.path('flows'))
  expect(scene.read('flows/here')).toBe(`${flows}\n`)
  expect(scene.read('flows/data/there')).toBe(`${flows}/data\n`)
  expect(scene.read('flows/written')).toBe('hello')
  // The record stays where the command was typed.
  expect(scene.has('.reprise/ledger.db')).toBe(true)
})
