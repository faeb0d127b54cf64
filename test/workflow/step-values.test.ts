/** What steps know of themselves and of those before them. Starts the command line. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { CliFixture } from './cli-fixture.js'

let fixture: CliFixture
const endings: (() => void)[] = []
afterEach(() => {
  fixture.remove()
  for (const end of endings.splice(0)) end()
})

/** Answers with the status that the path names; `heard` has the header `X-Key` of each request. */
async function serve(): Promise<{ url: string; heard: unknown[] }> {
  const heard: unknown[] = []
  const server = createServer((request, response) => {
    heard.push(request.headers['x-key'])
    response.writeHead(Number(request.url?.slice(1)) || 200).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  endings.push(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard }
}

test('a request can be given the variables that a command has', async () => {
  const { url, heard } = await serve()
  fixture = new CliFixture(`
steps:
  - { id: key, shell: 'printf %s "$REPRISE_IDEMPOTENCY_KEY" > key' }
  - id: ask
    http: { url: "${url}/200", headers: { X-Key: "\${env.REPRISE_IDEMPOTENCY_KEY} \${env.REPRISE_ATTEMPT}" } }
`)
  const { code, stderr } = await fixture.reprise('run', 'workflow.yaml')
  expect(code, stderr).toBe(0)
  expect(heard).toEqual([`${fixture.read('key').replace(/key$/, 'ask')} 1`])
})

test('the status of a request that failed is known to later steps, also after a resume', async () => {
  const { url } = await serve()
  fixture = new CliFixture(`
steps:
  - { id: ask, http: { url: "${url}/404" }, retry: { attempts: 1, on_failure: continue } }
  - { id: gate, shell: test -e go }
  - { id: missing, shell: 'echo "\${steps.ask.status}" > seen', when: steps.ask.status == 404 }
  - { id: other, shell: echo x > wrong, when: steps.ask.status == 200 }
`)
  expect((await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(1)
  fixture.write('go', '')
  const { code, stderr } = await fixture.reprise('resume', 'r1', '--reset-retries')
  expect(code, stderr).toBe(3)
  expect(fixture.read('seen')).toBe('404\n')
  expect(fixture.has('wrong')).toBe(false)
})

test('a program that is not there yet is retried if its exit code is listed, and only then', async () => {
  fixture = new CliFixture(`
steps:
  - { id: late, run: [./late], retry: { attempts: 400, initial_delay: 20ms, backoff: fixed, retry_on: [exit:127, exit:126] } }
`)
  const going = fixture.start('run', 'workflow.yaml')
  await expect.poll(() => going.said(), { timeout: 20_000 }).toContain('Retrying late')
  fixture.write('late', '#!/bin/sh\necho here > ran\n')
  await expect.poll(() => going.said(), { timeout: 20_000 }).toContain('no permission to run it')
  ;(await import('node:fs')).chmodSync(fixture.path('late'), 0o755)
  expect((await going.ended).code).toBe(0)
  expect(fixture.read('ran')).toBe('here\n')
  fixture.write('never.yaml', 'steps: [{ id: late, run: [./never], retry: { attempts: 3, initial_delay: 1ms } }]')
  const { code, stderr } = await fixture.reprise('run', 'never.yaml')
  expect(code).toBe(1)
  expect(stderr).toContain('after 1 attempt (not_retryable)')
})

test('a captured output that holds a secret says so in its log', async () => {
  fixture = new CliFixture(`
secrets: [TOKEN]
steps:
  - { id: take, shell: 'printf "%s" "$TOKEN"', capture: token }
  - { id: plain, shell: echo x, capture: plain }
`)
  fixture.env['TOKEN'] = 'tok-12345'
  expect((await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(0)
  expect(fixture.read('.reprise/runs/r1/take/1.1.1.log')).toContain('later steps get *** instead')
  expect(fixture.read('.reprise/runs/r1/plain/1.1.1.log')).toBe('x\n')
})
