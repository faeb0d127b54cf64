/** What a step leaves running on purpose: there for the steps after it, and gone with the run. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { processStart } from '../../packages/workflow/src/process/process-table.js'
import { CliFixture } from './cli-fixture.js'

let scene: CliFixture
afterEach(() => scene.remove())

const DAEMON = 'setsid sh -c "echo up > daemon; sleep 300" </dev/null >/dev/null 2>&1 &'

test.skipIf(process.platform !== 'linux')('a daemon outlives its step, and does not outlive the run', async () => {
  scene = new CliFixture(`
steps:
  - { id: start, shell: '${DAEMON} until test -s daemon; do sleep 0.05; done' }
  - { id: use, shell: 'pgrep -f "sleep 300" > seen; cat daemon' }
`)
  const { code, stderr } = await scene.reprise('run', 'workflow.yaml')
  expect(code, stderr).toBe(0)
  expect(scene.count('seen')).toBeGreaterThan(0)
  expect(scene.left()).toEqual([])
})

test.skipIf(process.platform !== 'linux')(
  'a background process that has cleared its environment ends with its step, since it is in its group',
  async () => {
    scene = new CliFixture(`
steps:
  - { id: start, shell: 'env -i sleep 301 </dev/null >/dev/null 2>&1 & echo $! > pid' }
  - { id: look, shell: 'cp /proc/$(cat pid)/status seen 2>/dev/null || true' }
`)
    const { code, stderr } = await scene.reprise('run', 'workflow.yaml')
    expect(code, stderr).toBe(0)
    // Its new parent may not have taken note of its end yet.
    expect(scene.has('seen') ? scene.read('seen') : 'State:\tZ').toContain('State:\tZ')
  },
)

test.skipIf(process.platform !== 'linux')(
  'a process that has left group and environment is ended at a timeout while its parent lives',
  async () => {
    scene = new CliFixture(`
steps:
  - id: hang
    shell: 'env -i setsid sleep 302 </dev/null >/dev/null 2>&1 & echo $! > pid; wait'
    attempt_timeout: 2s
`)
    const { code } = await scene.reprise('run', 'workflow.yaml')
    expect(code).toBe(1)
    expect(processStart(Number(scene.read('pid')))).toBeNull()
  },
)
