/** A server that goes away under a run: for a moment, it goes on; for long, it says so and is resumed. Needs a build. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Scene } from '../workflow/scene.js'
import { PostgresServer } from './server.js'

const WORKFLOW = `
steps:
  - { id: first, shell: echo x >> first }
  - { id: second, shell: echo x >> second; until test -e go; do sleep 0.02; done }
  - { id: third, shell: echo x >> third }
`
const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

let server: PostgresServer
let scene: Scene
beforeAll(async () => {
  server = await PostgresServer.start({ fsync: false })
})
afterAll(() => server.remove())
afterEach(() => scene.remove())

function enter(schema: string): void {
  scene = new Scene(WORKFLOW)
  scene.env = { REPRISE_STORE: `${server.url}?schema=${schema}` }
}

const counts = (): number[] => ['first', 'second', 'third'].map((name) => scene.count(name))

test('a restart is waited for, and nothing is done twice', async () => {
  enter('restarted')
  const going = await scene.startUntil(RUN, () => scene.count('second') === 1)
  await server.restart('immediate')
  scene.write('go', '')
  const { code, stderr } = await going.ended
  expect([code, stderr]).toEqual([0, expect.stringContaining('succeeded')])
  expect(counts()).toEqual([1, 1, 1])
})

test('one that stays away ends the run with code 74 and its name; back again, it goes on', async () => {
  enter('stopped')
  const going = await scene.startUntil(RUN, () => scene.count('second') === 1)
  await server.stop('immediate')
  scene.write('go', '')
  const { code, stderr } = await going.ended
  expect([code, stderr]).toEqual([74, expect.stringContaining('has not answered for 30 s')])
  expect(stderr).toContain(`127.0.0.1:${server.port}`)
  expect(stderr).not.toContain(new URL(server.url).password)
  expect(counts()).toEqual([1, 1, 0])
  await scene.isClean()
  await server.start()
  const resumed = await scene.reprise('resume', 'r1')
  expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining('succeeded')])
  // How it had ended could not be written.
  expect(counts()).toEqual([1, 2, 1])
}, 180_000)
