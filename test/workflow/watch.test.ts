/** A run that another process conducts, watched: what is told is what that process tells of it. Needs a build. */
import type { EventView } from '@reprise/workflow'
import { afterEach, expect, test } from 'vitest'
import { CliFixture, until } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

test('skipped steps and fallbacks are told of with the same names and reasons', async () => {
  fixture = new CliFixture(`
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
  const running = fixture.start('run', 'workflow.yaml', '--run-id', 'r1', '--ndjson')
  await until(
    () => running.said().includes('attempt_started'),
    () => 'the run to begin',
    running,
  )
  const watching = fixture.start('watch', 'r1', '--ndjson')
  const tells = (word: string): Promise<void> =>
    until(
      () => watching.said().includes(word),
      () => `${word} in what is watched: ${watching.said()}`,
      watching,
    )
  await tells('run_started')
  fixture.write('go', '')
  await tells('fallback_started')
  fixture.write('seen', '')
  await tells('"step":"end"')
  fixture.write('done', '')
  const [ran, watched] = await Promise.all([running.ended, watching.ended])
  expect([ran.code, watched.code]).toEqual([0, 0])
  for (const [type, step] of [
    ['step_finished', 'cake'],
    ['fallback_started', 'Print-the-bills'],
  ] as const) {
    expect(tellingOf(watched.stdout, type, step)).toEqual(tellingOf(ran.stdout, type, step))
  }
})

test('one that has ended: how it ended, with its exit code, and no word of a start', async () => {
  fixture = new CliFixture('steps: [{ id: work, shell: test -e go }]')
  const ran = await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')
  const failed = await fixture.reprise('watch', 'r1')
  expect([ran.code, failed.code]).toEqual([1, 1])
  expect(failed.stderr).toContain('FAILED: workflow, run r1')
  expect(failed.stderr).not.toContain('Starting')
  fixture.write('go', '')
  await fixture.reprise('resume', 'r1', '--reset-retries')
  const succeeded = await fixture.reprise('watch', 'r1')
  expect([succeeded.code, succeeded.stderr]).toEqual([0, expect.stringContaining('succeeded: workflow, run r1')])
  expect((await fixture.reprise('watch', 'r1', '--ndjson')).stderr).toBe('')
})

/** Of an event, what does not depend on who tells it. */
function tellingOf(ndjson: string, type: string, step: string): unknown {
  const events = ndjson
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as EventView & { time: string })
  const { timeMs: _, time: __, ...event } = events.find((one) => one.type === type && one.step === step)!
  return event
}
