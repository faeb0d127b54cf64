/** Attempts whose process was lost while they ran, and tasks that are out of attempts. */
import { describe, expect, it } from 'vitest'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import { RecordedFailureError } from '../../packages/reprise/src/durable/errors.js'
import { type Host, isSettled, rejection, turns, ProcessModel } from './process-model.js'

const POLICY = { attempts: 2, initialDelay: '1s', jitter: false } as const
const hang = (): Promise<never> => new Promise(() => undefined)

type Opened = Host & { task: TaskHandle<null, unknown> }

async function hanging(model: ProcessModel, onInterrupt: 'rerun' | 'fail' = 'rerun'): Promise<Opened> {
  const host = await model.open()
  const task = host.durable.task<null, unknown>('t', POLICY, hang, { onInterrupt })
  return { ...host, task }
}

async function lose(model: ProcessModel, times: number, onInterrupt: 'rerun' | 'fail' = 'rerun'): Promise<Opened> {
  let host = await hanging(model, onInterrupt)
  await host.task.start(null, { id: 'a' })
  for (let loss = 0; loss < times; loss++) {
    await turns()
    await host.kill()
    host = await hanging(model, onInterrupt)
    await host.durable.resume()
  }
  await turns()
  return host
}

const outcomes = async (model: ProcessModel): Promise<string[]> =>
  (await model.ledger.attempts({ scopeKind: 'task', scope: 't', id: 'a' })).map(
    (row) => `${row.attempt}.${row.execution} ${row.outcome}`,
  )

describe('an attempt that was interrupted', () => {
  it('runs again under its number, and is not charged', async () => {
    const model = new ProcessModel()
    const host = await lose(model, 2)
    expect(await outcomes(model)).toEqual(['1.1 interrupted', '1.2 interrupted'])
    expect(await host.task.status('a')).toMatchObject({ state: 'running', attempts: 1, totalDelayMs: 0 })
    expect((await model.task('t', 'a')).progress).toMatchObject({
      interruptions: 2,
      current: { attempt: 1, execution: 3 },
    })
    await host.durable.close()
  })

  it('counts as failed the third time, and has its two attempts however often it is killed', async () => {
    const model = new ProcessModel()
    let host = await lose(model, 3)
    expect(await host.task.status('a')).toMatchObject({ state: 'waiting', attempts: 1, totalDelayMs: 1000 })
    expect((await model.task('t', 'a')).progress).toMatchObject({ interruptions: 0, current: null })
    await model.clock.advance(1000)
    for (let loss = 0; loss < 3; loss++) {
      await host.kill()
      host = await hanging(model)
      await host.durable.resume()
      await turns()
    }
    expect(await host.task.status('a')).toMatchObject({
      state: 'failed',
      stopReason: 'attempts_exhausted',
      attempts: 2,
    })
    expect((await outcomes(model)).map((text) => text.slice(0, 3))).toEqual(['1.1', '1.2', '1.3', '2.1', '2.2', '2.3'])
    expect(await model.ledger.deadLetters()).toHaveLength(1)
    const error = await rejection(host.task.run(null, { id: 'a' }))
    expect(error).toMatchObject({ failure: { name: 'InterruptedError' } })
    await host.durable.close()
  })

  it('is not charged for an orderly stop, however many there are', async () => {
    const model = new ProcessModel()
    let host = await hanging(model)
    await host.task.start(null, { id: 'a' })
    for (let stop = 0; stop < 5; stop++) {
      await turns()
      await host.durable.close()
      expect(await model.task('t', 'a')).toMatchObject({ status: 'waiting', owner: null })
      host = await hanging(model)
      await host.durable.resume()
    }
    await turns()
    expect((await model.task('t', 'a')).progress).toMatchObject({
      interruptions: 0,
      current: { attempt: 1, execution: 6 },
    })
    await host.durable.close()
  })

  it('tells the operation that stops in order, and waits for nobody who does not listen', async () => {
    const model = new ProcessModel()
    const host = await model.open()
    let reason: unknown
    const task = host.durable.task('t', POLICY, (_input: null, { signal }) => {
      signal.addEventListener('abort', () => (reason = signal.reason))
      return hang()
    })
    const result = rejection(task.run(null, { id: 'a' }))
    await turns()
    await host.durable.close()
    expect(await result).toMatchObject({ kind: 'closed' })
    expect(reason).toMatchObject({ kind: 'closed' })
  })
})

describe('an attempt that must not run twice', () => {
  it('is left undecided, with no owner, no due time and the reason', async () => {
    const model = new ProcessModel()
    const host = await lose(model, 1, 'fail')
    expect(await model.task('t', 'a')).toMatchObject({ status: 'undecided', owner: null, dueAtMs: null })
    expect(await host.task.status('a')).toMatchObject({ state: 'undecided', stopReason: 'interrupted', attempts: 1 })
    expect(await model.ledger.deadLetters()).toMatchObject([{ generation: 1, stopReason: 'interrupted' }])
    await model.clock.advance(3_600_000)
    await host.durable.resume()
    await turns()
    expect(await outcomes(model)).toEqual(['1.1 interrupted'])
    await host.durable.close()
  })

  it('is done when somebody says so, and that is recorded', async () => {
    const model = new ProcessModel()
    const host = await lose(model, 1, 'fail')
    await host.task.decide('a', 'done')
    expect(await host.task.run(null, { id: 'a' })).toBe(null)
    const events = await model.ledger.events(0, 100)
    expect(events.find(({ type }) => type === 'decided')?.detail).toEqual({ answer: 'done' })
    expect(await rejection(host.task.decide('a', 'done'))).toMatchObject({ kind: 'finished' })
    await host.durable.close()
  })

  it('runs again under its number when somebody says so', async () => {
    const model = new ProcessModel()
    const host = await lose(model, 1, 'fail')
    await host.task.decide('a', 'rerun')
    await turns()
    expect((await model.task('t', 'a')).progress.current).toMatchObject({ attempt: 1, execution: 2 })
    await host.durable.close()
  })

  it('rejects who asks for its result, since nobody is going to make one', async () => {
    const model = new ProcessModel()
    const host = await lose(model, 1, 'fail')
    const asked = host.task.run(null, { id: 'a' })
    asked.catch(() => undefined)
    expect(await isSettled(asked)).toBe(true)
    expect(await rejection(asked)).toMatchObject({ stopReason: 'interrupted' })
    await host.durable.close()
  })
})

describe('a task that is out of attempts', () => {
  async function exhausted(model: ProcessModel): Promise<Opened & { runs: () => number }> {
    let runs = 0
    const host = await model.open()
    const task = host.durable.task<null, unknown>('t', POLICY, () => {
      runs++
      throw new RangeError('no')
    })
    await task.start(null, { id: 'a' })
    await model.clock.advance(1000)
    return { ...host, task, runs: () => runs }
  }

  it('stays so: it gives its recorded failure, and a resume runs nothing', async () => {
    const model = new ProcessModel()
    const host = await exhausted(model)
    expect(await host.durable.resume()).toMatchObject({ resumed: 0, waiting: 0 })
    const error = await rejection(host.task.run(null, { id: 'a' }))
    expect(error).toBeInstanceOf(RecordedFailureError)
    expect(error).toMatchObject({ name: 'RecordedFailureError', stopReason: 'attempts_exhausted', attempts: 2 })
    expect((error as Error).message).toContain('RangeError: no')
    expect(host.runs()).toBe(2)
    await host.durable.close()
  })

  it('gets a fresh set by a reset, which is recorded, and keeps history and key', async () => {
    const model = new ProcessModel()
    const host = await exhausted(model)
    const before = await model.task('t', 'a')
    await host.task.reset('a')
    await model.clock.advance(1000)
    const after = await model.task('t', 'a')
    expect(after).toMatchObject({ generation: 2, status: 'failed', correlationId: before.correlationId })
    expect(after.fence).toBeGreaterThan(before.fence)
    expect(host.runs()).toBe(4)
    expect(await host.task.status('a')).toMatchObject({ attempts: 2, totalDelayMs: 1000 })
    const rows = await model.ledger.attempts({ scopeKind: 'task', scope: 't', id: 'a' })
    expect(rows.map(({ generation, attempt }) => [generation, attempt])).toEqual([
      [1, 1],
      [1, 2],
      [2, 1],
      [2, 2],
    ])
    const letters = await model.ledger.deadLetters()
    expect(letters.map(({ generation, closed }) => [generation, closed?.by])).toEqual([
      [1, 'reset'],
      [2, undefined],
    ])
    expect((await model.ledger.events(0, 9)).map(({ type }) => type)).toContain('reset')
    await host.durable.close()
  })

  it('refuses a reset of what has succeeded, runs or waits', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const task = durable.task('fine', {}, () => 1)
    await task.run(null, { id: 'a' })
    expect(await rejection(task.reset('a'))).toMatchObject({ name: 'TaskRefusedError', kind: 'finished' })
    expect(await rejection(task.reset('nobody'))).toMatchObject({ kind: 'not_found' })
    await durable.close()
  })
})
