/** What a step leaves running on purpose: there for the steps after it, and gone with the run. Needs a build. */
import { afterEach, expect, test } from 'vitest'
import { Scene } from './scene.js'

let scene: Scene
afterEach(() => scene.remove())

const DAEMON = 'setsid sh -c "echo up > daemon; sleep 300" </dev/null >/dev/null 2>&1 &'

test.skipIf(process.platform !== 'linux')('a daemon outlives its step, and does not outlive the run', async () => {
  scene = new Scene(`
steps:
  - { id: start, shell: '${DAEMON} until test -s daemon; do sleep 0.05; done' }
  - { id: use, shell: 'pgrep -f "sleep 300" > seen; cat daemon' }
`)
  const { code, stderr } = await scene.reprise('run', 'workflow.yaml')
  expect(code, stderr).toBe(0)
  expect(scene.count('seen')).toBeGreaterThan(0)
  expect(scene.left()).toEqual([])
})
