/** Cancelling, hastening, draining, closing, time limits, many at once, and a ledger that fails. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deferred, isSettled, rejection, turn, turns, until, ProcessModel } from './process-model.js'

const POLICY = { attempts: 3, initialDelay: '10s', jitter: false } as const
const hang = (): Promise<never> => new Promise(() => undefined)
const fail = (): never => {
  throw new Error('no')
}

const unhandled: unknown[] = []
const note = (error: unknown): void => void unhandled.push(error)
beforeAll(() => void process.on('unhandledRejection', note))
afterAll(() => {
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

describe('cancelling', () => {
  it('ends a running task, tells its attempt, and rejects who waits', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    let aborted = false
    const task = durable.task('t', POLICY, (_input: null, { signal }) => {
      signal.addEventListener('abort', () => (aborted = true))
      return hang()
    })
    const result = rejection(task.run(null, { id: 'a' }))
    await turns()
    await task.cancel('a')
    expect(await result).toMatchObject({ stopReason: 'aborted' })
    await turns()
    expect(aborted).toBe(true)
    expect(await model.task('t', 'a')).toMatchObject({ status: 'cancelled', owner: null, dueAtMs: null })
    await durable.close()
  })

  it('keeps the attempt that ran in the history', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const task = durable.task('t', POLICY, hang)
    await task.start(null, { id: 'a' })
    await turns()
    await task.cancel('a')
    expect((await task.status('a'))?.history).toMatchObject([{ attempt: 1, execution: 1, outcome: 'aborted' }])
    await durable.close()
  })

  it('ends a waiting task, which does not run again', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    let ran = 0
    const task = durable.task('t', POLICY, () => {
      ran++
      return fail()
    })
    await task.start(null, { id: 'a' })
    await turns()
    await task.cancel('a')
    await model.clock.advance(60_000)
    expect(ran).toBe(1)
    expect(await task.status('a')).toMatchObject({ state: 'cancelled', stopReason: 'aborted' })
    await durable.close()
  })

  it('changes nothing of a task that has ended, and names one that is not there', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const task = durable.task('t', POLICY, () => 'done')
    await task.run(null, { id: 'a' })
    await task.cancel('a')
    expect(await task.run(null, { id: 'a' })).toBe('done')
    expect(await rejection(task.cancel('b'))).toMatchObject({ kind: 'not_found' })
    await durable.close()
  })
})

describe('retrying now', () => {
  it('starts the attempt that waits, at once and with a record', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const task = durable.task('t', POLICY, (_input: null, { attempt }) => (attempt === 1 ? fail() : 'done'))
    const result = task.run(null, { id: 'a' })
    await turns()
    await task.retryNow('a')
    expect(await result).toBe('done')
    expect((await model.ledger.events(0, 9)).map(({ type }) => type)).toEqual(['retry_now'])
    expect(await rejection(task.retryNow('a'))).toMatchObject({ kind: 'not_waiting' })
    await durable.close()
  })
})

describe('limits of time', () => {
  it('end an attempt, abort its signal, and try again', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const aborted: number[] = []
    const task = durable.task('t', { ...POLICY, attemptTimeout: '2s' }, (_input: null, { attempt, signal }) => {
      signal.addEventListener('abort', () => aborted.push(attempt))
      return attempt < 3 ? hang() : 'done'
    })
    const result = task.run(null, { id: 'a' })
    await model.clock.advance(60_000)
    expect(await result).toBe('done')
    expect(aborted).toEqual([1, 2])
    expect((await task.status('a'))?.history.map(({ outcome }) => outcome)).toEqual(['timeout', 'timeout', 'success'])
    await durable.close()
  })

  it('end the whole call, while an attempt runs or instead of one', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const running = durable.task('r', { ...POLICY, timeout: '5s' }, hang)
    const waiting = durable.task('w', { ...POLICY, timeout: '5s' }, fail)
    const results = [rejection(running.run(null, { id: 'a' })), rejection(waiting.run(null, { id: 'a' }))]
    await model.clock.advance(5000)
    for (const error of await Promise.all(results)) expect(error).toMatchObject({ stopReason: 'timeout', attempts: 1 })
    await durable.close()
  })

  it('do not hear what an attempt says after them', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const end = deferred()
    const task = durable.task('t', { attempts: 1, attemptTimeout: '1s' }, () => end.promise)
    const result = rejection(task.run(null, { id: 'a' }))
    await model.clock.advance(1000)
    end.reject(new Error('late'))
    expect(await result).toMatchObject({ failure: { name: 'AttemptTimeoutError' } })
    await durable.close()
  })
})

describe('draining and closing', () => {
  it('drains: what runs ends, nothing new begins, what waits is left for others', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open({ concurrency: 1 })
    const end = deferred<string>()
    const task = durable.task('t', POLICY, () => end.promise)
    await task.start(null, { id: 'a' })
    await task.start(null, { id: 'b' })
    await turns()
    const drained = durable.drain()
    expect(await isSettled(drained)).toBe(false)
    end.resolve('done')
    await drained
    expect(await task.status('a')).toMatchObject({ state: 'succeeded' })
    expect(await task.status('b')).toMatchObject({ state: 'waiting' })
    await durable.close()
  })

  it('closes while tasks wait, and leaves no timer on the clock', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const task = durable.task('t', { ...POLICY, attemptTimeout: '1h', timeout: '10h' }, (input: number) =>
      input % 2 === 0 ? fail() : hang(),
    )
    for (let index = 0; index < 10; index++) await task.start(index, { id: `i${index}` })
    await turns()
    expect(model.clock.pending).toBeGreaterThan(0)
    await durable.close()
    expect(model.clock.pending).toBe(0)
    for (const { status, owner, dueAtMs } of await model.ledger.list({})) {
      expect([status, owner, dueAtMs === null]).toEqual(['waiting', null, false])
    }
    expect(await rejection(task.run(1, { id: 'z' }))).toMatchObject({ kind: 'closed' })
    await durable.close()
  })
})

describe('many tasks', () => {
  it.each([1, 10, 50])('all end with at most %s at a time', async (concurrency) => {
    const model = new ProcessModel()
    const { durable } = await model.open({ concurrency })
    let [running, most] = [0, 0]
    const task = durable.task('t', { attempts: 2, initialDelay: 0 }, async (input: number, { attempt }) => {
      most = Math.max(most, ++running)
      await turn()
      running--
      if (attempt === 1 && input % 3 === 0) fail()
      return input
    })
    const inputs = Array.from({ length: 500 }, (_, index) => index)
    await Promise.all(inputs.map((input) => task.start(input, { id: `i${input}` })))
    const results = await Promise.all(inputs.map((input) => task.run(input, { id: `i${input}` })))
    expect(results).toEqual(inputs)
    expect(most).toBe(concurrency)
    await durable.close()
  })

  it.each([1, 10])('that are run at once stay within %s at a time', async (concurrency) => {
    const model = new ProcessModel()
    const { durable } = await model.open({ concurrency })
    let [running, most] = [0, 0]
    const task = durable.task('t', {}, async (input: number) => {
      most = Math.max(most, ++running)
      await turn()
      running--
      return input
    })
    const inputs = Array.from({ length: 2000 }, (_, index) => index)
    const results = await Promise.all(inputs.map((input) => task.run(input, { id: `i${input}` })))
    expect(results).toEqual(inputs)
    expect(most).toBe(concurrency)
    await durable.close()
  })
})

describe('a wake-up', () => {
  async function startedAfter(gap: number): Promise<string[]> {
    const model = new ProcessModel()
    const { durable } = await model.open({ slow: true })
    const started: string[] = []
    const task = durable.task('t', POLICY, (_input: null, { taskId }) => void started.push(taskId))
    await turns()
    void task.start(null, { id: 'a' })
    await turns(gap)
    void task.start(null, { id: 'b' })
    await turns(30)
    await model.clock.advance(0)
    const seen = started.toSorted()
    await durable.close()
    return seen
  }

  it.each([2, 3])('is not lost on a ledger that takes its time: after %s turns', async (gap) => {
    expect(await startedAfter(gap)).toEqual(['a', 'b'])
  })

  it.each([4, 5, 6, 7, 8, 9])('is not lost later: after %s turns', async (gap) => {
    expect(await startedAfter(gap)).toEqual(['a', 'b'])
  })
})

describe('a ledger that fails', () => {
  it('rejects everybody who waits, stops what runs, and closes without a timer left', {
    timeout: 2000,
  }, async () => {
    const model = new ProcessModel()
    const { durable, line } = await model.open()
    const end = deferred()
    let told = 0
    const task = durable.task('t', { ...POLICY, attemptTimeout: '1h' }, (input: number, { signal }) => {
      signal.addEventListener('abort', () => told++)
      return input === 0 ? end.promise : input === 1 ? hang() : fail()
    })
    const results = [0, 1, 2].map((input) => rejection(task.run(input, { id: `i${input}` })))
    await turns()
    const broken = new Error('disk full')
    line.break(broken)
    end.resolve()
    expect(await Promise.all(results)).toEqual([broken, broken, broken])
    expect(await rejection(task.run(9, { id: 'z' }))).toBe(broken)
    await durable.drain()
    await durable.close()
    expect(told).toBeGreaterThan(0)
    await until(() => model.clock.pending === 0, 'a clock without timers')
  })
})
