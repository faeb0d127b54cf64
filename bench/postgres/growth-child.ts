/**
 * `growth-child.js URL COUNT`: where COUNT tasks are, half of them done and half waiting for an hour, what a task costs
 * that is claimed and done, what one costs that is awaited, how long it takes to restore, and how large it all is. Imports
 * the library.
 */
import pg from 'pg'
import { type Durable, openDurable } from '../../packages/reprise/src/open/index.js'
import { addCopies } from './copies.js'
import { Library, POLICY } from './library.js'
import { takeTurn, WORKLOADS } from './turn.mjs'

const [url = '', count = '0'] = process.argv.slice(2)
const half = Math.round(Number(count) / 2)

async function bytes(client: pg.Client): Promise<number> {
  const sizes = `pg_total_relation_size('reprise.tasks') + pg_total_relation_size('reprise.attempts')`
  return (await client.query<{ n: number }>(`SELECT (${sizes})::float8 AS n`)).rows[0]?.n ?? NaN
}

async function usOf(library: Library, id: 'worked' | 'fifty'): Promise<number> {
  const workload = WORKLOADS[id]
  if (workload === undefined) throw new Error(`No workload ${id}`)
  return 1e6 / (await takeTurn(library, workload, 1)).rate
}

/** A new program that takes up what is there. */
async function restored(): Promise<number> {
  const startMs = performance.now()
  const durable: Durable = await openDurable(url)
  durable.task('job', POLICY, (input: number) => input)
  await durable.resume()
  const tookMs = performance.now() - startMs
  await durable.close()
  return tookMs
}

const library = await Library.open({ url, width: 100 })
await library.wait(0)
const client = new pg.Client(url)
await client.connect()
const { rows } = await client.query<{ id: string }>('SELECT id FROM reprise.tasks')
const before = await bytes(client)
await addCopies(client, rows[0]?.id ?? '', half, half)
const perTask = ((await bytes(client)) - before) / (2 * half)
await client.query('VACUUM ANALYZE reprise.tasks, reprise.attempts')
const restoreMs = await restored()
const claimUs = await usOf(library, 'worked')
const commitUs = await usOf(library, 'fifty')
console.log(JSON.stringify({ perTask, restoreMs, claimUs, commitUs }))
process.exit(0)
