/** What a step leaves running, however it hides: it ends with the attempt that has started it. Needs a build. */
import { afterEach, describe, expect, test } from 'vitest'
import { processStart } from '../../packages/workflow/src/process/process-table.js'
import { CliFixture } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

/** Leaves its group and session, and says when it runs. */
const daemon = (start: string): string =>
  `${start} sh -c "echo \\$\\$ > pid; exec sleep 300" </dev/null >/dev/null 2>&1 & until test -s pid; do sleep 0.05; done`
/** Prints what the daemon of the step before is by now; its new parent may not have taken note of its end yet. */
const LOOK = 'grep State /proc/$(cat pid)/status > seen 2>/dev/null || echo gone > seen; rm pid'
const expectGone = (): void => expect(fixture.read('seen')).toMatch(/^gone|\sZ/)

describe.skipIf(process.platform !== 'linux').each([
  ['has left its group', 'setsid'],
  ['has left its group and cleared its environment', 'env -i PATH=/usr/bin:/bin setsid'],
])('a daemon that %s', (_, start) => {
  test('ends with the step that has started it', async () => {
    fixture = new CliFixture(`
steps:
  - { id: start, shell: '${daemon(start)}' }
  - { id: look, shell: '${LOOK}' }
`)
    const { code, stderr } = await fixture.reprise('run', 'workflow.yaml')
    expect(code, stderr).toBe(0)
    expectGone()
  })

  test('ends with its attempt, before the next one begins', async () => {
    fixture = new CliFixture(`
steps:
  - id: work
    shell: 'if test -s pid; then ${LOOK}; else ${daemon(start)}; exit 1; fi'
    retry: { attempts: 2, initial_delay: 1ms }
`)
    const { code, stderr } = await fixture.reprise('run', 'workflow.yaml')
    expect(code, stderr).toBe(0)
    expectGone()
  })

  test('of a process that was killed is ended by the resume at the latest, before its step runs again', async () => {
    fixture = new CliFixture(`
steps:
  - { id: work, shell: 'if test -s pid; then ${LOOK}; else ${daemon(start)}; echo > up; sleep 60; fi' }
`)
    await fixture.killed(['run', 'workflow.yaml', '--run-id', 'r1'], () => fixture.has('up'))
    const { code, stderr } = await fixture.reprise('resume', 'r1')
    expect(code, stderr).toBe(0)
    expectGone()
  })
})

test.skipIf(process.platform !== 'linux')(
  'a background process that has cleared its environment ends with its step, since it is in its group',
  async () => {
    fixture = new CliFixture(`
steps:
  - { id: start, shell: 'env -i sleep 301 </dev/null >/dev/null 2>&1 & echo $! > pid' }
  - { id: look, shell: 'cp /proc/$(cat pid)/status seen 2>/dev/null || true' }
`)
    const { code, stderr } = await fixture.reprise('run', 'workflow.yaml')
    expect(code, stderr).toBe(0)
    // Its new parent may not have taken note of its end yet.
    expect(fixture.has('seen') ? fixture.read('seen') : 'State:\tZ').toContain('State:\tZ')
  },
)

test.skipIf(process.platform !== 'linux')(
  'a process that has left group and environment is ended at a timeout while its parent lives',
  async () => {
    fixture = new CliFixture(`
steps:
  - id: hang
    shell: 'env -i setsid sleep 302 </dev/null >/dev/null 2>&1 & echo $! > pid; wait'
    attempt_timeout: 2s
`)
    const { code } = await fixture.reprise('run', 'workflow.yaml')
    expect(code).toBe(1)
    expect(processStart(Number(fixture.read('pid')))).toBeNull()
  },
)
