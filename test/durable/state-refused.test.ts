/** What a ledger says that cannot be: refused, every fault listed, nothing touched. */
import { describe, expect, it } from 'vitest'
import type { TaskProgress, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import type { RepriseEvent } from '../../packages/reprise/src/core/event.js'
import { withVerbs } from './with-verbs.js'
import { rejection, turns, ProcessModel } from './process-model.js'

const POLICY = { attempts: 3, initialDelay: '1s', jitter: false } as const
const KEY = { scopeKind: 'task', scope: 't', id: 'a' } as const

type Change = (task: TaskRecord) => TaskRecord

const withRetry =
  (change: Partial<TaskProgress['retry']>): Change =>
  (task) => ({ ...task, progress: { ...task.progress, retry: { ...task.progress.retry, ...change } } })

/** A task that has failed once and waits, changed behind everybody's back. */
async function spoiled(change: Change): Promise<ProcessModel> {
  const model = new ProcessModel()
  const host = await model.open()
  const task = host.durable.task('t', POLICY, () => {
    throw new Error('no')
  })
  await task.start(null, { id: 'a' })
  await turns()
  await host.durable.close()
  await model.ledger.transact({ tasks: [KEY] }, (view) => ({
    tasks: [change(view.task(KEY) as TaskRecord)],
    result: undefined,
  }))
  return model
}

async function reopened(model: ProcessModel) {
  const events: RepriseEvent[] = []
  const host = await model.open({ observers: [{ onEvent: (event) => events.push(event) }] })
  let runs = 0
  const task = host.durable.task<null, unknown>('t', POLICY, () => ++runs)
  return { ...host, task, events, runs: () => runs }
}

describe('a stored state that cannot be', () => {
  it.each<[string, Change, string[]]>([
    [
      'more attempts than allowed',
      withRetry({ launched: 4, failures: 4 }),
      [
        '4 attempts were made of 3 allowed',
        'the history ends with attempt 1, and the state says 4',
        'the history has 1 failures, and the state 4',
      ],
    ],
    ['a negative delay', withRetry({ totalDelayMs: -1, lastDelayMs: -1 }), ['totalDelayMs is -1', 'lastDelayMs is -1']],
    [
      'a last delay above the sum',
      withRetry({ lastDelayMs: 2000 }),
      ['the last delay is longer than all delays together'],
    ],
    ['a bad time', withRetry({ expiresAtMs: -5 }), ['expiresAtMs is -5, which is not a time']],
    [
      'a time beyond time',
      withRetry({ deadlineAtMs: 9e15 }),
      ['deadlineAtMs is 9000000000000000, which is not a time'],
    ],
    [
      'a history that disagrees',
      withRetry({ launched: 2, failures: 2 }),
      ['the history ends with attempt 1, and the state says 2', 'the history has 1 failures, and the state 2'],
    ],
    [
      'half an attempt',
      withRetry({ failures: 0.5 }),
      ['failures is 0.5', 'the history has 1 failures, and the state 0.5'],
    ],
    ['a broken seed', withRetry({ seed: 'x' as never }), ['the seed is x']],
    [
      'a newer version',
      withRetry({ version: 9 as never }),
      ['the retry state has version 9, and this program knows 1: update this program'],
    ],
    [
      'an attempt in flight that was never begun',
      (task) => ({ ...task, progress: { ...task.progress, current: { attempt: 2, execution: 0, startedAtMs: -1 } } }),
      ['attempt 2 is in flight, and 1 were begun', 'its execution is 0', 'it started at -1, which is not a time'],
    ],
  ])('is refused, named and left as it is: %s', async (_what, change, faults) => {
    const model = await spoiled(change)
    const before = await model.task('t', 'a')
    const { durable, task, events, runs } = await reopened(model)
    const { refused, waiting } = await durable.resume()
    expect(refused).toMatchObject([{ ...KEY, faults }])
    expect(waiting).toBe(0)
    await model.clock.advance(60_000)
    await turns()
    expect(runs()).toBe(0)
    expect(await model.task('t', 'a')).toEqual(before)
    const told = events.filter(({ type }) => type === 'state_refused')
    expect(told).toMatchObject([{ taskId: 'a', faults }])
    const error = await rejection(task.run(null, { id: 'a' }))
    expect(error).toMatchObject({ name: 'TaskRefusedError', kind: 'state_refused' })
    for (const fault of faults) expect((error as Error).message).toContain(fault)
    await durable.close()
  })

  it('is passed over by a process that never resumes, and others are not', async () => {
    const model = await spoiled(withRetry({ totalDelayMs: -1 }))
    const { durable, task, events } = await reopened(model)
    await model.clock.advance(60_000)
    await turns()
    expect(await task.run(null, { id: 'b' })).toBe(1)
    expect(events.filter(({ type }) => type === 'state_refused')).toHaveLength(1)
    await durable.close()
  })

  it('is looked at again by a resume, after somebody has mended it', async () => {
    const model = await spoiled(withRetry({ totalDelayMs: -1 }))
    const { durable, task } = await reopened(model)
    expect((await durable.resume()).refused).toHaveLength(1)
    await model.ledger.transact({ tasks: [KEY] }, (view) => ({
      tasks: [withRetry({ totalDelayMs: 1000, lastDelayMs: 1000 })(view.task(KEY) as TaskRecord)],
      result: undefined,
    }))
    expect((await durable.resume()).refused).toEqual([])
    await model.clock.advance(1000)
    expect(await task.run(null, { id: 'a' })).toBe(1)
    await durable.close()
  })

  it('is not taken from a lost owner, whose row stays', async () => {
    const model = new ProcessModel()
    const lost = await model.open()
    await lost.durable.task('t', POLICY, () => new Promise<never>(() => undefined)).start(null, { id: 'a' })
    await turns()
    await lost.kill()
    await model.ledger.transact({ tasks: [KEY] }, (view) => ({
      tasks: [withRetry({ launched: 9 })(view.task(KEY) as TaskRecord)],
      result: undefined,
    }))
    const before = await model.task('t', 'a')
    const { durable } = await reopened(model)
    expect(await durable.resume()).toMatchObject({ resumed: 0 })
    expect(await model.task('t', 'a')).toEqual(before)
    expect((await model.ledger.owners()).some(({ id }) => id === lost.line.owner?.id)).toBe(true)
    await durable.close()
  })

  it('without a retry state is an older one: it gets a fresh state, and that is recorded', async () => {
    const model = await spoiled((task) => ({ ...task, progress: {} as never }))
    const { durable, task } = await reopened(model)
    expect(await durable.resume()).toMatchObject({ migrated: 1, waiting: 1, refused: [] })
    await model.clock.advance(5000)
    expect(await task.run(null, { id: 'a' })).toBe(1)
    expect((await model.ledger.events(0, 10)).map(({ type }) => type)).toContain('migrated')
    await durable.close()
  })

  it('without a retry state runs in a process that never resumes', async () => {
    const model = await spoiled((task) => ({ ...task, progress: {} as never }))
    const { durable, task } = await reopened(model)
    await model.clock.advance(5000)
    await turns()
    expect(await task.status('a')).toMatchObject({ state: 'succeeded', attempts: 1 })
    await durable.close()
  })

  it('that was shortened on record is no fault', async () => {
    const model = new ProcessModel()
    const policy = { attempts: 30, initialDelay: '1s', backoff: 'fixed', jitter: false } as const
    let host = await model.open()
    const fail = (): never => {
      throw new Error('no')
    }
    await host.durable.task('t', policy, fail).start(null, { id: 'a' })
    for (let attempt = 0; attempt < 15; attempt++) {
      await turns()
      await model.clock.advance(1000)
    }
    await host.durable.close()
    expect(await model.ledger.compact({ maxHistoryPerTask: 10, limit: 10 })).toMatchObject({ tasks: 1 })
    host = await model.open()
    host.durable.task('t', policy, fail)
    expect(await host.durable.resume()).toMatchObject({ refused: [], waiting: 1 })
    await host.durable.close()
  })
})

describe('a task that another process goes on with while its history is read', () => {
  it('is not taken for one that cannot be', async () => {
    let meanwhile = async (): Promise<void> => undefined
    const model: ProcessModel = new ProcessModel((ledger) =>
      withVerbs(ledger, {
        attemptCounts: async (keys) => {
          await meanwhile()
          return ledger.attemptCounts(keys)
        },
      }),
    )
    const fail = (): never => {
      throw new Error('no')
    }
    const host = await model.open()
    await host.durable.task('t', POLICY, fail).start(null, { id: 'a' })
    await turns()
    const other = await reopened(model)
    meanwhile = async () => {
      meanwhile = async () => undefined
      await model.clock.advance(1000)
      await turns()
    }
    expect(await other.durable.resume()).toMatchObject({ refused: [] })
    expect((await model.task('t', 'a')).progress.retry.launched).toBe(2)
    expect(other.events.filter(({ type }) => type === 'state_refused')).toEqual([])
    await host.durable.close()
    await other.durable.close()
  })
})
