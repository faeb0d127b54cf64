/** `reprise gate` and commands that ask one, as processes. Needs a build. */
import { statSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { CliFixture, type Ended, type Going, until } from '../workflow/cli-fixture.js'

let cli: CliFixture
afterEach(() => cli.remove())

const JOB = `mode: job
datacenters: [eu]
workflows:
  - { name: ping, document: { steps: [{ shell: 'until test -e go; do sleep 0.1; done' }] } }
`

interface RunningGate {
  readonly going: Going
  readonly url: string
}

async function gateWith(...flags: readonly string[]): Promise<RunningGate> {
  const going = cli.start('gate', ...flags)
  await until(
    () => /Gate at .*Stop/.test(going.said()),
    () => `a gate; it said ${going.said()}`,
    going,
  )
  const [, url = ''] = /Gate at (\S+)\. Stop/.exec(going.said()) ?? []
  return { going, url }
}

async function worker(datacenter: string): Promise<Going> {
  const going = cli.start('worker', '--datacenter', datacenter)
  await until(
    () => going.said().includes('Working for'),
    () => `a worker; it said ${going.said()}`,
    going,
  )
  return going
}

/** One that was free a moment ago. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return String(port)
}

test('a job is submitted, watched and waited for by a gate that is killed meanwhile', {
  timeout: 120_000,
}, async () => {
  cli = new CliFixture()
  cli.write('job.yaml', JOB)
  await worker('eu')
  const port = await freePort()
  cli.write('tokens', 'act ada act-0123456789-0123456789\nview vic view-0123456789-0123456789\n')
  await cli.startProgram('chmod', ['600', 'tokens']).ended
  const first = await gateWith('--port', port, '--tokens', 'tokens')
  expect(first.going.said()).not.toContain('Token:')
  const gate = ['--gate', first.url]
  cli.env['REPRISE_GATE_TOKEN'] = 'act-0123456789-0123456789'
  // The commands need no store.
  cli.env['REPRISE_STORE'] = 'sqlite:nowhere/ledger.db'
  const submitted = await cli.reprise('job', 'submit', 'job.yaml', '--json', ...gate)
  expect(submitted.code, submitted.stderr).toBe(0)
  const { job, isNew } = JSON.parse(submitted.stdout) as { job: string; isNew: boolean }
  expect(isNew).toBe(true)
  const waiting = cli.start('job', 'wait', job.slice(0, -2), '--json', ...gate)
  const looking = cli.start('job', 'status', 'latest', '--watch', '--ndjson', ...gate)
  await until(
    () => looking.said().includes('JobSubmitted'),
    () => `the first event; it said ${looking.said()}`,
    looking,
  )
  expect(looking.said()).toContain('"by":"ada"')
  first.going.child.kill('SIGKILL')
  await first.going.ended
  await until(
    () => waiting.said().includes('waiting for the gate'),
    () => `that the gate is missed; it said ${waiting.said()}`,
    waiting,
  )
  cli.env['REPRISE_STORE'] = cli.store
  const second = await gateWith('--port', port, '--tokens', 'tokens')
  cli.write('go', '')
  const [ended, looked] = [await waiting.ended, await looking.ended]
  expect([ended.code, looked.code], ended.stderr + looked.stderr).toEqual([0, 0])
  expect(JSON.parse(ended.stdout)).toMatchObject({ jobId: job, outcome: 'complete', success: true })
  expect(looked.stdout.match(/"event":"JobCompleted"/g)).toHaveLength(1)
  second.going.child.kill('SIGTERM')
  expect((await second.going.ended).code).toBe(143)
  expect(cli.has('nowhere')).toBe(false)
})

/** What a command prints of the store, and of the gate. Asked again where the store has changed in between. */
async function both(command: readonly string[], url: string): Promise<readonly [Ended, Ended]> {
  for (;;) {
    const own = await cli.reprise(...command)
    const over = await cli.reprise(...command, '--gate', url)
    const again = await cli.reprise(...command)
    if (own.stdout === again.stdout && own.stderr === again.stderr) return [own, over]
  }
}

test('commands print of a gate what they print of its store', { timeout: 120_000 }, async () => {
  cli = new CliFixture()
  cli.write('job.yaml', JOB)
  cli.write('go', '')
  const eu = await worker('eu')
  const { url, going } = await gateWith('--port', '0')
  const [, token = ''] = /Token: (\S+)/.exec(going.said()) ?? []
  cli.env['REPRISE_GATE_TOKEN'] = token
  for (const id of ['a', 'b']) await cli.reprise('job', 'submit', 'job.yaml', '--job-id', id, '--wait')
  // Heartbeats are no part of what is compared.
  eu.child.kill('SIGTERM')
  await eu.ended
  const commands = [
    ['job', 'status', 'a', '--json'],
    ['job', 'status', 'b'],
    ['job', 'result', 'a', '--json'],
    ['job', 'list', '--json'],
    ['job', 'list', '--limit', '1', '--json'],
    ['job', 'wait', 'b', '--json'],
    ['job', 'cancel', 'a', '--json'],
    ['job', 'cancel', 'a'],
    ['job', 'result', 'nope', '--json'],
    ['job', 'submit', 'job.yaml', '--job-id', 'a', '--json'],
    ['job', 'submit', 'job.yaml', '--job-id', 'a', '--wait', '--json'],
  ]
  for (const command of commands) {
    const [own, over] = await both(command, url)
    const said = (text: string): string => text.replaceAll(` --gate ${url}`, '')
    expect([over.code, said(over.stdout), said(over.stderr)], command.join(' ')).toEqual([
      own.code,
      own.stdout,
      own.stderr,
    ])
  }
  const { jobs, next } = JSON.parse((await cli.reprise('job', 'list', '--limit', '1', '--json')).stdout) as {
    jobs: { id: string }[]
    next: string
  }
  const rest = JSON.parse((await cli.reprise('job', 'list', '--cursor', next, '--json', '--gate', url)).stdout) as {
    jobs: { id: string }[]
    next: null
  }
  expect([...jobs, ...rest.jobs].map(({ id }) => id)).toEqual(['b', 'a'])
  expect(rest.next).toBeNull()
})

test('what is asked wrongly of a gate is said as for a store', { timeout: 120_000 }, async () => {
  cli = new CliFixture()
  cli.write('job.yaml', JOB)
  const { url, going } = await gateWith('--port', '0', '--metrics-port', '0')
  const [, token = ''] = /Token: (\S+)/.exec(going.said()) ?? []
  const [, metrics = ''] = /Metrics at (\S+)/.exec(going.said()) ?? []
  expect((await fetch(metrics)).status).toBe(200)
  const listed = await cli.reprise('job', 'list', '--gate', url)
  expect([listed.code, listed.stderr]).toEqual([2, expect.stringContaining('needs a token')])
  cli.write('token', `${token}\n`)
  const withFile = await cli.reprise('job', 'list', '--gate', url, '--token-file', 'token')
  expect(withFile.code, withFile.stderr).toBe(0)
  cli.env['REPRISE_GATE_TOKEN'] = token
  const unknown = await cli.reprise('job', 'submit', 'job.yaml', '--gate', url)
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('reprise worker --datacenter eu')])
  for (const address of ['gate', 'ftp://x', 'http://user:secret@127.0.0.1:1', `${url}/api`, `${url}/?a=1`]) {
    const { code, stderr } = await cli.reprise('job', 'list', '--gate', address)
    expect(code, stderr).toBe(2)
    expect(stderr.split('\n')[0]).not.toMatch(/secret(?!.*password)/)
  }
  for (const wrong of ['two words', 'sécret€']) {
    cli.env['REPRISE_GATE_TOKEN'] = wrong
    const { code, stderr } = await cli.reprise('job', 'list', '--gate', url)
    expect([code, stderr]).toEqual([2, expect.stringContaining('REPRISE_GATE_TOKEN holds no token')])
    expect(stderr).not.toContain(wrong)
  }
  expect((await cli.reprise('job', 'list', '--token-file', 'token')).code).toBe(2)
})

test('a gate is not opened to others by accident', { timeout: 120_000 }, async () => {
  cli = new CliFixture()
  cli.write('open', 'act ada act-0123456789-0123456789\n')
  await cli.startProgram('chmod', ['644', 'open']).ended
  for (const [flags, message] of [
    [['--host', '0.0.0.0'], '--public-url is missing'],
    [['--host', '0.0.0.0', '--public-url', 'https://gate.example', '--no-token'], '--tokens are needed'],
    [['--tokens', 'open'], 'chmod 600'],
    [['--tokens', 'open', '--no-token'], 'contradict each other'],
    [['--port', '0x50'], 'is no port'],
    [['--socket', 's', '--port', '1'], '--port cannot be given with a socket'],
  ] as const) {
    const { code, stderr } = await cli.reprise('gate', ...flags)
    expect([code, stderr], flags.join(' ')).toEqual([2, expect.stringContaining(message)])
  }
  expect(cli.has('.reprise')).toBe(false)
})

test('a gate at a socket replaces one that was killed, and is asked by its path', { timeout: 120_000 }, async () => {
  cli = new CliFixture()
  const socket = cli.path('gate.sock')
  const { going, url } = await gateWith('--socket', socket, '--no-token')
  expect(url).toBe(`unix:${socket}`)
  expect((statSync(socket).mode & 0o777).toString(8)).toBe('600')
  const taken = await cli.reprise('gate', '--socket', socket, '--no-token')
  expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining('another process listens')])
  going.child.kill('SIGKILL')
  await going.ended
  const second = await gateWith('--socket', socket, '--no-token')
  const { code, stdout, stderr } = await cli.reprise('job', 'list', '--gate', url, '--json')
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toEqual({ jobs: [], next: null })
  second.going.child.kill('SIGTERM')
  await second.going.ended
})

test('limits that are set where a gate runs hold for every submitter', { timeout: 120_000 }, async () => {
  cli = new CliFixture()
  cli.env['RETRY_BUDGET_MAX'] = '7'
  const { going } = await gateWith('--port', '0')
  expect(going.said()).toContain('Wrote the limits for jobs')
  delete cli.env['RETRY_BUDGET_MAX']
  const { stdout } = await cli.reprise('job', 'settings', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ store: { retryBudgetMax: 7 }, effective: { retryBudgetMax: 7 } })
  const second = await gateWith('--port', '0')
  expect(second.going.said()).not.toContain('Wrote')
})
