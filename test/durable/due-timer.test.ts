/** What is due next is waited for with a timer of its own: the look now and then is only for what others add. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { deferred, turns, ProcessModel } from './process-model.js'

const DELAY_MS = 1500
const POLICY = { attempts: 3, backoff: 'fixed', initialDelay: `${DELAY_MS}ms`, jitter: false } as const

// Nobody looks now and then.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

/** Tasks that have failed once, each a while after the one before, and whose process has ended. */
async function waiting(model: ProcessModel, ids: readonly string[], apartMs: number): Promise<void> {
  const { durable } = await model.open()
  const task = durable.task<string, never>('t', POLICY, () => {
    throw new Error('not yet')
  })
  for (const id of ids) {
    await task.start(id, { id })
    await turns()
    await model.clock.advance(apartMs)
  }
  for (const id of ids) expect(await model.task('t', id)).toMatchObject({ status: 'waiting' })
  await durable.close()
}

describe('a process with room for one attempt', () => {
  it('starts each task when it is due, though the one before took all the room', async () => {
    const model = new ProcessModel()
    const apartMs = 400
    await waiting(model, ['a', 'b', 'c'], apartMs)
    // Now the first is due, and the others are not.
    await model.clock.advance(DELAY_MS - 3 * apartMs + apartMs / 2)
    const { durable } = await model.open({ concurrency: 1 })
    const started: string[] = []
    const ends = { a: deferred(), b: deferred(), c: deferred() }
    durable.task<keyof typeof ends, null>('t', POLICY, async (id) => {
      started.push(id)
      await ends[id].promise
      return null
    })
    await turns()
    expect(started).toEqual(['a'])
    ends.a.resolve()
    await turns()
    expect(started).toEqual(['a'])
    await model.clock.advance(apartMs)
    await turns()
    expect(started).toEqual(['a', 'b'])
    // One that becomes due while there is no room starts when there is.
    await model.clock.advance(apartMs)
    await turns()
    expect(started).toEqual(['a', 'b'])
    ends.b.resolve()
    await turns()
    expect(started).toEqual(['a', 'b', 'c'])
    ends.c.resolve()
    await durable.close()
  })
})
