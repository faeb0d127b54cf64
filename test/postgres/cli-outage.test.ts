/** A server that goes away under a run: it waits, or is stopped and resumed. Needs a build. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { CliFixture, until } from '../workflow/cli-fixture.js'
import { PostgresServer } from './server.js'

const WORKFLOW = `
steps:
  - { id: first, shell: echo x >> first }
  - { id: second, shell: echo x >> second; until test -e go; do sleep 0.02; done }
  - { id: third, shell: echo x >> third }
`
const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

let server: PostgresServer
let scene: CliFixture
beforeAll(async () => {
  server = await PostgresServer.start({ fsync: false })
})
afterAll(() => server.remove())
afterEach(() => scene.remove())

function enter(schema: string): void {
  scene = new CliFixture(WORKFLOW)
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

test('a run waits for one that stays away, and what was done is written when it is back; who looks is told', async () => {
  enter('stopped')
  const going = await scene.startUntil(RUN, () => scene.count('second') === 1)
  await server.stop('immediate')
  scene.write('go', '')
  const looked = await scene.reprise('ps')
  expect([looked.code, looked.stderr]).toEqual([74, expect.stringContaining('check that the server runs')])
  expect(looked.stderr).not.toContain(new URL(server.url).password)
  expect(going.child.exitCode).toBeNull()
  await server.start()
  const { code, stderr } = await going.ended
  expect([code, stderr]).toEqual([0, expect.stringContaining('succeeded')])
  expect(counts()).toEqual([1, 1, 1])
})

test('a run that is stopped meanwhile ends, and goes on when the server is back', async () => {
  enter('interrupted')
  const going = await scene.startUntil(RUN, () => scene.count('second') === 1)
  await server.stop('immediate')
  going.child.kill('SIGINT')
  await until(
    () => going.said().includes('Stopping'),
    () => 'a word',
    going,
  )
  // The first asks for an orderly end, which the server would have to be told of.
  going.child.kill('SIGINT')
  const { code, stderr } = await going.ended
  expect([code, stderr]).toEqual([130, expect.stringContaining('reprise resume r1')])
  expect(stderr).toContain('a resume runs the interrupted attempt again')
  expect(stderr).not.toContain('saved')
  expect(stderr).not.toContain(new URL(server.url).password)
  await scene.isClean()
  await server.start()
  scene.write('go', '')
  const resumed = await scene.reprise('resume', 'r1')
  expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining('succeeded')])
  expect(counts()).toEqual([1, 2, 1])
})
