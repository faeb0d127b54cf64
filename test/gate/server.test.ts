/** What a server allows its clients, on raw sockets: names, slowness, numbers, sizes, and how it ends. */
import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Gate } from '@reprise/dashboard'
import type { Jobs } from '@reprise/jobs'
import { createApi, type Operation } from '../../packages/dashboard/src/serve/api.js'
import { perimeterOf } from '../../packages/dashboard/src/serve/perimeter.js'
import { gateHandler } from '../../packages/dashboard/src/serve/gate.js'
import { rejection } from '../durable/process-model.js'
import { until } from '../gates/until.js'
import { failSome, jobsPlaces, named, STORES } from '../jobs/jobs-fixture.js'
import { ask, contentsOf, jsonIn, pathHere, post, SECRETS, testGate } from './gate-fixture.js'

const [sqlite] = STORES
if (sqlite === undefined) throw new Error('there is no store to test on')
const place = jobsPlaces(sqlite)

const gates: Gate[] = []
afterEach(async () => {
  for (const gate of gates.splice(0)) await gate.close()
})

async function opened(...args: Parameters<typeof testGate> extends [Jobs, ...infer Rest] ? Rest : never): Promise<{
  readonly gate: Gate
  readonly jobs: Jobs
  readonly port: number
}> {
  const jobs = await (await place()).open()
  const gate = await testGate(jobs, ...args)
  gates.push(gate)
  return { gate, jobs, port: gate.url.startsWith('unix:') ? 0 : Number(new URL(gate.url).port) }
}

interface RawSocket {
  readonly socket: Socket
  said(): string
  isClosed(): boolean
}

function rawSocket(port: number, text = ''): RawSocket {
  const socket = connect(port, '127.0.0.1')
  let said = ''
  let isClosed = false
  socket.setEncoding('latin1')
  socket.on('data', (part: string) => (said += part))
  socket.on('close', () => (isClosed = true))
  socket.on('error', () => undefined)
  if (text !== '') socket.write(text)
  onTestFinished(() => void socket.destroy())
  return { socket, said: () => said, isClosed: () => isClosed }
}

/** The status line of the answer to a request that is written as it is. */
async function answerTo(port: number, ...lines: readonly string[]): Promise<string> {
  const raw = rawSocket(port, `${lines.join('\r\n')}\r\n\r\n`)
  await until(async () => raw.said().includes('\r\n'), `an answer to ${lines[0]}`)
  return raw.said().slice(0, raw.said().indexOf('\r\n'))
}

const BEARER = `Authorization: Bearer ${SECRETS.act}`

describe('a gate', () => {
  it('refuses the requests of a page whose name was rebound to this machine', async () => {
    const { port, jobs } = await opened()
    await jobs.work({ datacenter: 'eu', handlers: { some: failSome } })
    const evil = `Host: rebound.evil.example:${port}`
    expect(await answerTo(port, 'GET /api/v1/jobs HTTP/1.1', evil, BEARER)).toContain(' 421 ')
    // The address in the request line is not the name that the browser sent.
    expect(await answerTo(port, `GET http://127.0.0.1:${port}/api/v1/jobs HTTP/1.1`, evil, BEARER)).toContain(' 421 ')
    const own = `Host: 127.0.0.1:${port}`
    expect(await answerTo(port, 'GET /api/v1/jobs HTTP/1.1', own, evil, BEARER)).toMatch(/ 4(00|21) /)
    expect(await answerTo(port, 'GET /api/v1/jobs HTTP/1.0', BEARER)).toContain(' 421 ')
    expect(await answerTo(port, 'GET /api/v1/jobs HTTP/1.1', BEARER)).toContain(' 421 ')
    expect(await answerTo(port, 'GET /api/v1/jobs HTTP/1.1', 'Host: a b', BEARER)).toMatch(/ 4(00|21) /)
    // A form of another site can be sent without asking first.
    const form = ['POST /api/v1/jobs HTTP/1.1', own, 'Origin: http://evil.example', 'Content-Type: text/plain', BEARER]
    expect(await answerTo(port, ...form, 'Content-Length: 0')).toContain(' 403 ')
    expect(await answerTo(port, 'GET /api/v1/jobs HTTP/1.1', own, BEARER)).toContain(' 200 ')
    expect(await answerTo(port, 'GET /api/v1/jobs HTTP/1.1', own.toUpperCase(), BEARER)).toContain(' 200 ')
  })

  it('decodes the fields of a path once, and nothing else of it', async () => {
    const { gate, jobs } = await opened()
    const worker = await jobs.work({ datacenter: 'eu', handlers: { some: failSome } })
    await jobs.submit({ job_id: 'j1', datacenters: ['eu'], workflows: named(1) })
    await worker.close()
    const statuses = ['/j1', '/%6A%31', '/%256A%2531', '/%25256A1', '/j%2531', '/%2Fj1'].map(
      async (path) => (await ask(gate, `/api/v1/jobs${path}`)).status,
    )
    expect(await Promise.all(statuses)).toEqual([200, 200, 400, 400, 400, 400])
    expect((await ask(gate, '/api/v1/job%73')).status).toBe(404)
  })

  it('says that it lives and is ready to whoever asks, by any name or none', async () => {
    const { port } = await opened()
    for (const path of ['/healthz', '/readyz'])
      for (const host of [[], ['Host: evil.example'], [`Host: 127.0.0.1:${port}`]])
        for (const version of ['1.0', '1.1'])
          expect(await answerTo(port, `GET ${path} HTTP/${version}`, ...host), path).toContain(' 200 ')
    for (const path of ['/healthz/', '/Healthz', '//healthz', '/healthz/../metrics', '/%68ealthz', '/healthz/x'])
      expect(await answerTo(port, `GET ${path} HTTP/1.1`, 'Host: evil.example'), path).toMatch(/ 421 /)
  })

  it('takes no request whose length can be read in two ways, and no headers without end', async () => {
    const { port } = await opened()
    const headers = [`Host: 127.0.0.1:${port}`, BEARER, 'X-Reprise: 1', 'Content-Type: application/json']
    const change = ['POST /api/v1/jobs HTTP/1.1', ...headers]
    expect(await answerTo(port, ...change, 'Content-Length: 2', 'Transfer-Encoding: chunked')).toContain(' 400 ')
    expect(await answerTo(port, ...change, 'Content-Length: 2', 'Content-Length: 3')).toContain(' 400 ')
    expect(await answerTo(port, ...change, 'Content-Length: -1')).toContain(' 400 ')
    const many = Array.from({ length: 400 }, (_, index) => `X-${index}: ${'x'.repeat(60)}`)
    expect(await answerTo(port, 'GET /healthz HTTP/1.1', ...headers, ...many)).toContain(' 431 ')
  })

  it('closes connections whose headers or bodies are slow, and serves others meanwhile', async () => {
    const { gate, port } = await opened({}, { headersMs: 300, requestMs: 600 })
    const headers = rawSocket(port, 'GET /api/v1/jobs HTTP/1.1\r\nX-Slow: ')
    const own = `Host: 127.0.0.1:${port}\r\n${BEARER}\r\nX-Reprise: 1\r\nContent-Type: application/json`
    const body = rawSocket(port, `POST /api/v1/jobs HTTP/1.1\r\n${own}\r\nContent-Length: 100\r\n\r\n{`)
    // Bytes that arrive now and then are no reason to wait.
    const dripping = setInterval(() => headers.socket.write('x'), 50)
    onTestFinished(() => clearInterval(dripping))
    expect((await ask(gate, '/healthz')).status).toBe(200)
    await until(async () => headers.isClosed() && body.isClosed(), 'the end of both connections')
    expect(headers.said()).toContain(' 408 ')
    expect((await ask(gate, '/healthz')).status).toBe(200)
  })

  it('has 200 connections at a time, and room again when one of them ends', async () => {
    const { gate, port } = await opened()
    const held = Array.from({ length: 230 }, () => rawSocket(port))
    await until(async () => held.filter((one) => one.isClosed()).length === 30, 'the end of those beyond 200')
    expect(await rejection(ask(gate, '/healthz'))).toMatchObject({ code: expect.stringMatching(/ECONNRESET|EPIPE/) })
    for (const { socket } of held) socket.destroy()
    const isServed = async (): Promise<boolean> =>
      ask(gate, '/healthz').then(
        ({ status }) => status === 200,
        () => false,
      )
    await until(isServed, 'room for another connection')
  })

  it('reads so many large bodies at a time that they fit into memory', async () => {
    const { gate, port } = await opened({}, { bodyMemoryBytes: 1000 })
    const headers = [`Host: 127.0.0.1:${port}`, BEARER, 'X-Reprise: 1', 'Content-Type: application/json']
    const begun = rawSocket(
      port,
      ['POST /api/v1/jobs HTTP/1.1', ...headers, 'Content-Length: 900', '', '{'].join('\r\n'),
    )
    const isFull = async (): Promise<boolean> =>
      (await post(gate, '/api/v1/jobs', { a: 'x'.repeat(200) })).status === 503
    await until(isFull, 'a body that does not fit beside the other')
    begun.socket.destroy()
    await until(async () => !(await isFull()), 'room for another body')
  })

  it('gives up an operation that takes too long, and says nothing of one that fails', async () => {
    const faults: string[] = []
    const route = { method: 'GET', access: 'view', summary: '', answer: {} } as const
    const operations: Readonly<Record<string, Operation>> = {
      hang: () => new Promise(() => undefined),
      fail: async () => {
        throw new Error('password=hunter2')
      },
    }
    const handler = createApi({
      routes: Object.keys(operations).map((operation) => ({ ...route, operation, path: `/${operation}` })),
      operations,
      perimeter: perimeterOf({ port: 80, isLoopback: true, publicUrl: undefined }),
      tokens: null,
      allowsChanges: false,
      stopping: new AbortController().signal,
      onFault: (text) => faults.push(text),
      bounds: { requestMs: 50 },
    })
    const get = async (path: string): Promise<{ status: number; body: object }> => {
      const response = await handler(new Request(`http://localhost:80${path}`, { headers: { host: 'localhost:80' } }))
      return { status: response.status, body: (await response.json()) as object }
    }
    expect(await get('/hang')).toMatchObject({ status: 503, body: { kind: 'too_slow' } })
    const failed = await get('/fail')
    expect(failed).toMatchObject({ status: 500, body: { kind: 'bug' } })
    expect(JSON.stringify(failed)).not.toContain('hunter2')
    expect(faults).toEqual(['password=hunter2'])
    expect(await get('/nowhere')).toMatchObject({ status: 404, body: { kind: 'no_route' } })
  })

  it('answers what waits when it stops, is not ready any more, and ends', async () => {
    const { gate, jobs } = await opened()
    await jobs.work({ datacenter: 'eu', handlers: { some: () => new Promise(() => undefined) } })
    expect((await post(gate, '/api/v1/jobs', { job_id: 'j', datacenters: ['eu'], workflows: named(1) })).status).toBe(
      200,
    )
    expect(jsonIn(await ask(gate, '/api/v1/jobs/j/result?wait_seconds=0'))).toMatchObject({ kind: 'not_completed' })
    const waiting = ask(gate, '/api/v1/jobs/j/result?wait_seconds=25')
    await until(async () => (await ask(gate, '/readyz')).status === 200, 'the gate to be ready')
    const closing = gate.close()
    expect(await waiting).toMatchObject({ status: 503, headers: { 'retry-after': '1', connection: 'close' } })
    await closing
    expect(await rejection(ask(gate, '/healthz'))).toMatchObject({ code: 'ECONNREFUSED' })
    const stopped = AbortSignal.abort()
    const parts = { jobs, tokens: null, allowsChanges: false, version: '1', onFault: () => undefined }
    const handler = gateHandler(parts, perimeterOf({ port: 1, isLoopback: true, publicUrl: undefined }), stopped)
    expect((await handler(new Request('http://x/readyz'))).status).toBe(503)
    expect((await handler(new Request('http://x/healthz'))).status).toBe(200)
  })

  it('lets many clients wait at a time, without a warning, and reads the job for all of them together', async () => {
    const { gate, jobs } = await opened()
    await jobs.work({ datacenter: 'eu', handlers: { some: () => new Promise(() => undefined) } })
    await post(gate, '/api/v1/jobs', { job_id: 'j', datacenters: ['eu'], workflows: named(1) })
    const warnings: Error[] = []
    const warn = (warning: Error): void => void warnings.push(warning)
    process.on('warning', warn)
    onTestFinished(() => void process.off('warning', warn))
    let reads = 0
    const read = jobs.result.bind(jobs)
    jobs.result = (id) => {
      reads++
      return read(id)
    }
    const startMs = performance.now()
    const waiting = Array.from({ length: 50 }, () => ask(gate, '/api/v1/jobs/j/result?wait_seconds=25'))
    await until(async () => reads >= 60, 'some looks at the job')
    await jobs.cancel('j')
    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]))
    // A first one each, then together at most one each 100 ms.
    expect(reads).toBeLessThanOrEqual(50 + 3 + (performance.now() - startMs) / 100)
    expect(warnings).toEqual([])
  })

  it('says that it is not ready when its store does not answer', async () => {
    const { gate, jobs } = await opened()
    await jobs.close()
    expect(await ask(gate, '/readyz', { token: null })).toMatchObject({ status: 503, text: 'not ready\n' })
    expect(await ask(gate, '/healthz', { token: null })).toMatchObject({ status: 200, text: 'ok\n' })
    expect(await ask(gate, '/api/v1/jobs')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  })
})

describe('a gate at a socket', () => {
  it('is opened by its user alone, and takes no place of another', async () => {
    const socket = pathHere('gate.sock')
    const left = createServer().listen(socket)
    await until(async () => existsSync(socket), 'the socket')
    chmodSync(socket, 0o777)
    const refused = await rejection(opened({ socket }))
    expect(String(refused)).toMatch(/another process listens/)
    left.unref()
    await new Promise((resolve) => left.close(resolve))
    const { gate } = await opened({ socket })
    expect(gate.url).toBe(`unix:${socket}`)
    expect((statSync(socket).mode & 0o777).toString(8)).toBe('600')
    expect((await ask(gate, '/api/v1/jobs')).status).toBe(200)
    expect((await ask(gate, '/api/v1/jobs', { headers: { host: 'evil.example' } })).status).toBe(421)
    const file = pathHere('file')
    writeFileSync(file, 'kept')
    expect(String(await rejection(opened({ socket: file })))).toMatch(/is not a socket/)
  })
})

describe('a gate that others could reach', () => {
  it.each([
    [{ host: '0.0.0.0' }, /publicUrl: is missing: other machines reach 0\.0\.0\.0/],
    [{ host: '0.0.0.0', publicUrl: 'https://gate.example', tokens: false }, /tokens: are needed/],
    [{ host: '127.0.0.1', publicUrl: 'https://gate.example', tokens: false }, /tokens: are needed/],
    [{ publicUrl: 'https://gate.example/path' }, /is not http/],
    [{ publicUrl: 'ftp://gate.example' }, /is not http/],
    [{ publicUrl: 'gate' }, /publicUrl: gate is not http/],
    [{ publicUrl: 'http://gate:99999' }, /publicUrl: http:\/\/gate:99999 is not http/],
    [{ socket: 's', host: '127.0.0.1' }, /cannot be given with a socket/],
    [{ port: 70_000 }, /port: 70000 is not a whole number/],
    [{ tokns: 'x' }, /tokns/],
  ])('is refused with %j', async (options, message) => {
    const jobs = await (await place()).open()
    const { openGate } = await import('@reprise/dashboard')
    expect(String(await rejection(openGate(jobs, options as object)))).toMatch(message)
  })

  it('goes by its public name, and by no other', async () => {
    const { gate } = await opened({ host: '0.0.0.0', publicUrl: 'https://gate.example' })
    const port = Number(new URL(gate.url).port)
    const at = { url: `http://127.0.0.1:${port}` }
    expect((await ask(at, '/api/v1/jobs')).status).toBe(421)
    expect((await ask(at, '/api/v1/jobs', { headers: { host: 'gate.example' } })).status).toBe(200)
    const headers = { host: 'gate.example', origin: 'https://gate.example' }
    expect((await ask(at, '/api/v1/jobs', { headers })).status).toBe(200)
    expect((await ask(at, '/api/v1/jobs', { headers: { ...headers, origin: 'http://gate.example' } })).status).toBe(403)
  })
})

it.each([
  [{ headers: { host: 'evil.example' } }, '/api/v1/jobs', 421, /--public-url/],
  [{ token: 'x'.repeat(22) }, '/api/v1/jobs', 401, /does not know this token.*Authorization: Bearer/s],
  [{ token: null }, '/api/v1/jobs', 401, /A token is needed: Authorization: Bearer/],
  [{ method: 'DELETE' }, '/api/v1/jobs', 405, /it takes POST, GET, HEAD/],
  [{}, '/api/v1/jobs?cursor=zz', 400, /\\"zz\\" is not written like \d+~probe-1/],
  [{}, '/api/v1/jobs/%E0%A4%A', 400, /%A\\" is not written like probe-1/],
] as const)('the refusal of %j at %s names the cure', async (asked, path, status, words) => {
  const { gate } = await opened()
  const answer = await ask(gate, path, asked)
  expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(words)])
})

it('a name with characters that no store keeps is refused, on every store', async () => {
  const shared = await place()
  const jobs = await shared.open()
  await jobs.work({ datacenter: 'eu', handlers: { some: failSome } })
  const gate = await testGate(jobs, { allowChanges: true })
  gates.push(gate)
  const before = await contentsOf(await shared.ledger())
  for (const reason of ['a\0b', '\ud800', ''])
    expect((await post(gate, '/api/v1/datacenters/eu/disable', { reason })).status).toBe(400)
  expect(await contentsOf(await shared.ledger())).toBe(before)
})
