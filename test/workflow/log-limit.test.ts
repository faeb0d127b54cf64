/** Steps that write more than is kept of it. Starts the command line. */
import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGzip } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { repriseInProcess } from './cli-in-process.js'
import { CliFixture } from './cli-fixture.js'

const MIB = 1024 * 1024
let fixture: CliFixture

afterEach(() => fixture.remove())

function logOf(run: string, step: string): string {
  return fixture.path(`.reprise/runs/${run}/${step}/1.1.1.log`)
}

test('a step that floods its log leaves its beginning and its end, and its failure is the last that it said', async () => {
  fixture = new CliFixture(`
max_log: 100KiB
steps:
  - { id: flood, shell: "echo first; head -c 30000000 /dev/zero | tr '\\\\0' x; echo; echo the end >&2; exit 3" }
`)
  const { code, stderr } = await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')
  expect(code).toBe(1)
  expect(stderr).toContain('exit code 3: the end')
  const log = readFileSync(logOf('r1', 'flood'), 'utf8')
  expect(log.length).toBeLessThan(101 * 1024)
  expect(log).toMatch(/^first\nx+\n\[reprise: cut here, `max_log` is 100KiB/)
  expect(log).toMatch(/\[reprise: 28\.5MiB are left out here, `max_log` is 100KiB\]\nx+\nthe end\n$/)
  const { stdout } = await repriseInProcess(fixture, 'logs', 'r1', 'flood')
  expect(stdout).toContain('left out here')
})

test('an answer that unpacks to very much leaves no more than the limit', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    const gzip = createGzip()
    gzip.pipe(response)
    for (let count = 0; count < 200; count++) gzip.write(Buffer.alloc(MIB))
    gzip.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  fixture = new CliFixture(`
steps:
  - { id: bomb, http: { url: "http://127.0.0.1:${port}/" } }
`)
  try {
    const { code } = await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')
    expect(code).toBe(0)
    expect(statSync(logOf('r1', 'bomb')).size).toBeLessThan(64 * MIB + 400)
  } finally {
    server.close()
  }
})

test('all attempts of a run share a limit, also after a resume with another one in the file', async () => {
  const document = (most: string): string => `
max_run_log: ${most}
steps:
  - { id: one, shell: "head -c 3000000 /dev/zero | tr '\\\\0' a" }
  - { id: two, shell: "test -e go; head -c 3000000 /dev/zero | tr '\\\\0' b" }
`
  fixture = new CliFixture(document('20MiB'))
  expect((await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')).code).toBe(1)
  expect(statSync(logOf('r1', 'one')).size).toBe(3_000_000)
  fixture.write('go', '')
  fixture.write('workflow.yaml', document('1MiB'))
  const { code, stderr } = await fixture.reprise('resume', 'r1', '--reset-retries')
  expect({ code, stderr }).toMatchObject({ code: 0 })
  const log = readFileSync(logOf('r1', 'two').replace('1.1.1', '2.1.1'), 'utf8')
  expect(log).toContain('`max_run_log` is 1MiB')
  expect(log.length).toBeLessThan(200 * 1024)
})

test('a size that is none is refused with an example', async () => {
  fixture = new CliFixture('max_log: 5\nsteps: [{ shell: "true", max_log: much }]\n')
  const { code, stderr } = await fixture.reprise('validate', 'workflow.yaml')
  expect(code).toBe(2)
  expect(stderr.match(/64MiB/g)?.length).toBeGreaterThanOrEqual(2)
})
