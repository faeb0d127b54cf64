/** A run that another process conducts, watched: what is told is what that process tells of it. Needs a build. */
import type { RunEvent } from '@reprise/workflow'
import { afterEach, expect, test } from 'vitest'
import { CliFixture, until } from './cli-fixture.js'

let scene: CliFixture
afterEach(() => scene.remove())

test('skipped steps and fallbacks are told of with the same names and reasons', async () => {
  scene = new CliFixture(`
steps:
  - id: gate
    shell: until test -e go; do sleep 0.05; done
  - id: cake
    shell: echo cake
    when: 1 > 2
  - name: Print the bills
    shell: exit 1
    retry: { attempts: 1, on_failure: { fallback: { command: "until test -e seen; do sleep 0.05; done" } } }
  - id: end
    shell: until test -e done; do sleep 0.05; done
`)
  const running = scene.start('run', 'workflow.yaml', '--run-id', 'r1', '--ndjson')
  await until(
    () => running.said().includes('attempt_started'),
    () => 'the run to begin',
    running,
  )
  const watching = scene.start('watch', 'r1', '--ndjson')
  const tells = (word: string): Promise<void> =>
    until(
      () => watching.said().includes(word),
      () => `${word} in what is watched: ${watching.said()}`,
      watching,
    )
  await tells('run_started')
  scene.write('go', '')
  await tells('fallback_started')
  scene.write('seen', '')
  await tells('"step":"end"')
  scene.write('done', '')
  const [ran, watched] = await Promise.all([running.ended, watching.ended])
  expect([ran.code, watched.code]).toEqual([0, 0])
  for (const type of ['step_skipped', 'fallback_started'] as const) {
    expect(tellingOf(watched.stdout, type)).toEqual(tellingOf(ran.stdout, type))
  }
})

test('one that has ended: how it ended, with its exit code, and no word of a start', async () => {
  scene = new CliFixture('steps: [{ id: work, shell: test -e go }]')
  const ran = await scene.reprise('run', 'workflow.yaml', '--run-id', 'r1')
  const failed = await scene.reprise('watch', 'r1')
  expect([ran.code, failed.code]).toEqual([1, 1])
  expect(failed.stderr).toContain('FAILED: workflow, run r1')
  expect(failed.stderr).not.toContain('Starting')
  scene.write('go', '')
  await scene.reprise('resume', 'r1', '--reset-retries')
  const succeeded = await scene.reprise('watch', 'r1')
  expect([succeeded.code, succeeded.stderr]).toEqual([0, expect.stringContaining('succeeded: workflow, run r1')])
  expect((await scene.reprise('watch', 'r1', '--ndjson')).stderr).toBe('')
})

/** Of an event, what does not depend on who tells it. */
function tellingOf(ndjson: string, type: RunEvent['type']): unknown {
  const events = ndjson
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RunEvent & { time: string })
  const { timeMs: _, time: __, ...event } = events.find((one) => one.type === type)!
  return event
}
