/** The operations on jobs as a command asks them of a gate: the same answers, the same errors, and patience. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { operationsOf, type JobOperations } from '@reprise/jobs/internal'
import { jsonText } from '@reprise/workflow/internal'
import { gateOperations } from '../../packages/cli/src/runs/jobs/gate-client.js'
import { rejection } from '../durable/process-model.js'
import { failSome, jobsPlaces, named, STORES } from '../jobs/jobs-fixture.js'
import { SECRETS, testGate } from './gate-fixture.js'

/** As it comes out of JSON: whole milliseconds, with their dates. */
const sent = (value: unknown): unknown => JSON.parse(jsonText(value)) as unknown

const caller = { by: 'tester' }
const quiet = { token: SECRETS.act, onTrouble: () => undefined, patience: '500ms' }

describe.each(STORES)('operations on jobs on $name', (store) => {
  const place = jobsPlaces(store)

  const both = async (): Promise<{ readonly own: JobOperations; readonly over: JobOperations; readonly url: URL }> => {
    const jobs = await (await place()).open()
    await jobs.work({ datacenter: 'eu', handlers: { some: failSome } })
    const gate = await testGate(jobs, { allowChanges: true })
    onTestFinished(() => gate.close())
    const url = new URL(gate.url)
    return { own: operationsOf(jobs), over: gateOperations({ url, ...quiet }), url }
  }

  it('answer by a gate what they answer by the store', async () => {
    const { own, over } = await both()
    const job = { job_id: 'a', datacenters: ['eu'], workflows: named(2, (index) => ({ fails: index })) }
    expect(await over.submitJob({ job }, caller)).toMatchObject({ job: 'a', isNew: true })
    expect(await own.submitJob({ job }, caller)).toMatchObject({ job: 'a', isNew: false })
    const result = await over.jobResult({ id: 'a', wait_seconds: 25 }, caller)
    expect(result).toEqual(sent(await own.jobResult({ id: 'a' }, caller)))
    expect(await over.showJob({ id: 'a' }, caller)).toEqual(sent(await own.showJob({ id: 'a' }, caller)))
    const listed = { state: 'completed', limit: 5 } as const
    expect(await over.listJobs(listed, caller)).toEqual(sent(await own.listJobs(listed, caller)))
    const events = { id: 'a', limit: 200 }
    expect(await over.jobEvents(events, caller)).toEqual(sent(await own.jobEvents(events, caller)))
    expect(await over.cancelJob({ id: 'a' }, caller)).toEqual({ job: 'a', cancelled: false })
    const disabled = await over.disableDatacenter({ name: 'eu', reason: 'fibre & cut' }, caller)
    expect(disabled).toEqual({ datacenter: 'eu', disabled: 'fibre & cut' })
    expect((await own.listDatacenters({}, caller)).datacenters).toMatchObject([{ name: 'eu', disabled: 'fibre & cut' }])
    expect(await over.enableDatacenter({ name: 'eu' }, caller)).toEqual({ datacenter: 'eu', disabled: null })
    expect((await over.listWorkers({}, caller)).workers).toMatchObject([{ datacenter: 'eu', isLiving: true }])
    expect(await over.writeSettings({}, caller)).toMatchObject({ store: { retryBudgetMax: 50 } })
  })

  it('give whoever waits after a retry the result of that', async () => {
    const { own, over } = await both()
    const workflows = named(1, () => ({ fails: 1 }))
    const job = { job_id: 'a', datacenters: ['eu'], workflows, retries: 'none' }
    await over.submitJob({ job }, caller)
    const earlier = over.jobResult({ id: 'a', wait_seconds: 25 }, caller)
    expect(await earlier).toMatchObject({ outcome: 'failed', version: 1 })
    for (let round = 2; round < 6; round++) {
      await over.retryJob({ id: 'a' }, caller)
      expect(await over.jobResult({ id: 'a', wait_seconds: 25 }, caller)).toMatchObject({ version: round })
    }
    expect((await own.showJob({ id: 'a' }, caller)).version).toBe(5)
  })

  it('go through all jobs page by page', async () => {
    const { own, over } = await both()
    for (let index = 0; index < 7; index++)
      await own.submitJob({ job: { job_id: `j${index}`, datacenters: ['eu'], workflows: named(1) } }, caller)
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const { jobs, next } = await over.listJobs({ limit: 3, ...(cursor !== undefined && { cursor }) }, caller)
      expect(jobs.length).toBeLessThanOrEqual(3)
      seen.push(...jobs.map(({ id }) => id))
      cursor = next ?? undefined
    } while (cursor !== undefined)
    expect(seen.toSorted()).toEqual(['j0', 'j1', 'j2', 'j3', 'j4', 'j5', 'j6'])
    expect(seen).toHaveLength(7)
  })

  it('are refused by a gate as by the store', async () => {
    const { own, over, url } = await both()
    const job = { job_id: 'a', datacenters: ['eu'], workflows: named(1) }
    await own.submitJob({ job }, caller)
    for (const operations of [own, over]) {
      expect(await rejection(operations.showJob({ id: 'nope' }, caller))).toMatchObject({ kind: 'not_found' })
      const other = { ...job, workflows: named(2) }
      expect(await rejection(operations.submitJob({ job: other }, caller))).toMatchObject({ kind: 'conflict' })
      expect(String(await rejection(operations.submitJob({ job: { ...job, nme: 1 } }, caller)))).toMatch(/nme.*unknown/)
    }
    for (const operations of [own, over]) {
      const misspelt = operations.enableDatacenter({ name: 'eu-' }, caller)
      expect(String(await rejection(misspelt))).toMatch(/No worker has ever registered the datacenter eu-/)
    }
    expect((await own.listDatacenters({}, caller)).datacenters).toHaveLength(1)
    await own.jobResult({ id: 'a', wait_seconds: 25 }, caller)
    expect(await rejection(over.retryJob({ id: 'a' }, caller))).toMatchObject({ kind: 'finished' })
    const asViewer = gateOperations({ url, ...quiet, token: SECRETS.view })
    expect(await asViewer.showJob({ id: 'a' }, caller)).toMatchObject({ id: 'a' })
    expect(String(await rejection(asViewer.cancelJob({ id: 'a' }, caller)))).toMatch(/may look, and not act/)
    const asNobody = gateOperations({ url, ...quiet, token: undefined })
    expect(String(await rejection(asNobody.listJobs({}, caller)))).toMatch(/needs a token/)
    const asUnknown = gateOperations({ url, ...quiet, token: `${SECRETS.view}x` })
    const unknown = String(await rejection(asUnknown.listJobs({}, caller)))
    expect(unknown).toMatch(/does not know this token/)
    expect(unknown).not.toContain(SECRETS.view)
  })
})

/** Answers each request with what the next function writes. */
async function answering(...answers: readonly Parameters<typeof createServer>[1][]): Promise<URL> {
  let at = 0
  const server: Server = createServer((request, response) => {
    const answer = answers[Math.min(at++, answers.length - 1)]
    request.resume().on('end', () => answer?.(request, response))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

describe('a gate that does not answer', () => {
  it('is asked again for so long, and then named', async () => {
    const url = new URL('http://127.0.0.1:1')
    const heard: string[] = []
    const operations = gateOperations({ url, ...quiet, onTrouble: (text) => heard.push(text) })
    expect(String(await rejection(operations.listJobs({}, caller)))).toMatch(
      /The gate http:\/\/127\.0\.0\.1:1 does not answer: connect ECONNREFUSED/,
    )
    // The same trouble is said once.
    expect(heard).toEqual([expect.stringContaining('ECONNREFUSED')])
  })

  it('is asked again when it stops, when a proxy has none, and when the answer is cut off', async () => {
    const url = await answering(
      (_request, response) => response.writeHead(503, { 'retry-after': '1' }).end('{"title":"The server is stopping"}'),
      (_request, response) => response.writeHead(502).end('<html>Bad gateway</html>'),
      (_request, response) =>
        void response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy()),
      (request) => request.socket.destroy(),
      (_request, response) => response.end('{"jobs":[],"next":null}'),
    )
    const heard: string[] = []
    const operations = gateOperations({ url, ...quiet, patience: '30s', onTrouble: (text) => heard.push(text) })
    expect(await operations.listJobs({}, caller)).toEqual({ jobs: [], next: null })
    expect(heard).toHaveLength(4)
    expect(heard[0]).toMatch(/503: The server is stopping/)
  })

  it('stops being asked when nobody waits any more', async () => {
    const ending = new AbortController()
    const url = await answering(() => ending.abort(new Error('enough')))
    const operations = gateOperations({ url, ...quiet, patience: '1h' })
    const waiting = operations.jobResult({ id: 'j', wait_seconds: 25 }, { ...caller, signal: ending.signal })
    expect(String(await rejection(waiting))).toMatch(/enough/)
  })

  it('or that is none, is not asked again', async () => {
    const url = await answering((_request, response) => response.writeHead(404).end('<html>\u001b[31mnginx</html>'))
    const said = String(await rejection(gateOperations({ url, ...quiet }).listJobs({}, caller)))
    expect(said).toMatch(/answered 404/)
    expect(said).not.toContain('\u001b')
  })
})
