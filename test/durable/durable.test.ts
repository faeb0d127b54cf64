/** The same program on every kind of ledger. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { RecordedFailureError } from '../../packages/reprise/src/durable/errors.js'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { testDatabase } from '../postgres/shared-server.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-durable-'))
const database = await testDatabase()
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await database.drop()
})
let places = 0

describe.each([
  ['memory', () => 'memory:'],
  ['SQLite', () => `sqlite:${path.join(directory, `${places++}.db`)}`],
  ['PostgreSQL', () => `${database.url}?schema=durable_${places++}`],
])('durable on %s', (_name, address) => {
  it('retries, succeeds, and gives the recorded result again', async () => {
    const durable = await openDurable(address())
    let calls = 0
    const charge = durable.task(
      'charge',
      { attempts: 5, initialDelay: '5ms' },
      async (input: { order: number }, ctx) => {
        calls++
        expect(ctx.attempt).toBe(calls)
        if (calls < 3) throw new Error('503')
        return { paid: input.order }
      },
    )
    expect(await charge.run({ order: 42 }, { id: 'a' })).toEqual({ paid: 42 })
    expect(await charge.run({ order: 42 }, { id: 'a' })).toEqual({ paid: 42 })
    expect(calls).toBe(3)
    await expect(charge.run({ order: 43 }, { id: 'a' })).rejects.toThrow('another input')
    const status = await charge.status('a')
    expect(status?.history.map(({ outcome }) => outcome)).toEqual(['failure', 'failure', 'success'])
    await durable.close()
  })

  it('fails with what was recorded, and again after a reset', async () => {
    const durable = await openDurable(address())
    const task = durable.task('t', { attempts: 3, initialDelay: 0 }, async () => {
      throw new TypeError('bad')
    })
    const error = await task.run({}, { id: 'x' }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RecordedFailureError)
    expect(error).toMatchObject({ stopReason: 'attempts_exhausted', attempts: 3 })
    await task.reset('x')
    await expect(task.run({}, { id: 'x' })).rejects.toBeInstanceOf(RecordedFailureError)
    expect(await task.status('x')).toMatchObject({ state: 'failed', generation: 2, attempts: 3 })
    await durable.close()
  })

  it('records many at once, and says which cannot be', async () => {
    const durable = await openDurable(address())
    await durable.drain()
    const task = durable.task('t', {}, async (n: number) => n)
    const ids = await task.startAll(Array.from({ length: 2500 }, (_, input) => ({ input, id: `i${input}` })))
    expect(ids).toHaveLength(2500)
    expect(await task.status('i2499')).toMatchObject({ state: 'waiting', attempts: 0 })
    // Those that are there stay, those without an id are new.
    const more = await task.startAll([{ input: 0, id: 'i0' }, { input: 1 }])
    expect(more[0]).toEqual({ id: 'i0' })
    expect(await task.status(more[1]?.id ?? '')).toMatchObject({ state: 'waiting' })
    const other = [
      { input: 7, id: 'i0' },
      { input: 8, id: 'new' },
    ]
    await expect(task.startAll(other)).rejects.toThrow('exist with another input: i0; the others are recorded')
    expect(await task.status('new')).toMatchObject({ state: 'waiting' })
    await expect(task.startAll([{ input: 1, id: 'x' }, { input: Number.NaN }])).rejects.toThrow('input')
    expect(await task.status('x')).toBeUndefined()
    await durable.close()
  })

  it('runs many at once, each with a retry', async () => {
    const durable = await openDurable(address())
    const task = durable.task('t', { attempts: 3, initialDelay: 0 }, async (n: number, ctx) => {
      if (ctx.attempt < 2) throw new Error('x')
      return n * 2
    })
    const results = await Promise.all(Array.from({ length: 2000 }, (_, n) => task.run(n, { id: `i${n}` })))
    expect(results).toEqual(Array.from({ length: 2000 }, (_, n) => n * 2))
    await durable.close()
  })
})
