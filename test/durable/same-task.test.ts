/** What is the same task, what may be kept of it, and what happens when its policy changes. */
import { describe, expect, it } from 'vitest'
import type { PolicyInput } from '../../packages/reprise/src/core/policy.js'
import { deferred, isSettled, rejection, turns, ProcessModel } from './process-model.js'

describe('the same id', () => {
  it('joins a live task: all who ask get the one result', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const end = deferred<string>()
    let calls = 0
    const task = durable.task('t', {}, () => {
      calls++
      return end.promise
    })
    const all = Array.from({ length: 10 }, () => task.run({ a: 1 }, { id: 'x' }))
    await turns()
    end.resolve('one')
    expect(new Set(await Promise.all(all))).toEqual(new Set(['one']))
    expect(calls).toBe(1)
    await durable.close()
  })

  it('joins one that another process runs, and hears of its end', async () => {
    const model = new ProcessModel()
    const first = await model.open()
    const second = await model.open()
    const end = deferred<string>()
    await first.durable.task('t', {}, () => end.promise).start(null, { id: 'x' })
    await turns()
    const joined = second.durable.task('t', {}, () => 'mine').run(null, { id: 'x' })
    await turns()
    end.resolve('theirs')
    expect(await joined).toBe('theirs')
    await first.durable.close()
    await second.durable.close()
  })

  it('does not depend on the order of keys, and refuses another input', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const task = durable.task('t', {}, (input: { a: number; b: number }) => input.a)
    expect(await task.run({ a: 1, b: 2 }, { id: 'x' })).toBe(1)
    expect(await task.run({ b: 2, a: 1 }, { id: 'x' })).toBe(1)
    const refused = await rejection(task.run({ a: 2, b: 2 }, { id: 'x' }))
    expect(refused).toMatchObject({ name: 'TaskRefusedError', code: 'task_refused', kind: 'conflict' })
    expect((refused as Error).message).toContain('t/x')
    await durable.close()
  })

  it('is a new task when none is given', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const task = durable.task('t', {}, (_input: null, { taskId }) => taskId)
    expect(await task.run(null)).not.toBe(await task.run(null))
    await durable.close()
  })

  it.each(['', 'a\u0000', 'a\nb', '\u0085', '\uD83D', 'x'.repeat(201), 7, null])('must be a text: %j', async (id) => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const task = durable.task('t', {}, () => 1)
    const refused = { code: 'invalid_options', problems: [{ path: 'id' }] }
    expect(await rejection(task.start(null, { id: id as string }))).toMatchObject(refused)
    expect(await rejection(task.startAll([{ input: null, id: id as string }]))).toMatchObject(refused)
    expect(() => durable.task(id as string, {}, () => 1)).toThrow(TypeError)
    expect(await model.ledger.list({})).toEqual([])
    await durable.close()
  })

  it.each(['-x', '.x', 'a b', 'a/b', 'ä', 'x'.repeat(129)])('may be %j, which no name may', async (id) => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const task = durable.task('t', {}, (_input: null, { taskId }) => taskId)
    expect(await task.run(null, { id })).toBe(id)
    expect(() => durable.task(id, {}, () => 1)).toThrow(TypeError)
    await durable.close()
  })
})

describe('what is kept', () => {
  it.each([
    ['input.a[1].b[0]', { a: [0, { b: [undefined] }] }],
    ['input.n', { n: Number.NaN }],
    ['input', Symbol('x')],
    ['input.at', { at: new Date(0) }],
    ['input.f', { f: () => 1 }],
    ['input[0]', [10n]],
    ['input.m', { m: new Map() }],
  ])('names %s, which is not JSON', async (place, input) => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const task = durable.task('t', {}, () => 1)
    const error = await rejection(task.run(input, { id: 'x' }))
    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).message).toContain(`${place} `)
    expect(await model.ledger.list({})).toEqual([])
    await durable.close()
  })

  it('names a hole in a list', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const holes: number[] = [1]
    holes[2] = 3
    const error = await rejection(durable.task('t', {}, () => 1).run(holes))
    expect((error as Error).message).toContain('input[1] ')
    await durable.close()
  })

  it('refuses a value that contains itself', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const round: Record<string, unknown> = {}
    round['self'] = round
    expect(await rejection(durable.task('t', {}, () => 1).run(round as never))).toBeInstanceOf(TypeError)
    await durable.close()
  })

  it('is a failure without retry when the result is not JSON, with its place', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    let calls = 0
    const task = durable.task('t', { attempts: 3, initialDelay: 0 }, () => {
      calls++
      const odd: unknown = new Set()
      return { list: [1, odd] }
    })
    const error = await rejection(task.run(null, { id: 'x' }))
    expect(error).toMatchObject({ stopReason: 'not_retryable', attempts: 1 })
    expect((error as Error).message).toContain('result.list[1]')
    expect(calls).toBe(1)
    await durable.close()
  })

  it('is null for a result of nothing', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    expect(await durable.task('t', {}, () => undefined).run(null)).toBe(null)
    await durable.close()
  })

  it.each([
    ['a string', 'why', 'why'],
    ['a number', 7, '7'],
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['an object', { message: 'm' }, 'm'],
    ['an object without a prototype', Object.create(null), ''],
    ['an object that throws', new Proxy({}, { get: () => expect.fail('read') }), ''],
  ])('is told of %s that is thrown', async (_what, thrown, said) => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const task = durable.task('t', { attempts: 2, initialDelay: 0 }, () => {
      throw thrown
    })
    const error = await rejection(task.run(null, { id: 'x' }))
    expect(error).toMatchObject({ name: 'RecordedFailureError', attempts: 2 })
    expect((error as Error).message).toContain(said)
    await durable.close()
  })
})

describe('a changed policy', () => {
  const old: PolicyInput = { attempts: 5, initialDelay: '10s', jitter: false }

  async function left(model: ProcessModel, failures: number): Promise<void> {
    const host = await model.open()
    const task = host.durable.task('t', old, () => {
      throw new Error('no')
    })
    await task.start(null, { id: 'x' })
    await turns()
    for (let made = 1; made < failures; made++) {
      await task.retryNow('x')
      await turns()
    }
    await host.durable.close()
  }

  it('is refused with what differs, field by field, and nothing is touched', async () => {
    const model = new ProcessModel()
    await left(model, 1)
    const before = await model.task('t', 'x')
    const { durable } = await model.open()
    let ran = 0
    durable.task('t', { attempts: 7, initialDelay: '10s', jitter: 'full' }, () => void ran++)
    const { skipped, waiting } = await durable.resume()
    await model.clock.advance(3_600_000)
    expect(waiting).toBe(0)
    expect(skipped).toMatchObject([{ scopeKind: 'task', scope: 't', id: 'x' }])
    const fields = skipped[0]?.changes.map(({ field }) => field)
    expect(fields).toEqual(expect.arrayContaining(['attempts', 'jitter']))
    expect(skipped[0]?.changes.find(({ field }) => field === 'attempts')).toMatchObject({ from: 5, to: 7 })
    expect(ran).toBe(0)
    expect(await model.task('t', 'x')).toEqual(before)
    await durable.close()
  })

  it('is told to who asks for the task', async () => {
    const model = new ProcessModel()
    await left(model, 1)
    const { durable } = await model.open()
    const asked = durable.task('t', { attempts: 7 }, () => 1).run(null, { id: 'x' })
    asked.catch(() => undefined)
    expect(await isSettled(asked)).toBe(true)
    const error = await rejection(asked)
    expect(error).toMatchObject({ name: 'TaskRefusedError', kind: 'policy_changed' })
    expect((error as { changes: unknown[] }).changes).not.toEqual([])
    await durable.close()
  })

  it('does not matter to a task that has ended', async () => {
    const model = new ProcessModel()
    const first = await model.open()
    await first.durable.task('t', old, () => 1).run(null, { id: 'x' })
    const second = await model.open()
    expect(await second.durable.task('t', { attempts: 7 }, () => 2).run(null, { id: 'x' })).toBe(1)
    await first.durable.close()
    await second.durable.close()
  })

  it('is taken when the program says so, keeps the counts, and that is recorded', async () => {
    const model = new ProcessModel()
    await left(model, 2)
    const { durable } = await model.open({ policyChange: 'accept' })
    const seen: number[] = []
    const task = durable.task('t', { attempts: 7, initialDelay: '10s', jitter: false }, (_input: null, { attempt }) => {
      seen.push(attempt)
      return 'done'
    })
    expect(await durable.resume()).toMatchObject({ waiting: 1, skipped: [] })
    await model.clock.advance(60_000)
    expect(seen).toEqual([3])
    expect(await task.status('x')).toMatchObject({ state: 'succeeded', attempts: 3 })
    expect((await model.ledger.events(0, 99)).map(({ type }) => type)).toContain('policy_accepted')
    await durable.close()
  })

  it('that allows fewer attempts than were made is exhausted, without another one', async () => {
    const model = new ProcessModel()
    await left(model, 3)
    const { durable } = await model.open({ policyChange: 'accept' })
    let ran = 0
    const task = durable.task('t', { attempts: 2, initialDelay: '10s' }, () => void ran++)
    await durable.resume()
    await model.clock.advance(3_600_000)
    expect(ran).toBe(0)
    expect(await task.status('x')).toMatchObject({ state: 'failed', stopReason: 'attempts_exhausted', attempts: 3 })
    await durable.close()
  })

  it('is none when only the order of its keys changed', async () => {
    const model = new ProcessModel()
    await left(model, 1)
    const { durable } = await model.open()
    durable.task('t', { jitter: false, initialDelay: '10s', attempts: 5 }, () => 1)
    expect(await durable.resume()).toMatchObject({ waiting: 1, skipped: [] })
    await durable.close()
  })
})
