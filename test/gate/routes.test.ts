/**
 * Every route of a gate × every attack: refused, and the ledger is unchanged. The table of answers is kept in RESULTS.md:
 * `npx vitest run test/gate/routes.test.ts -u` writes it again.
 */
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Gate } from '@reprise/dashboard'
import { JOB_SCHEMAS, type Route } from '@reprise/jobs/internal'
import type { Jobs } from '@reprise/jobs'
import type { Ledger } from 'reprise/durable'
import { GATE_ROUTES } from '../../packages/dashboard/src/serve/gate.js'
import { faultsOf as typeFaults, rowsOf, timeFaults } from '../docs/json-page.js'
import { faultsOf } from '../json-schema.js'
import { failSome, jobsPlaces, named, STORES } from '../jobs/jobs-fixture.js'
import { ATTACKS, rightRequest } from './attacks.js'
import { ask, contentsOf, jsonIn, testGate } from './gate-fixture.js'

const [sqlite] = STORES
if (sqlite === undefined) throw new Error('there is no store to test on')

const place = jobsPlaces(sqlite)
let jobs: Jobs
let ledger: Ledger
let gate: Gate

/** A job that has ended with a failure, so that every change of it would be one. */
beforeEach(async () => {
  const shared = await place()
  jobs = await shared.open()
  ledger = await shared.ledger()
  const worker = await jobs.work({ datacenter: 'eu', handlers: { some: failSome } })
  const workflows = named(2, (index) => ({ fails: index * 99 }))
  const job = await jobs.submit({ job_id: 'j', datacenters: ['eu'], workflows, retries: 'none' })
  await job.result()
  await worker.drain()
})
afterEach(() => gate.close())

const VALUES = {
  id: 'j',
  name: 'eu',
  datacenter: 'eu',
  job: { job_id: 'k', datacenters: ['eu'], workflows: named(1) },
}

/** By operation: the command whose `--json` is the answer, as docs/json.md lists it. */
const PRINTED_BY: ReadonlyMap<string, string> = new Map([
  ['submitJob', '`job submit FILE`'],
  ['listJobs', '`job list`'],
  ['showJob', '`job status JOB`'],
  ['jobResult', '`job result JOB`'],
  ['cancelJob', '`job cancel JOB`'],
  ['retryJob', '`job retry JOB`'],
  ['listDatacenters', '`datacenters`'],
  ['disableDatacenter', '`datacenters disable NAME`'],
  ['enableDatacenter', '`datacenters enable NAME`'],
  ['showSettings', '`job settings`'],
  ['writeSettings', '`job settings`'],
])

const commandTypes = new Map(rowsOf('| command | prints |').map(([command, type = '']) => [command, type]))

const attempted = (route: Route): string => `${route.method} ${route.path}`

describe('a gate', () => {
  it('refuses every attack on every route, and changes nothing', async () => {
    gate = await testGate(jobs, { allowChanges: true })
    const readOnly = await testGate(jobs)
    onTestFinished(() => readOnly.close())
    const before = await contentsOf(ledger)
    const rows: string[] = []
    for (const attack of ATTACKS) {
      const cells: string[] = []
      for (const route of GATE_ROUTES) {
        const expected = attack.status(route)
        if (expected === undefined) {
          cells.push('')
          continue
        }
        const attacked = attack.isOnReadOnly === true ? readOnly : gate
        const port = Number(new URL(attacked.url).port)
        const { target, asked } = attack.make(rightRequest(route, VALUES), route, port)
        const { status, headers } = await ask(attacked, target, asked)
        expect(status, `${attack.name} on ${attempted(route)}`).toBe(expected)
        expect(headers['x-content-type-options'], attempted(route)).toBe('nosniff')
        cells.push(String(status))
      }
      rows.push(`| ${attack.name} | ${cells.join(' | ')} |`)
    }
    expect(await contentsOf(ledger)).toBe(before)
    await expect(pageOf(rows)).toMatchFileSnapshot('RESULTS.md')
  })

  it('answers every route that is asked rightly with what the route describes', async () => {
    gate = await testGate(jobs, { allowChanges: true })
    for (const route of GATE_ROUTES) {
      const { target, asked } = rightRequest(route, VALUES)
      const answer = await ask(gate, target, asked)
      expect(answer.status, `${attempted(route)}: ${answer.text}`).toBe(200)
      expect(answer.headers['cache-control']).toBe('no-store')
      if (route.type === 'text/plain') continue
      const name = String(route.answer['$ref'] ?? '').replace('#/components/schemas/', '')
      const schema = name === '' ? route.answer : JOB_SCHEMAS[name as keyof typeof JOB_SCHEMAS]
      expect(faultsOf(schema, jsonIn(answer)), attempted(route)).toEqual([])
      const printed = PRINTED_BY.get(route.operation)
      if (printed === undefined) continue
      // The same JSON as the command prints, field by field.
      expect(typeFaults(jsonIn(answer), commandTypes.get(printed) ?? ''), attempted(route)).toEqual([])
      expect(timeFaults(jsonIn(answer)), attempted(route)).toEqual([])
    }
  })

  it('accepts its own origin, and says in an event who made a change', async () => {
    gate = await testGate(jobs, { allowChanges: true })
    const retry = { method: 'POST', body: '{"only_failed":true}', headers: { origin: gate.url } }
    expect((await ask(gate, '/api/v1/jobs/j/retry', retry)).status).toBe(200)
    const disable = { method: 'POST', body: '{"reason":"fibre cut"}', headers: { 'sec-fetch-site': 'same-origin' } }
    expect((await ask(gate, '/api/v1/datacenters/eu/disable', disable)).status).toBe(200)
    const details = (await ledger.events(0, 1000)).map(({ detail }) => detail)
    expect(details).toContainEqual(expect.objectContaining({ event: 'JobRetried', by: 'ada', onlyFailed: true }))
    const change = { gate: 'record:datacenter/eu', action: 'disable', reason: 'fibre cut', by: 'ada' }
    expect(details).toContainEqual(change)
  })
})

function pageOf(rows: readonly string[]): string {
  const heads = GATE_ROUTES.map((_route, index) => String(index + 1))
  const legend = GATE_ROUTES.map((route, index) => `${index + 1}. \`${attempted(route)}\` (${route.access})`)
  return `# Routes × attacks

How a gate answers each attack on each of its routes; an empty cell is an attack that is not about the route. After all of
them the ledger was what it had been. \`/healthz\` and \`/readyz\` ask for no token and no name.
Written by \`npx vitest run test/gate/routes.test.ts -u\`, compared by \`npm test\`.

${legend.join('\n')}

| attack | ${heads.join(' | ')} |
|---|${'---|'.repeat(heads.length)}
${rows.join('\n')}
`
}
