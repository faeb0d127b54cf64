/** A step that has failed for good and what stands in for it: what is told, what is shown, what is left. Needs a build. */
import type { EventView } from '@reprise/workflow'
import { afterEach, expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

const WORKFLOW = (command: string): string => `
steps:
  - name: Fetch the items
    shell: echo "no route" >&2; exit 1
    capture: items
    retry: { attempts: 2, initial_delay: 1ms, on_failure: { fallback: { command: "${command}" } } }
  - id: after
    shell: echo "\${items}" > after
`
const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']
const ID = 'Fetch-the-items'

function eventsOf(ndjson: string): EventView[] {
  return ndjson
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as EventView)
}

test('a fallback is told of under its own id from its start to its end, and what it says with it', async () => {
  fixture = new CliFixture(WORKFLOW('echo yesterday'))
  const { code, stdout } = await fixture.reprise(...RUN, '--ndjson')
  expect(code).toBe(0)
  expect(fixture.read('after')).toBe('yesterday\n')
  const fallback = { id: `${ID}.fallback`, name: 'fallback of Fetch the items' }
  const events = eventsOf(stdout)
  expect(events.find(({ type }) => type === 'fallback_started')).toMatchObject({ step: ID, detail: { fallback } })
  const told = events.filter(({ step }) => step === fallback.id)
  expect(told.map(({ type }) => type)).toEqual(['attempt_started', 'output', 'attempt_finished', 'step_finished'])
  expect(told.at(-1)).toMatchObject({ detail: { state: 'succeeded', attempts: 1 } })
  expect(told[0]).toMatchObject({ attempt: 1, attemptsAllowed: 1 })
  const { steps } = await fixture.show('r1')
  expect(steps.map(({ id, name, state }) => [id, name, state])).toEqual([
    [ID, 'Fetch the items', 'failed'],
    [fallback.id, fallback.name, 'succeeded'],
    ['after', 'after', 'succeeded'],
  ])
})

test('one that fails too is told of as failed, and ends the run', async () => {
  fixture = new CliFixture(WORKFLOW('exit 9'))
  const { code, stderr } = await fixture.reprise(...RUN)
  expect(code).toBe(1)
  expect(stderr).toContain(
    'Running the fallback of Fetch the items\nFAILED fallback of Fetch the items after 1 attempt',
  )
  expect(stderr).not.toContain('its fallback ran instead')
  expect(fixture.has('after')).toBe(false)
})

const ROLLBACK = `
steps:
  - id: deploy
    shell: echo x >> deployed; test -e well
    retry: { attempts: 1, on_failure: { fallback: { command: "echo back >> undone; echo undone" }, then: fail } }
  - id: after
    shell: echo x >> after
`

test('with `then: fail` the run fails once the fallback has succeeded, and says so', async () => {
  fixture = new CliFixture(ROLLBACK)
  const { code, stderr } = await fixture.reprise(...RUN)
  expect(code, stderr).toBe(1)
  expect(stderr).toContain('ok fallback of deploy')
  expect(stderr).toContain('its fallback ran, and ended the run')
  expect(fixture.count('undone')).toBe(1)
  expect(fixture.has('after')).toBe(false)
  const { state, failedStep, stopReason } = await fixture.show('r1')
  expect([state, failedStep, stopReason]).toEqual(['failed', 'deploy', 'attempts_exhausted'])
})

test('killed in a fallback with `then: fail`, the resume runs it to its end and fails', async () => {
  fixture = new CliFixture(ROLLBACK.replace('echo undone', 'test -e go || sleep 60'))
  await fixture.killed(RUN, () => fixture.count('undone') === 1)
  fixture.write('go', '')
  const { code, stderr } = await fixture.reprise('resume', 'r1')
  expect(code, stderr).toBe(1)
  expect([fixture.count('deployed'), fixture.count('undone'), fixture.has('after')]).toEqual([1, 2, false])
  // It has failed for good now.
  expect((await fixture.reprise('resume', 'r1')).code).toBe(4)
})

test('a step that is granted fresh attempts and fails again has its fallback run again', async () => {
  fixture = new CliFixture(ROLLBACK)
  await fixture.reprise(...RUN)
  expect((await fixture.reprise('resume', 'r1', '--reset-retries')).code).toBe(1)
  expect([fixture.count('deployed'), fixture.count('undone')]).toEqual([2, 2])
  fixture.write('well', '')
  const { code, stderr } = await fixture.reprise('resume', 'r1', '--reset-retries')
  expect(code, stderr).toBe(0)
  expect([fixture.count('deployed'), fixture.count('undone'), fixture.count('after')]).toEqual([3, 2, 1])
  const { steps } = await fixture.show('r1')
  expect(steps.map(({ id, state }) => [id, state])).toEqual([
    ['deploy', 'succeeded'],
    ['deploy.fallback', 'skipped'],
    ['after', 'succeeded'],
  ])
})
