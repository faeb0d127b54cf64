/**
 * Wherever a run is when it is asked to stop, a resume goes on exactly there: in a wait, in a line, between steps, in every
 * kind of step. Needs a build.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { CliFixture, until } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']

async function expectResumed(): Promise<void> {
  fixture.write('go', '')
  const { code, stderr } = await fixture.reprise('resume', 'r1')
  expect([code, stderr]).toEqual([0, expect.stringContaining('succeeded')])
}

test('in a wait: the wait is kept, and only its rest is waited', async () => {
  fixture = new CliFixture(`
steps:
  - id: work
    shell: echo x >> ran; test -e go
    retry: { attempts: 3, backoff: fixed, initial_delay: 2s }
`)
  const going = await fixture.startUntil(RUN, () => fixture.waits('work', 1))
  const before = await fixture.ledger((ledger) => ledger.get({ scopeKind: 'run', scope: 'r1', id: 'work' }))
  going.child.kill('SIGINT')
  expect((await going.ended).code).toBe(130)
  const after = await fixture.ledger((ledger) => ledger.get({ scopeKind: 'run', scope: 'r1', id: 'work' }))
  expect([after?.status, after?.dueAtMs]).toEqual(['waiting', before?.dueAtMs])
  await expectResumed()
  const history = (await fixture.show('r1')).steps[0]?.history ?? []
  expect(history.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
    [1, 'failure'],
    [2, 'success'],
  ])
  expect(history[1]?.startedAtMs).toBeGreaterThanOrEqual((before?.dueAtMs ?? Infinity) - 5)
})

test('in the line of a budget: it stands in line no more, and goes on when it is resumed', async () => {
  fixture = new CliFixture(`
budgets: { shared: { type: adaptive } }
steps:
  - id: work
    shell: echo x >> ran; test -e go
    retry: { attempts: 20, backoff: fixed, initial_delay: 10ms, budget: shared }
`)
  const going = await fixture.startUntil(RUN, async () => (await stateOf('work')) === 'parked')
  going.child.kill('SIGINT')
  expect((await going.ended).code).toBe(130)
  expect(await stateOf('work')).toBe('waiting')
  const ran = fixture.count('ran')
  await expectResumed()
  expect(fixture.count('ran')).toBe(ran + 1)
})

test('between two steps: what has ended is kept, what comes next does not begin', async () => {
  // The step that runs ignores being asked, and succeeds within its grace.
  fixture = new CliFixture(`
steps:
  - id: work
    shell: trap '' TERM; echo x >> ran; until test -e told; do sleep 0.02; done; sleep 0.2
  - { id: after, shell: echo x >> after }
`)
  const going = await fixture.startUntil(RUN, () => fixture.count('ran') === 1)
  going.child.kill('SIGINT')
  await until(
    () => going.said().includes('Stopping'),
    () => 'word of the stop',
  )
  fixture.write('told', '')
  expect((await going.ended).code).toBe(130)
  expect(fixture.count('after')).toBe(0)
  await expectResumed()
  expect(fixture.count('after')).toBe(1)
})

test('in a script: it is told by its signal, or its thread is ended', async () => {
  fixture = new CliFixture('steps: [{ id: work, script: { module: ./work.mjs }, retry: { attempts: 1 } }]')
  fixture.write(
    'work.mjs',
    `import { appendFileSync, existsSync } from 'node:fs'
export default async function ({ signal }) {
appendFileSync('ran', 'x\\n')
if (existsSync('go')) return 'done'
await new Promise((resolve) => signal?.addEventListener('abort', resolve))
appendFileSync('told', 'x\\n')
throw signal.reason
}
`,
  )
  const going = await fixture.startUntil(RUN, () => fixture.count('ran') === 1)
  going.child.kill('SIGINT')
  expect((await going.ended).code).toBe(130)
  expect(await fixture.historyOf('work')).toEqual([[1, 1, 'interrupted']])
  await expectResumed()
  expect(fixture.count('ran')).toBe(2)
})

test('in a request: the connection is given up', async () => {
  const requests: string[] = []
  let closed = 0
  const server = createServer((request, response) => {
    requests.push(String(request.headers['idempotency-key']))
    response.on('close', () => closed++)
    if (fixture.has('go')) response.end('done')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  try {
    fixture = new CliFixture(`steps: [{ id: work, http: { url: "http://127.0.0.1:${port}/", method: POST, body: x } }]`)
    const going = await fixture.startUntil(RUN, () => requests.length === 1)
    going.child.kill('SIGTERM')
    expect((await going.ended).code).toBe(143)
    await until(
      () => closed === 1,
      () => 'the connection to be given up',
    )
    expect(await fixture.historyOf('work')).toEqual([[1, 1, 'interrupted']])
    await expectResumed()
    // So that the other side can tell that it is the same.
    expect(new Set(requests).size).toBe(1)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('in a prompt: the program and what it started are ended', async () => {
  fixture = new CliFixture('steps: [{ id: work, claude: "say hello" }]')
  fixture.write('claude.sh', '#!/bin/sh\necho x >> ran\ntest -e go || sleep 60 & wait\n')
  fixture.env['REPRISE_CLAUDE'] = fixture.path('claude.sh')
  await fixture.startProgram('chmod', ['+x', 'claude.sh']).ended
  const going = await fixture.startUntil(RUN, () => fixture.count('ran') === 1)
  going.child.kill('SIGINT')
  expect((await going.ended).code).toBe(130)
  expect(fixture.left()).toEqual([])
  await expectResumed()
})

test('as its last step has ended: it has interrupted nothing', async () => {
  fixture = new CliFixture('steps: [{ id: work, shell: echo x >> ran }]')
  const going = fixture.start(...RUN, '--ndjson')
  await until(
    () => going.said().includes('run_finished'),
    () => 'the end',
  )
  going.child.kill('SIGINT')
  const { code, signal } = await going.ended
  // Too late even for that, its handlers may be gone.
  if (signal === null) expect(code).toBe(0)
  expect((await fixture.show('r1')).state).toBe('succeeded')
})

async function stateOf(step: string): Promise<string | undefined> {
  if (!fixture.has('.reprise/ledger.db')) return undefined
  return fixture.ledger(async (ledger) => (await ledger.get({ scopeKind: 'run', scope: 'r1', id: step }))?.status)
}
