/** With retention nothing of a SQLite ledger grows without bound: not the tables, not the file, not the log beside it. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Retention, retentionOf } from '../../packages/reprise/src/durable/retention.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { writeHistory } from '../../packages/reprise/src/testing/sample-history.js'
import { clockReading } from '../clock-reading.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-bounded-'))
afterAll(() => rmSync(directory, { recursive: true }))
let files = 0
const newFile = (): string => path.join(directory, `${files++}.db`)

const MINUTE = 60_000
const ROUND = 1000

/** One round of tasks that have ended now, every eighth of them for good. */
async function work(ledger: Ledger, round: number, now: number): Promise<void> {
  await writeHistory(
    ledger,
    Array.from({ length: ROUND }, (_, index) => ({
      task: {
        id: `${round}-${index}`,
        status: index % 8 ? 'succeeded' : 'failed',
        dueAtMs: null,
        updatedAtMs: now,
        policyHash: `p${round}`,
        input: { text: 'x'.repeat(200) },
      },
      attempts: [{ endedAtMs: now }, { attempt: 2, endedAtMs: now, outcome: index % 8 ? 'success' : 'failure' }],
      events: [{ atMs: now }],
      dead: index % 8 ? [] : [{ atMs: now }],
    })),
  )
}

describe('a file with retention', () => {
  it('stays as large as what is kept, over 20 000 tasks', async () => {
    const file = newFile()
    let now = 0
    const ledger = await openSqlite(file, { clock: clockReading(() => now), synchronous: 'normal' })
    const retention = new Retention(ledger, retentionOf({ succeeded: '2m', failed: '4m' }))
    const sizes: number[] = []
    const logs: number[] = []
    for (let round = 0; round < 20; round++) {
      now += MINUTE
      await work(ledger, round, now)
      expect((await retention.sweep()).more).toBe(false)
      sizes.push(statSync(file).size)
      logs.push(statSync(`${file}-wal`).size)
    }
    const { tasks } = await ledger.analytics.totals()
    expect(tasks).toBeLessThan(5 * ROUND)
    // Four rounds of failed ones and two of the others are there at a time, from the fifth round on.
    const [settled = 0, ...later] = sizes.slice(5)
    expect(Math.max(...later)).toBeLessThan(1.3 * settled)
    // SQLite carries the log over into the file every 1000 pages; one transaction may be longer.
    expect(Math.max(...logs)).toBeLessThan(16 * 2 ** 20)
    const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)
    console.log(`20 000 tasks: file ${sizes.map(mib).join(' ')} MiB; log at most ${mib(Math.max(...logs))} MiB`)
    await ledger.close()
  })

  it('grows without it, so the test above can fail', async () => {
    const file = newFile()
    const ledger = await openSqlite(file, { clock: clockReading(() => 0), synchronous: 'normal' })
    const sizes: number[] = []
    for (let round = 0; round < 6; round++) {
      await work(ledger, round, 0)
      sizes.push(statSync(file).size + statSync(`${file}-wal`).size)
    }
    const [, , early = Infinity, , , late] = sizes
    expect(late).toBeGreaterThan(1.3 * early)
    await ledger.close()
  })

  it('is given back to the system bit by bit, if it was made to shrink', async () => {
    const file = newFile()
    const database = await openDatabase(file)
    database.exec('PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE t (x); DROP TABLE t')
    database.close()
    let now = 0
    const ledger = await openSqlite(file, { clock: clockReading(() => now), synchronous: 'normal' })
    for (let round = 0; round < 5; round++) await work(ledger, round, now)
    now += 10 * MINUTE
    const retention = new Retention(ledger, retentionOf({ succeeded: '2m', failed: '4m' }))
    let reclaimed = 0
    for (let sweep = 0; sweep < 10; sweep++) reclaimed += (await retention.sweep()).reclaimedBytes
    expect(await ledger.analytics.totals()).toMatchObject({ tasks: 0, attempts: 0 })
    expect(reclaimed).toBeGreaterThan(2 ** 20)
    await work(ledger, 6, now)
    expect((await ledger.analytics.totals()).tasks).toBe(ROUND)
    await ledger.close()
  })
})

describe('a sweep', () => {
  it('ends at its limit, says that there is more, and goes on the next time', async () => {
    let now = 0
    const ledger = await openSqlite(newFile(), { clock: clockReading(() => now), synchronous: 'normal' })
    await work(ledger, 0, 0)
    now = 10 * MINUTE
    const retention = new Retention(ledger, retentionOf({ succeeded: '1m' }), { batch: 100, batches: 5 })
    const [first, same] = await Promise.all([retention.sweep(), retention.sweep()])
    expect(same).toBe(first)
    expect(first).toMatchObject({ tasks: 500, attempts: 1000, events: 500, deadLetters: 0, more: true })
    expect(await retention.sweep()).toMatchObject({ tasks: 375, more: false })
    expect(await retention.sweep()).toMatchObject({ tasks: 0, attempts: 0, events: 0, more: false })
    expect(await ledger.analytics.totals()).toMatchObject({ byStatus: { failed: 125 } })
    expect((await ledger.deadLetters()).length).toBe(125)
    await ledger.close()
  })

  it('drops the policies of what it forgot a day later, and no sooner', async () => {
    let now = 0
    const ledger = await openSqlite(newFile(), { clock: clockReading(() => now), synchronous: 'normal' })
    await work(ledger, 0, 0)
    const retention = new Retention(ledger, retentionOf({ succeeded: '1m', failed: '1m' }))
    now = 86_400_000
    expect(await retention.sweep()).toMatchObject({ tasks: ROUND, policies: 0 })
    now++
    expect(await retention.sweep()).toMatchObject({ tasks: 0, policies: 1 })
    await ledger.close()
  })

  it('shares the work with those of other processes', async () => {
    const file = newFile()
    let now = 0
    const open = (): Promise<Ledger> => openSqlite(file, { clock: clockReading(() => now), synchronous: 'normal' })
    const [first, second] = [await open(), await open()]
    await work(first, 0, 0)
    now = 10 * MINUTE
    const settings = retentionOf({ succeeded: '1m', failed: '1m' })
    const sweeps = await Promise.all(
      [first, second].map((ledger) => new Retention(ledger, settings, { batch: 50 }).sweep()),
    )
    const sum = (kind: 'tasks' | 'attempts' | 'deadLetters'): number =>
      sweeps.reduce((total, swept) => total + swept[kind], 0)
    expect([sum('tasks'), sum('attempts'), sum('deadLetters')]).toEqual([ROUND, 2 * ROUND, ROUND / 8])
    await first.close()
    await second.close()
  })

  it('ends after the batch it is at when it is stopped', async () => {
    let now = 0
    const ledger = await openSqlite(newFile(), { clock: clockReading(() => now), synchronous: 'normal' })
    await work(ledger, 0, 0)
    now = 10 * MINUTE
    const retention = new Retention(ledger, retentionOf({ succeeded: '1m' }), { batch: 100 })
    const sweep = retention.sweep()
    retention.stop()
    expect(await sweep).toMatchObject({ tasks: 100, more: true })
    expect((await ledger.analytics.totals()).byStatus).toEqual({ succeeded: 775, failed: 125 })
    await ledger.close()
  })

  it('rejects with what the ledger rejects with, and can be asked again', async () => {
    const ledger = await openSqlite(newFile(), { clock: clockReading(() => 0) })
    const retention = new Retention(ledger, retentionOf())
    await ledger.close()
    await expect(retention.sweep()).rejects.toThrow('closed')
    await expect(retention.sweep()).rejects.toThrow('closed')
  })
})
