/**
 * A canary in place of a secret: steps are given it and say it in every way there is; afterwards it is nowhere in what
 * was kept or said. Needs a build.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { repriseInProcess } from './cli-in-process.js'
import { type Ended, CliFixture, until } from './cli-fixture.js'

/** With all that is written differently in JSON, in addresses, in shells and in base64. */
const CANARY = `Kan4ri/7f3a "9b'+x==&? Zw8Qm2Lk5Tp1`
const HALF = CANARY.slice(0, 20)
const OTHER_HALF = CANARY.slice(20)
const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Each of these is as good as the canary itself. */
const FORMS = [
  CANARY,
  HALF,
  OTHER_HALF,
  JSON.stringify(CANARY).slice(1, -1),
  encodeURIComponent(CANARY),
  Buffer.from(CANARY).toString('base64').slice(0, 40),
  Buffer.from(`user:${CANARY}`).toString('base64').slice(8, 40),
]

let fixture: CliFixture
afterEach(() => fixture.remove())

/** What it heard, and what it answers: the canary where the message would be cut. */
let server: Server
let heard: string[] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (text: Buffer) => (body += text.toString()))
    request.on('end', () => {
      heard.push(decodeURIComponent(request.url ?? ''), String(request.headers['x-token']), body)
      response.writeHead(500).end(`${'x'.repeat(175)}${CANARY} and ${CANARY}`)
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
})
afterAll(() => server.close())

const workflow = (port: number): unknown => ({
  secrets: ['API_TOKEN'],
  retry_defaults: { attempts: 2, initial_delay: '10ms', on_failure: 'continue' },
  steps: [
    {
      id: 'says',
      shell: [
        'printf %s "$API_TOKEN" | sha256sum >> received',
        'echo "out $API_TOKEN"; echo "err $API_TOKEN" >&2; printf %s "$API_TOKEN" | base64 -w0',
        'printf %s "user:$API_TOKEN" | base64 -w0',
        `node -p 'JSON.stringify(process.env) + encodeURIComponent(process.env.API_TOKEN)'`,
        `printf %s "\${API_TOKEN:0:20}"; sleep 0.3; printf %s "\${API_TOKEN:20}"; sleep 0.3; echo`,
      ].join('\n'),
    },
    {
      id: 'captures',
      shell: `node -p 'JSON.stringify({ token: process.env.API_TOKEN, [process.env.API_TOKEN]: 1, n: 41 })'`,
      capture: 'data',
      capture_format: 'json',
    },
    { id: 'uses', run: ['sh', '-c', 'printf "%s\\n" "$@" >> used', 'sh', '${data.n}', '${data.token}'] },
    {
      id: 'argument',
      run: ['sh', '-c', 'printf %s "$1" | sha256sum >> received; exit 3', '${env.API_TOKEN}', '${env.API_TOKEN}'],
    },
    { id: 'no-number', shell: 'printf %s "0123456789 $API_TOKEN"', capture: 'n', capture_format: 'number' },
    { id: 'fails', shell: 'echo "cannot log in with $API_TOKEN" >&2; exit 7' },
    { id: 'no-program', run: ['./${env.API_TOKEN}'] },
    {
      id: 'asks',
      http: {
        url: `http://127.0.0.1:${port}/\${env.API_TOKEN}?q=\${env.API_TOKEN}`,
        method: 'POST',
        headers: { 'x-token': '${env.API_TOKEN}' },
        body: { token: '${env.API_TOKEN}' },
      },
    },
    { id: 'no-address', http: { url: `${'x'.repeat(180)}\${env.API_TOKEN}` } },
    { id: 'no-host', http: { url: 'http://${env.API_TOKEN}.invalid/' } },
    { id: 'throws', script: { module: './throws.mjs', with: { token: '${env.API_TOKEN}' } } },
    {
      id: 'returns',
      script: { module: './throws.mjs', export: 'returns' },
      capture: 'returned',
      capture_format: 'number',
    },
    { id: 'asked', shell: 'true', when: 'int(env.API_TOKEN) > 0' },
    { id: 'hangs', shell: 'echo "$API_TOKEN"; echo x >> hangs; test -e go || sleep 60' },
    { id: 'last', shell: 'echo "$API_TOKEN"; exit 1', retry: { on_failure: 'stop' } },
  ],
})

const THROWS = `
export default async function ({ with: { token }, env }) {
  console.log('given', token === env.API_TOKEN, token)
  process.stdout.write(token.slice(0, 20))
  await new Promise((resolve) => setTimeout(resolve, 300))
  console.log(token.slice(20))
  const error = Object.assign(new Error('no entry for ' + token, { cause: new Error(token) }), { code: token })
  error.name = token
  throw error
}
export const returns = ({ env }) => 'x'.repeat(60) + env.API_TOKEN
`

function expectNowhere(what: string, bytes: Buffer | string): void {
  const text = typeof bytes === 'string' ? bytes : bytes.toString('latin1')
  for (const form of FORMS) expect([what, text.indexOf(form), form]).toEqual([what, -1, form])
}

/** All files of the state directory, as they are on the disk. */
function expectKeptNowhere(): void {
  const directory = fixture.path('.reprise')
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(path.join(directory, name)).isFile(),
  )
  expect(files).toContain('ledger.db')
  for (const name of files) {
    expectNowhere(`the path of ${name}`, name)
    expectNowhere(name, readFileSync(path.join(directory, name)))
  }
}

const LOOKS = [
  ['show', 'r1'],
  ['show', 'r1', '--json'],
  ['show', 'r1', 'throws'],
  ['show', 'r1', 'asks', '--json'],
  ['events', 'r1'],
  ['events', 'r1', '--ndjson'],
  ['logs', 'r1'],
  ['logs', 'r1', '--json'],
  ['ps'],
  ['ps', '--json'],
  ['resume', 'r1', '--dry-run'],
]

async function expectShownNowhere(): Promise<void> {
  for (const command of LOOKS) {
    const { stdout, stderr } = await repriseInProcess(fixture, ...command)
    expect([command, stdout + stderr]).toEqual([command, expect.stringMatching(/./)])
    expectNowhere(command.join(' '), stdout + stderr)
  }
}

function expectSaidNowhere(what: string, { stdout, stderr }: Ended): void {
  expectNowhere(`stdout of ${what}`, stdout)
  expectNowhere(`stderr of ${what}`, stderr)
}

describe('a secret', () => {
  test('reaches every step, and nothing that is kept or said: killed, resumed and failed', async () => {
    heard = []
    fixture = new CliFixture()
    fixture.env['API_TOKEN'] = CANARY
    fixture.write('throws.mjs', THROWS)
    fixture.write('workflow.yaml', JSON.stringify(workflow((server.address() as AddressInfo).port)))
    const going = fixture.start('run', 'workflow.yaml', '--run-id', 'r1', '--ndjson')
    await until(
      () => fixture.count('hangs') === 1,
      () => `the last but one; it said ${going.said()}`,
      going,
    )
    // With the log of the ledger still beside it.
    expectKeptNowhere()
    going.child.kill('SIGKILL')
    expectSaidNowhere('run', await going.ended)
    expectKeptNowhere()
    await expectShownNowhere()
    fixture.write('go', '')
    const resumed = await fixture.reprise('resume', 'r1', '-v')
    expect(resumed.code).toBe(1)
    expectSaidNowhere('resume', resumed)
    expectKeptNowhere()
    await expectShownNowhere()

    const { steps } = await fixture.show('r1')
    const failed = steps.filter(({ state }) => state === 'failed').map(({ id }) => id)
    expect(failed).toEqual([
      'argument',
      'no-number',
      'fails',
      'no-program',
      'asks',
      'no-address',
      'no-host',
      'throws',
      'returns',
      'asked',
      'last',
    ])
    // It was masked, not left out.
    for (const id of ['fails', 'asks', 'throws'])
      expect(steps.find((step) => step.id === id)?.failure?.message).toContain('***')
    expect(fixture.read('.reprise/runs/r1/throws/1.1.1.log')).toContain('given true ***')
    // And they did get it.
    expect(fixture.read('received').split('\n').filter(Boolean)).toEqual(
      Array.from({ length: 3 }, () => expect.stringContaining(hash(CANARY)) as string),
    )
    expect(heard.slice(0, 3)).toEqual([`/${CANARY}?q=${CANARY}`, CANARY, JSON.stringify({ token: CANARY })])
    // What is captured is kept, so it is masked for whoever uses it.
    expect(fixture.read('used')).toBe('41\n***\n')
  })

  test('in what is kept with a run is refused before anything is, and its place is named', async () => {
    fixture = new CliFixture()
    fixture.env['API_TOKEN'] = 'tok-0123456789'
    const given = { secrets: ['API_TOKEN'], params: { who: '' }, steps: [{ id: 'a', shell: 'echo x >> ran' }] }
    const cases: readonly (readonly [document: unknown, args: readonly string[], place: string])[] = [
      [{ ...given, steps: [{ id: 'a', shell: 'curl -H tok-0123456789 x' }] }, [], 'the workflow.steps[0].shell'],
      [{ ...given, steps: [{ id: 'tok-0123456789', shell: 'true' }] }, [], 'the workflow.steps[0].id'],
      [{ ...given, params: { who: 'tok-0123456789' } }, [], 'the workflow.params.who'],
      [given, ['--param', 'who=tok-0123456789'], '--param[0]'],
      [given, ['--run-id', 'tok-0123456789'], '--run-id'],
    ]
    for (const [document, args, place] of cases) {
      fixture.write('workflow.yaml', JSON.stringify(document))
      const { code, stderr } = await repriseInProcess(fixture, 'run', fixture.path('workflow.yaml'), ...args)
      expect([code, stderr]).toEqual([2, expect.stringContaining(`stands in ${place}`)])
      expect(stderr).toContain('${env.API_TOKEN}')
      expect(stderr).not.toContain('tok-0123456789')
    }
    expect(readdirSync(fixture.directory)).toEqual(['workflow.yaml'])
  })

  test('that is a number in what is captured is masked there, and the rest is a value', async () => {
    fixture = new CliFixture(`
secrets: [PIN]
steps:
  - { id: a, shell: 'echo "{\\"pin\\": $PIN, \\"n\\": 7}"', capture: data, capture_format: json }
  - { id: b, shell: 'echo "\${data.n} \${data.pin}" >> used' }
`)
    fixture.env['PIN'] = '83726151'
    expect((await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(0)
    expect(fixture.read('used')).toBe('7 ***\n')
    expect(readFileSync(fixture.path('.reprise/ledger.db')).includes('83726151')).toBe(false)
  })
})
