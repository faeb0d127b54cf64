/** What `logs` says where there is no output to print. Starts the command line. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { repriseInProcess } from './cli-in-process.js'
import { CliFixture } from './cli-fixture.js'

let fixture: CliFixture
let summary: string

beforeEach(async () => {
  fixture = new CliFixture(`
steps:
  - { id: silent, run: [no-such-program-anywhere], retry: { attempts: 1 } }
  - { id: load, shell: echo loaded }
`)
  summary = (await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')).stderr
})

afterEach(() => fixture.remove())

test('the summary of a run names no log of a step that has written nothing', () => {
  expect(summary).toContain('reprise show r1')
  expect(summary).not.toContain('reprise logs r1')
})

test('logs of a step that has not run, and of one that has written nothing, say which it is', async () => {
  expect(await repriseInProcess(fixture, 'logs', 'r1', 'load')).toMatchObject({
    code: 0,
    stderr: 'Step load has not run.\n',
  })
  expect(await repriseInProcess(fixture, 'logs', 'r1', 'silent')).toMatchObject({
    code: 0,
    stderr: 'Step silent has written nothing.\n',
  })
})

test('logs of an attempt that was not made are refused, with how many there are', async () => {
  const { code, stderr } = await repriseInProcess(fixture, 'logs', 'r1', 'silent', '--attempt', '9')
  expect({ code, stderr }).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('There is no attempt 9: step silent has made 1 attempt.'),
  })
})
