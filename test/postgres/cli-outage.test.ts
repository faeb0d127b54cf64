/** A server that goes away under a run: it waits and says so, or is stopped and resumed. Needs a build. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { CliFixture, type Going, until } from '../workflow/cli-fixture.js'
import { PostgresProxy } from './proxy.js'
import { PostgresServer } from './server.js'

const WORKFLOW = `
steps:
  - { id: first, shell: echo x >> first }
  - { id: second, shell: echo x >> second; until test -e go; do sleep 0.02; done }
  - { id: third, shell: echo x >> third }
`
const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

let server: PostgresServer
let faultRun: CliFixture
beforeAll(async () => {
  server = await PostgresServer.start({ fsync: false })
})
afterAll(() => server.remove())
afterEach(() => faultRun.remove())

function enter(schema: string, url = server.url): void {
  faultRun = new CliFixture(WORKFLOW)
  faultRun.env = { REPRISE_STORE: `${url}?schema=${schema}` }
}

/** How long a stop may take while the server is away, as the docs have it, on a machine that is busy. */
const MOST_STOP_MS = 30_000

/** Asked once; it cannot be recorded, and the process ends by itself and says so. */
async function stopsUnrecorded(going: Going): Promise<void> {
  const askedMs = performance.now()
  going.child.kill('SIGINT')
  const { code, stderr } = await going.ended
  expect(performance.now() - askedMs).toBeLessThan(MOST_STOP_MS)
  expect([code, stderr]).toEqual([74, expect.stringContaining('The stop could not be recorded')])
  expect(stderr).toContain('reprise resume r1')
  expect(stderr).toContain('does not answer')
  expect(stderr).not.toContain('the state is saved')
  expect(stderr).not.toContain(new URL(server.url).password)
  await faultRun.isClean()
}

async function isResumed(): Promise<void> {
  faultRun.write('go', '')
  const { code, stderr } = await faultRun.reprise('resume', 'r1')
  expect([code, stderr]).toEqual([0, expect.stringContaining('succeeded')])
}

const counts = (): number[] => ['first', 'second', 'third'].map((name) => faultRun.count(name))

test('a restart is waited for, and nothing is done twice', async () => {
  enter('restarted')
  const going = await faultRun.startUntil(RUN, () => faultRun.count('second') === 1)
  await server.restart('immediate')
  faultRun.write('go', '')
  const { code, stderr } = await going.ended
  expect([code, stderr]).toEqual([0, expect.stringContaining('succeeded')])
  expect(counts()).toEqual([1, 1, 1])
})

test('a run waits for one that stays away, and what was done is written when it is back; who looks is told', async () => {
  enter('stopped')
  const going = await faultRun.startUntil(RUN, () => faultRun.count('second') === 1)
  await server.stop('immediate')
  faultRun.write('go', '')
  const looked = await faultRun.reprise('ps')
  expect([looked.code, looked.stderr]).toEqual([74, expect.stringContaining('check that the server runs')])
  expect(looked.stderr).not.toContain(new URL(server.url).password)
  expect(going.child.exitCode).toBeNull()
  await server.start()
  const { code, stderr } = await going.ended
  expect([code, stderr]).toEqual([0, expect.stringContaining('succeeded')])
  expect(counts()).toEqual([1, 1, 1])
})

test('a run says that the server is away and that it is back, and the outage makes no attempt longer', async () => {
  enter('told')
  const going = await faultRun.startUntil([...RUN, '--ndjson'], () => faultRun.count('second') === 1)
  await server.stop('immediate')
  faultRun.write('go', '')
  await until(
    () => going.said().includes('store_away'),
    () => `a word of the outage; it said ${going.said()}`,
    going,
  )
  const backAtMs = Date.now()
  await server.start()
  const ended = await going.ended
  expect(ended.code).toBe(0)
  const events = ended.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string })
  const store = expect.stringMatching(/^postgres:.*schema=told$/)
  expect(events.filter(({ type }) => type.startsWith('store_'))).toMatchObject([
    { type: 'store_away', run: 'r1', step: null, detail: { store, reason: expect.stringContaining('ECONNREFUSED') } },
    { type: 'store_back', run: 'r1', step: null, detail: { store, awayMs: expect.any(Number) } },
  ])
  const { stdout } = await faultRun.reprise('show', 'r1', 'second', '--json')
  const { history } = JSON.parse(stdout) as { history: { startedAtMs: number; endedAtMs: number }[] }
  expect(history).toHaveLength(1)
  expect(history[0]?.endedAtMs).toBeLessThan(backAtMs)
})

test('one interrupt ends a run while the server is stopped, and says that the stop is not recorded', async () => {
  enter('unrecorded')
  const going = await faultRun.startUntil(RUN, () => faultRun.count('second') === 1)
  await server.stop('immediate')
  await stopsUnrecorded(going)
  await server.start()
  await isResumed()
  expect(counts()).toEqual([1, 2, 1])
})

test('one interrupt ends a run whose attempt has ended over a network that is silent', async () => {
  const proxy = await PostgresProxy.listen(server.port)
  enter('silent', proxy.urlOf(server.url))
  const going = await faultRun.startUntil(RUN, () => faultRun.count('second') === 1)
  proxy.silenceAll()
  faultRun.write('go', '')
  await stopsUnrecorded(going)
  proxy.heal('reset')
  await isResumed()
  await proxy.close()
  expect(counts()).toEqual([1, 2, 1])
})

test('a run that is stopped twice meanwhile ends at once, and goes on when the server is back', async () => {
  enter('interrupted')
  const going = await faultRun.startUntil(RUN, () => faultRun.count('second') === 1)
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
  await faultRun.isClean()
  await server.start()
  faultRun.write('go', '')
  const resumed = await faultRun.reprise('resume', 'r1')
  expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining('succeeded')])
  expect(counts()).toEqual([1, 2, 1])
})
