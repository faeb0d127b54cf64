/** Where the commands of a workflow run, wherever it is started. Needs a build. */
import { mkdirSync, realpathSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

test('steps run in the directory of the document, and `working_dir` counts from there', async () => {
  fixture = new CliFixture()
  mkdirSync(fixture.path('flows/data'), { recursive: true })
  fixture.write(
    'flows/workflow.yaml',
    `
steps:
  - shell: pwd -P > here
  - shell: pwd -P > there
    working_dir: data
  - write_file: { path: written, content: hello }
`,
  )
  const { code, stderr } = await fixture.reprise('run', 'flows/workflow.yaml')
  expect(code, stderr).toBe(0)
  const flows = realpathSync(fixture.path('flows'))
  expect(fixture.read('flows/here')).toBe(`${flows}\n`)
  expect(fixture.read('flows/data/there')).toBe(`${flows}/data\n`)
  expect(fixture.read('flows/written')).toBe('hello')
  // The record stays where the command was typed.
  expect(fixture.has('.reprise/ledger.db')).toBe(true)
})
