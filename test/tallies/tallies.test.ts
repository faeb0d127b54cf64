/** A tally is exact at every moment, though many processes end its tasks at once and are killed while they do. */
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { checkLedger, type LedgerFault } from '../../packages/reprise/src/durable/ledger-check.js'
import type { CopiedRows } from '../../packages/reprise/src/ledger/copied-tables.js'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { checkPostgres } from '../../packages/reprise/src/postgres/maintenance.js'
import { checkSqlite } from '../../packages/reprise/src/sqlite/integrity.js'
import { bundleProgram } from '../bundled-program.js'
import { bundledFor, placeOfEach } from '../gates/shared-place.js'
import { STORES } from '../gates/stores.js'
import { until } from '../gates/until.js'
import { defineMembers, type Member, TALLIES } from './member.js'

const TASKS = 160
const KILLS = 8
const CANCELS = 10

const program = bundledFor(() => bundleProgram(new URL('worker.ts', import.meta.url)))

/** Tallies that do not count what is there, as of one moment. */
async function wrongTallies(address: string): Promise<LedgerFault[]> {
  let faults: readonly LedgerFault[] = []
  const take = async (rows: CopiedRows): Promise<void> => {
    faults = (await checkLedger(rows)).faults
  }
  if (address.startsWith('sqlite:')) await checkSqlite(address.slice('sqlite:'.length), take)
  else await checkPostgres(address, take)
  return faults.filter(({ rule }) => rule === 'I10')
}

/** Owners of rows of tallies that are not among the owners; only PostgreSQL has a row for each. */
async function strangeOwners(address: string): Promise<string[]> {
  if (address.startsWith('sqlite:')) return []
  const url = new URL(address)
  url.search = ''
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    const { rows } = await client.query<{ owner: string }>(
      `SELECT DISTINCT owner FROM reprise.tallies WHERE owner <> '' AND owner NOT IN (SELECT id FROM reprise.owners)`,
    )
    return rows.map(({ owner }) => owner)
  } finally {
    await client.end()
  }
}

describe.each(STORES)('a tally shared by $name', (store) => {
  const place = placeOfEach(store)

  const start = (): Promise<unknown> => place.start(program())

  /** How many have ended, by the tallies alone; each of them always counts all of its tasks. */
  async function ended(): Promise<number> {
    const tallies = await place.ledger.tallies({ prefix: 'import/' })
    expect(tallies.map(({ name, total }) => [name, total])).toEqual(TALLIES.map((name) => [name, TASKS / 2]))
    expect(await wrongTallies(place.address)).toEqual([])
    return tallies.reduce((sum, { succeeded, failed, cancelled }) => sum + succeeded + failed + cancelled, 0)
  }

  it('counts every task at every read, over kills, cancellations and resets', { timeout: 180_000 }, async () => {
    const submitter = await openDurable(place.address, { concurrency: 1, lease: '3s', synchronous: 'normal' })
    const members = defineMembers(submitter)
    await submitter.drain()
    const inputs = Array.from({ length: TASKS }, (_, index) => {
      const input: Member = { half: index % 2 === 0 ? 0 : 1, fails: index % 4 }
      return { id: `m${index}`, input }
    })
    await members.startAll(inputs)
    await Promise.all(Array.from({ length: store.workers.processes }, start))
    for (let count = 1; count <= KILLS; count++) {
      const share = (TASKS * count) / (KILLS + 2)
      await until(async () => (await ended()) >= share, `the end of ${share} tasks`)
      const [child] = place.living
      await Promise.all([place.kill(child), start()])
    }
    // Some are over by now: those stay as they are.
    for (const { id } of inputs.slice(-CANCELS)) await members.cancel(id)
    await until(async () => (await ended()) === TASKS, 'the end of all tasks')
    const [failed] = await place.ledger.list({ scopeKind: 'task', scope: 'member', statuses: ['failed'], limit: 1 })
    await members.reset(failed?.id ?? '')
    await until(async () => (await ended()) === TASKS, 'the end of the task that was reset')
    await Promise.all([...place.living].map((child) => place.kill(child)))
    await until(async () => {
      await submitter.resume()
      return (await place.ledger.owners()).length === 1
    }, 'the removal of the owners that were killed')
    expect(await strangeOwners(place.address)).toEqual([])
    await submitter.close()
    expect(await ended()).toBe(TASKS)
  })
})
