import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { RecordedFailureError } from '../../packages/reprise/src/durable/errors.js'

const file = () => `sqlite:${path.join(mkdtempSync(path.join(tmpdir(), 'd-')), 'l.db')}`

describe.each([
  ['memory:', () => 'memory:'],
  ['sqlite', file],
])('durable on %s', (_n, address) => {
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
    expect(status?.history.map((h) => h.outcome)).toEqual(['failure', 'failure', 'success'])
    await durable.close()
  })
  it('fails with what was recorded', async () => {
    const durable = await openDurable(address())
    const t = durable.task('t', { attempts: 3, initialDelay: 0 }, async () => {
      throw new TypeError('bad')
    })
    const e = await t.run({}, { id: 'x' }).catch((error: unknown) => error)
    expect(e).toBeInstanceOf(RecordedFailureError)
    expect(e).toMatchObject({ stopReason: 'attempts_exhausted', attempts: 3 })
    await t.reset('x')
    await new Promise((r) => setTimeout(r, 100))
    expect(await t.status('x')).toMatchObject({ state: 'failed', generation: 2, attempts: 3 })
    await durable.close()
  })
  it('runs many', async () => {
    const durable = await openDurable(address())
    const t = durable.task('t', { attempts: 3, initialDelay: 0 }, async (n: number, ctx) => {
      if (ctx.attempt < 2) throw new Error('x')
      return n * 2
    })
    const t0 = performance.now()
    const r = await Promise.all(Array.from({ length: 2000 }, (_, i) => t.run(i, { id: `i${i}` })))
    console.log('2000 tasks with a retry', Math.round(performance.now() - t0), 'ms')
    expect(r).toEqual(Array.from({ length: 2000 }, (_, i) => i * 2))
    await durable.close()
  })
})
