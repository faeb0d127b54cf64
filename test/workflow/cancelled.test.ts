/** Runs that somebody ends, removes or changes while something of them is in flight. Needs a build. */
import { openDurable } from 'reprise/durable'
import { afterEach, expect, test } from 'vitest'
import { CliFixture, until } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

test('a cancel that was cut short stops the run all the same, and can be made whole', async () => {
  fixture = new CliFixture(`
steps:
  - id: a
    shell: echo x >> ran; exit 1
    retry: { attempts: 1000, backoff: fixed, initial_delay: 200ms }
`)
  const going = fixture.start(...RUN)
  await until(
    () => fixture.count('ran') > 0,
    () => 'the step',
    going,
  )
  // As by a process that was killed after it had cancelled the run, and before it cancelled its tasks.
  const durable = await openDurable(fixture.store)
  await durable.runs.cancel('r1')
  await durable.close()
  expect((await going.ended).code).toBe(1)
  const ran = fixture.count('ran')
  expect((await fixture.reprise('cancel', 'r1')).code).toBe(0)
  const { state, steps } = await fixture.show('r1')
  expect([state, steps[0]?.state]).toEqual(['cancelled', 'cancelled'])
  expect(fixture.count('ran')).toBe(ran)
})

test('cancelled in its fallback, a run is cancelled', async () => {
  fixture = new CliFixture(`
steps:
  - id: a
    shell: exit 1
    retry: { attempts: 1, on_failure: { fallback: { command: echo x >> ran; sleep 60 } } }
`)
  const going = fixture.start(...RUN)
  await until(
    () => fixture.count('ran') > 0,
    () => 'the fallback',
    going,
  )
  await fixture.reprise('cancel', 'r1')
  const { code, stderr } = await going.ended
  expect(code, stderr).toBe(1)
  expect(stderr).toContain('cancelled')
  expect((await fixture.show('r1')).state).toBe('cancelled')
})

test('what is in flight of a step that the file does not have any more ends with the change', async () => {
  fixture = new CliFixture('steps: [{ id: x, shell: "echo x >> ran; sleep 60" }, { id: y, shell: "true" }]')
  await fixture.killed(RUN, () => fixture.count('ran') === 1)
  fixture.write('workflow.yaml', 'steps: [{ id: y, shell: "true" }]')
  const { code, stderr } = await fixture.reprise('resume', 'r1', '--accept-changes')
  expect(code, stderr).toBe(0)
  expect((await fixture.show('r1')).steps.map(({ id, state }) => [id, state])).toEqual([
    ['y', 'succeeded'],
    ['x', 'cancelled'],
  ])
  expect(fixture.count('ran')).toBe(1)
})
