/** Runs that somebody ends, removes or changes while something of them is in flight. Needs a build. */
import { openDurable } from 'reprise/durable'
import { afterEach, expect, test } from 'vitest'
import { CliFixture, until } from './cli-fixture.js'

let scene: CliFixture
afterEach(() => scene.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

test('a cancel that was cut short stops the run all the same, and can be made whole', async () => {
  scene = new CliFixture(`
steps:
  - id: a
    shell: echo x >> ran; exit 1
    retry: { attempts: 1000, backoff: fixed, initial_delay: 200ms }
`)
  const going = scene.start(...RUN)
  await until(
    () => scene.count('ran') > 0,
    () => 'the step',
    going,
  )
  // As by a process that was killed after it had cancelled the run, and before it cancelled its tasks.
  const durable = await openDurable(scene.store)
  await durable.runs.cancel('r1')
  await durable.close()
  expect((await going.ended).code).toBe(1)
  const ran = scene.count('ran')
  expect((await scene.reprise('cancel', 'r1')).code).toBe(0)
  const { state, steps } = await scene.show('r1')
  expect([state, steps[0]?.state]).toEqual(['cancelled', 'cancelled'])
  expect(scene.count('ran')).toBe(ran)
})

test('cancelled in its fallback, a run is cancelled', async () => {
  scene = new CliFixture(`
steps:
  - id: a
    shell: exit 1
    retry: { attempts: 1, on_failure: { fallback: { command: echo x >> ran; sleep 60 } } }
`)
  const going = scene.start(...RUN)
  await until(
    () => scene.count('ran') > 0,
    () => 'the fallback',
    going,
  )
  await scene.reprise('cancel', 'r1')
  const { code, stderr } = await going.ended
  expect(code, stderr).toBe(1)
  expect(stderr).toContain('cancelled')
  expect((await scene.show('r1')).state).toBe('cancelled')
})

test('what is in flight of a step that the file does not have any more ends with the change', async () => {
  scene = new CliFixture('steps: [{ id: x, shell: "echo x >> ran; sleep 60" }, { id: y, shell: "true" }]')
  await scene.killed(RUN, () => scene.count('ran') === 1)
  scene.write('workflow.yaml', 'steps: [{ id: y, shell: "true" }]')
  const { code, stderr } = await scene.reprise('resume', 'r1', '--accept-changes')
  expect(code, stderr).toBe(0)
  expect((await scene.show('r1')).steps.map(({ id, state }) => [id, state])).toEqual([
    ['y', 'succeeded'],
    ['x', 'cancelled'],
  ])
  expect(scene.count('ran')).toBe(1)
})
