/** How far a task has come, as its function says: kept while it runs, and given to the next execution. */
import { describe, expect, it } from 'vitest'
import { type Checkpoint, type DurableContext, openDurable, TaskRefusedError } from 'reprise/durable'
import { withVerbs } from './with-verbs.js'
import { deferred, rejection, turns, ProcessModel } from './process-model.js'

interface Progress {
  readonly page: number
}

const KEY = { scopeKind: 'task', scope: 't', id: 'a' } as const
const POLICY = { attempts: 3, initialDelay: '1s', jitter: false } as const

describe('a checkpoint', () => {
  it('is given to every later execution: the next attempt, and one in another process', async () => {
    const model = new ProcessModel()
    const seen: (Checkpoint<Progress> | undefined)[] = []
    const first = await model.open()
    const work = async (_input: null, context: DurableContext<Progress>): Promise<string> => {
      seen.push(context.lastCheckpoint)
      const page = (context.lastCheckpoint?.value.page ?? 0) + 1
      await context.checkpoint({ page })
      if (page === 1) throw new Error('again')
      if (page === 2) return new Promise(() => undefined)
      return `page ${page}`
    }
    await first.durable.task('t', POLICY, work).start(null, { id: 'a' })
    await turns()
    await model.clock.advance(1000)
    await turns()
    await first.kill()
    const second = await model.open()
    const task = second.durable.task('t', POLICY, work)
    await second.durable.resume()
    expect(await task.run(null, { id: 'a' })).toBe('page 3')
    expect(seen).toEqual([
      undefined,
      { value: { page: 1 }, attempt: 1, execution: 1 },
      { value: { page: 2 }, attempt: 2, execution: 1 },
    ])
    await second.durable.close()
  })

  it('that is the last one counts, and is a copy of what was given', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const given = { pages: [1] }
    const task = durable.task('t', POLICY, async (_input: null, { checkpoint, lastCheckpoint, attempt }) => {
      if (attempt === 2) return lastCheckpoint?.value
      const kept = [checkpoint(7), checkpoint(given)]
      given.pages.push(2)
      await Promise.all(kept)
      throw new Error('again')
    })
    const result = task.run(null, { id: 'a' })
    await turns()
    await model.clock.advance(1000)
    expect(await result).toEqual({ pages: [1] })
    await durable.close()
  })

  it.each(['succeeds', 'fails', 'is cancelled'])('is gone when the task %s', async (how) => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const task = durable.task('t', { attempts: 1 }, async (_input: null, { checkpoint }) => {
      await checkpoint('here')
      if (how === 'fails') throw new Error('no')
      if (how === 'is cancelled') await new Promise(() => undefined)
    })
    const ended = task.run(null, { id: 'a' })
    ended.catch(() => undefined)
    await turns(2)
    if (how === 'is cancelled') {
      expect(await model.ledger.checkpoint(KEY)).toBe('here')
      await task.cancel('a')
    }
    await ended.catch(() => undefined)
    expect(await model.ledger.checkpoint(KEY)).toBeUndefined()
    expect((await model.task('t', 'a')).progress).not.toHaveProperty('checkpoint')
    await durable.close()
  })

  it('is gone when an undecided task is reset', async () => {
    const model = new ProcessModel()
    const lost = await model.open()
    const seen: unknown[] = []
    const work = async (_input: null, { checkpoint, lastCheckpoint, generation }: DurableContext): Promise<void> => {
      seen.push([generation, lastCheckpoint])
      if (generation > 1) return
      await checkpoint('here')
      await new Promise(() => undefined)
    }
    await lost.durable.task('t', POLICY, work, { onInterrupt: 'fail' }).start(null, { id: 'a' })
    await turns()
    await lost.kill()
    const { durable } = await model.open()
    const task = durable.task('t', POLICY, work, { onInterrupt: 'fail' })
    await durable.resume()
    expect(await model.task('t', 'a')).toMatchObject({ status: 'undecided' })
    expect(await model.ledger.checkpoint(KEY)).toBe('here')
    await task.reset('a')
    await task.run(null, { id: 'a' })
    expect(seen).toEqual([
      [1, undefined],
      [2, undefined],
    ])
    await durable.close()
  })

  it('of an execution whose task was taken over is refused', async () => {
    const model = new ProcessModel()
    const go = deferred()
    const answer = deferred<unknown>()
    const zombie = await model.open()
    await zombie.durable
      .task('t', POLICY, async (_input: null, { checkpoint }) => {
        await checkpoint('first')
        await go.promise
        answer.resolve(await rejection(checkpoint('late')))
      })
      .start(null, { id: 'a' })
    await turns()
    await zombie.expire()
    const heir = await model.open()
    heir.durable.task('t', POLICY, () => new Promise(() => undefined))
    await heir.durable.resume()
    await turns()
    go.resolve()
    const error = await answer.promise
    expect(error).toBeInstanceOf(TaskRefusedError)
    expect(error).toMatchObject({ kind: 'task_lost' })
    expect(await model.ledger.checkpoint(KEY)).toBe('first')
    await heir.durable.close()
    await zombie.durable.close()
  })

  it('after the end of its execution is refused, and nobody who did not wait for it is ended by that', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    let keep: DurableContext['checkpoint'] | undefined
    const task = durable.task('t', POLICY, (_input: null, { checkpoint }) => {
      keep = checkpoint
      return 1
    })
    await task.run(null, { id: 'a' })
    void keep?.('unheard')
    expect(await rejection(keep?.('late') as Promise<void>)).toMatchObject({ kind: 'task_lost' })
    await turns()
    await durable.close()
  })

  it('that is too long, or no JSON, is refused before anything is written', async () => {
    const durable = await openDurable('memory:')
    const task = durable.task('t', { attempts: 1 }, async (_input: null, context: DurableContext<string>) => {
      const most = 'é'.repeat((65_536 - 2) / 2)
      await context.checkpoint(most)
      const long = await rejection(context.checkpoint(`${most}x`))
      const date = await rejection(context.checkpoint(new Date(0) as never))
      return [long, date].map((error) => (error as Error).message)
    })
    const [long, date] = await task.run(null, { id: 'a' })
    expect(long).toMatch('The checkpoint has 65537 bytes as JSON, and 65536 are allowed')
    expect(date).toMatch('checkpoint is an object of class Date')
    await durable.close()
  })

  it('is kept for steps of a run as well', async () => {
    const model = new ProcessModel()
    const run = { id: 'r', kind: 'k', name: 'r', definition: null, fingerprint: 'f' }
    const first = await model.open()
    const begun = await first.durable.runs.start(run)
    const step = async (_input: null, { checkpoint, lastCheckpoint }: DurableContext): Promise<unknown> => {
      if (lastCheckpoint !== undefined) return lastCheckpoint.value
      await checkpoint(5)
      return new Promise(() => undefined)
    }
    void begun
      .step('s', POLICY, step)
      .run()
      .catch(() => undefined)
    await turns()
    await first.kill()
    const second = await model.open()
    const taken = await second.durable.runs.take('r')
    expect(await taken.step('s', POLICY, step).run()).toBe(5)
    await second.durable.close()
  })
})

it('a function does not begin once its attempt has ended while the checkpoint was read', async () => {
  const read = deferred()
  const model = new ProcessModel((ledger) =>
    withVerbs(ledger, {
      checkpoint: async (key) => {
        await read.promise
        return ledger.checkpoint(key)
      },
    }),
  )
  const { durable } = await model.open()
  let calls = 0
  const task = durable.task('t', POLICY, async (_input: null, { checkpoint }) => {
    calls++
    await checkpoint('here')
    throw new Error('again')
  })
  const ended = task.run(null, { id: 'a' })
  ended.catch(() => undefined)
  await turns()
  await model.clock.advance(1000)
  await turns()
  expect(await model.task('t', 'a')).toMatchObject({ status: 'running' })
  await task.cancel('a')
  await turns()
  read.resolve()
  await turns()
  expect(calls).toBe(1)
  await durable.close()
})
