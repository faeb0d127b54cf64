/** How a step had ended before it was granted a fresh set of attempts stays in what is told of it. */
import { expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

test('`events` tells why a step had stopped, also after --reset-retries', async () => {
  const cli = new CliFixture('steps:\n  - { id: down, shell: exit 3, retry: { attempts: 2, initial_delay: 1ms } }\n')
  expect((await cli.reprise('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(1)
  expect((await cli.reprise('resume', 'r1', '--reset-retries')).code).toBe(1)
  const { stdout } = await cli.reprise('events', 'r1', '--json')
  const { events } = JSON.parse(stdout) as { events: { type: string; timeMs: number; detail: unknown }[] }
  const ends = events.filter(({ type }) => type === 'step_finished')
  const ended = { state: 'failed', stopReason: 'attempts_exhausted', attempts: 2 }
  expect(ends.map(({ detail }) => detail)).toMatchObject([
    { generation: 1, ...ended },
    { generation: 2, ...ended },
  ])
  // Where it belongs: before the reset.
  const first = events.findIndex(({ type }) => type === 'step_finished')
  expect(events.findIndex(({ type }) => type === 'reset')).toBeGreaterThan(first)
  cli.remove()
})
