/** Faults of a server, shown with plain clients: whatever was acknowledged is kept, and the server comes back. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waitFor } from '../faults/rig.js'
import { BrokenDisk, canTrace, Operator, type WriteFault } from './server-faults.js'
import { PostgresServer } from './server.js'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start()
  const operator = await Operator.connect(server.url)
  await operator.query('CREATE TABLE rows (n int PRIMARY KEY)')
  await operator.end()
})
afterAll(() => server.remove())

/** Adds rows one after the other, over any number of connections; answers with those that it was told are there. */
function writer(from: number): { acknowledged: number[]; failures: number; stop: () => Promise<void> } {
  const progress = { acknowledged: [] as number[], failures: 0, stop }
  const until = { isStopped: false }
  const work = (async () => {
    for (let n = from; !until.isStopped; ) {
      const client = new pg.Client({ connectionString: server.url })
      client.on('error', () => undefined)
      try {
        await client.connect()
        while (!until.isStopped) {
          await client.query('BEGIN')
          await client.query('INSERT INTO rows VALUES ($1)', [n])
          await client.query('COMMIT')
          progress.acknowledged.push(n++)
        }
      } catch {
        // Whether it happened is unknown: that number is not used again.
        n++
        progress.failures++
        await new Promise((resolve) => setTimeout(resolve, 10))
      } finally {
        await client.end().catch(() => undefined)
      }
    }
  })()
  async function stop(): Promise<void> {
    until.isStopped = true
    await work
  }
  return progress
}

async function lost(acknowledged: readonly number[]): Promise<number[]> {
  const operator = await Operator.connect(server.url)
  const kept = new Set((await operator.query<{ n: number }>('SELECT n FROM rows')).map(({ n }) => n))
  await operator.end()
  return acknowledged.filter((n) => !kept.has(n))
}

const FAULTS: readonly WriteFault[] = ['fdatasync', 'pwrite64']

describe.skipIf(!canTrace())('a disk that fails under a server', () => {
  it.each(FAULTS)('at %s: what was acknowledged is kept', async (call) => {
    const writers = [1, 2, 3].map((place) => writer(place * 1_000_000 * (call === 'fdatasync' ? 1 : 10)))
    await waitFor(() => writers.every(({ acknowledged }) => acknowledged.length > 3), 'everybody writes')
    const from = server.log.length
    const disk = new BrokenDisk(server, call)
    await waitFor(() => disk.failures > 0, 'a call fails')
    await waitFor(() => writers.some(({ failures }) => failures > 0), 'somebody is told')
    await disk.heal()
    const told = writers.map(({ acknowledged }) => acknowledged.length)
    await waitFor(
      () => writers.every(({ acknowledged }, at) => acknowledged.length > (told[at] ?? 0) + 3),
      'it works again',
    )
    await Promise.all(writers.map(({ stop }) => stop()))
    expect(server.log.slice(from)).toContain('Input/output error')
    expect(await lost(writers.flatMap(({ acknowledged }) => acknowledged))).toEqual([])
  })
})

describe('a backend that is terminated', () => {
  it('keeps what it has acknowledged, also if it was committing', async () => {
    const writers = [50, 51, 52].map((place) => writer(place * 1_000_000))
    const operator = await Operator.connect(server.url)
    const ended = { committing: 0, other: 0, nobody: 0 }
    let draw = 0
    while (ended.committing < 10) ended[await operator.terminate('postgres', () => (draw++ * 0.37) % 1)]++
    await operator.end()
    await Promise.all(writers.map(({ stop }) => stop()))
    expect(writers.reduce((sum, { failures }) => sum + failures, 0)).toBeGreaterThan(0)
    expect(await lost(writers.flatMap(({ acknowledged }) => acknowledged))).toEqual([])
  })
})
