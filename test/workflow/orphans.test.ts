/**
 * Who was killed together with its keeper leaves processes behind. Whoever takes the run up, or ends it for good, ends
 * them first: two attempts of a step never run at once. Needs a build, and a system that tells of processes.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { CliFixture, until } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']
const hasProc = existsSync('/proc/self/stat')

/** Notes if another one lives, which one that has ended does not say; two processes, one in a session of its own. */
const WORK =
  'if test -e pid && grep -q . "/proc/$(cat pid)/cmdline"; then echo x >> overlap; fi; echo $$ > pid; echo x >> ran; ' +
  'test -e go || { setsid sleep 61 & exec sleep 62; }'
const workflow = (more: object = {}): string =>
  JSON.stringify({
    steps: [
      { id: 'work', shell: WORK, ...more },
      { id: 'after', shell: 'echo x >> after' },
    ],
  })

/** The shell that would have seen to it. */
function keeperOf(pid: number | undefined): number {
  const keeper = readdirSync('/proc').find((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      const [, parent] = /^\d+ \(.*\) \S (\d+) /s.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? []
      return Number(parent) === pid && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('reprise-keeper')
    } catch {
      return false
    }
  })
  if (keeper === undefined) throw new Error(`process ${pid} has no keeper`)
  return Number(keeper)
}

async function orphaned(document: string): Promise<void> {
  fixture = new CliFixture(document)
  const going = fixture.start(...RUN)
  await until(
    () => fixture.count('ran') === 1 && fixture.left().length >= 3,
    () => `the step; it said ${going.said()}`,
    going,
  )
  process.kill(keeperOf(going.child.pid), 'SIGKILL')
  going.child.kill('SIGKILL')
  await going.ended
  expect(fixture.left().length).toBeGreaterThanOrEqual(2)
}

describe.skipIf(!hasProc)('what nobody keeps', () => {
  test('is ended by a resume before the attempt runs again', async () => {
    await orphaned(workflow())
    fixture.write('go', '')
    expect((await fixture.reprise('resume', 'r1')).code).toBe(0)
    expect([fixture.count('ran'), fixture.count('overlap'), fixture.count('after')]).toEqual([2, 0, 1])
    expect(fixture.left()).toEqual([])
  })

  test('is ended by a resume that does not run it again', async () => {
    await orphaned(workflow({ on_interrupt: 'fail' }))
    expect((await fixture.reprise('resume', 'r1')).code).toBe(4)
    expect(fixture.left()).toEqual([])
    expect(fixture.count('ran')).toBe(1)
  })

  test('is ended when the run is cancelled', async () => {
    await orphaned(workflow())
    expect((await fixture.reprise('cancel', 'r1')).code).toBe(0)
    expect(fixture.left()).toEqual([])
    expect((await fixture.show('r1')).state).toBe('cancelled')
  })
})
