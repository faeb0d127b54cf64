/** `onInterrupt: { verify }`: the program looks whether an interrupted attempt happened. */
import { describe, expect, it } from 'vitest'
import type { VerifyFunction } from '../../packages/reprise/src/durable/definition.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import { deferred, type Host, rejection, turns, ProcessModel } from './process-model.js'

const POLICY = { attempts: 2, initialDelay: '1s', jitter: false, attemptTimeout: '5s' } as const
type Verify = VerifyFunction<null, unknown>
type Opened = Host & { task: TaskHandle<null, unknown>; runs: string[] }

const hang = (): Promise<never> => new Promise(() => undefined)

async function open(model: ProcessModel, verify: Verify, operation: () => unknown = hang): Promise<Opened> {
  const host = await model.open()
  const runs: string[] = []
  const task = host.durable.task<null, unknown>(
    't',
    POLICY,
    (_input, { attempt, execution }) => {
      runs.push(`${attempt}.${execution}`)
      return operation()
    },
    { onInterrupt: { verify } },
  )
  return { ...host, task, runs }
}

/** A process runs the first attempt and is lost; another one takes over. */
async function takenOver(model: ProcessModel, verify: Verify, operation?: () => unknown): Promise<Opened> {
  const first = await open(model, verify)
  await first.task.start(null, { id: 'a' })
  await turns()
  await first.kill()
  const heir = await open(model, verify, operation)
  await heir.durable.resume()
  await turns()
  return heir
}

const rows = async (model: ProcessModel): Promise<string[]> =>
  (await model.ledger.attempts({ scopeKind: 'task', scope: 't', id: 'a' })).map(
    (row) => `${row.attempt}.${row.execution} ${row.outcome}`,
  )

describe('a look at an interrupted attempt', () => {
  it('that finds it done ends the task with its result, and runs nothing', async () => {
    const model = new ProcessModel()
    const seen: unknown[] = []
    const host = await takenOver(model, (input, { attempt, execution, idempotencyKey }) => {
      seen.push([input, attempt, execution, idempotencyKey])
      return { done: { receipt: 7 } }
    })
    expect(await host.task.run(null, { id: 'a' })).toEqual({ receipt: 7 })
    expect(host.runs).toEqual([])
    expect(seen).toEqual([[null, 1, 1, 't/a']])
    expect(await rows(model)).toEqual(['1.1 interrupted'])
    const events = await model.ledger.events(0, 100)
    expect(events.at(-1)).toMatchObject({ type: 'decided', detail: { answer: 'done', by: 'verify' } })
    await host.durable.close()
  })

  it('that says rerun runs it again under its number', async () => {
    const model = new ProcessModel()
    const host = await takenOver(
      model,
      () => 'rerun',
      () => 'fine',
    )
    expect(await host.task.run(null, { id: 'a' })).toBe('fine')
    expect(host.runs).toEqual(['1.2'])
    expect(await rows(model)).toEqual(['1.1 interrupted', '1.2 success'])
    await host.durable.close()
  })

  it.each<[string, Verify, string | undefined]>([
    ['does not know', () => 'unknown', undefined],
    [
      'throws',
      () => {
        throw new Error('no answer')
      },
      'no answer',
    ],
    [
      'answers something else',
      () => 'perhaps' as never,
      `the answer of verify is wrong: "perhaps" is not 'rerun', 'unknown' or { done: result }`,
    ],
    [
      'finds what is not JSON',
      () => ({ done: new Date(0) }),
      'done is an object of class Date: what is kept must be JSON',
    ],
  ])('that %s leaves it to a person, and the event says why', async (_what, verify, why) => {
    const model = new ProcessModel()
    const host = await takenOver(model, verify)
    expect(await host.task.status('a')).toMatchObject({ state: 'undecided', stopReason: 'interrupted' })
    expect(await rejection(host.task.run(null, { id: 'a' }))).toMatchObject({
      stopReason: 'interrupted',
      message:
        'Task t/a is undecided: an attempt was interrupted, and may have happened or not. ' +
        `Find out, then call decide("a", 'done', result) or decide("a", 'rerun')`,
    })
    const decided = (await model.ledger.events(0, 100)).find(({ type }) => type === 'decided')
    expect(decided).toBeDefined()
    expect((decided?.detail as { failure?: { message: string } } | undefined)?.failure?.message).toBe(why)
    expect(host.runs).toEqual([])
    expect((await host.durable.resume()).undecided).toEqual([{ scopeKind: 'task', scope: 't', id: 'a' }])
    await host.task.decide('a', 'rerun')
    await turns()
    // A person has decided: nobody looks again.
    expect(host.runs).toEqual(['1.2'])
    await host.durable.close()
  })

  it('that takes longer than an attempt may leaves it to a person', async () => {
    const model = new ProcessModel()
    const host = await takenOver(model, () => hang())
    expect(await host.task.status('a')).toMatchObject({ state: 'running' })
    await model.clock.advance(5000)
    await turns()
    expect(await host.task.status('a')).toMatchObject({ state: 'undecided' })
    await host.durable.close()
  })

  it('is made again by the next process if its own is lost, and left to a person the third time', async () => {
    const model = new ProcessModel()
    let host = await takenOver(model, () => hang())
    for (let loss = 0; loss < 2; loss++) {
      await host.kill()
      host = await open(model, () => hang())
      await host.durable.resume()
      await turns()
    }
    expect(await rows(model)).toEqual(['1.1 interrupted'])
    expect(await host.task.status('a')).toMatchObject({ state: 'undecided', attempts: 1 })
    await host.task.decide('a', 'rerun')
    await turns()
    expect(host.runs).toEqual(['1.2'])
    await host.durable.close()
  })

  it('is made after every loss, and the third that did not happen counts as failed', async () => {
    const model = new ProcessModel()
    let host = await takenOver(model, () => 'rerun')
    for (let loss = 0; loss < 2; loss++) {
      await host.kill()
      host = await open(model, () => 'rerun')
      await host.durable.resume()
      await turns()
    }
    expect(await rows(model)).toEqual(['1.1 interrupted', '1.2 interrupted', '1.3 interrupted', '1.4 interrupted'])
    expect(await host.task.status('a')).toMatchObject({
      state: 'waiting',
      attempts: 1,
      totalDelayMs: 1000,
      lastFailure: { name: 'InterruptedError' },
    })
    expect((await host.durable.resume()).refused).toEqual([])
    await host.durable.close()
  })

  it('is made again after an orderly stop, which does not count', async () => {
    const model = new ProcessModel()
    let host = await takenOver(model, () => hang())
    for (let stop = 0; stop < 4; stop++) {
      await host.durable.close()
      expect(await model.task('t', 'a')).toMatchObject({ status: 'waiting', progress: { interruptions: 1 } })
      host = await open(model, () => hang())
      await turns()
      expect(await model.task('t', 'a')).toMatchObject({ status: 'running', progress: { unverified: true } })
    }
    expect(await rows(model)).toEqual(['1.1 interrupted'])
    await host.durable.close()
  })

  it('that is cancelled leaves one row of the attempt', async () => {
    const model = new ProcessModel()
    const host = await takenOver(model, () => hang())
    await host.task.cancel('a')
    await turns()
    expect(await host.task.status('a')).toMatchObject({ state: 'cancelled' })
    expect(await rows(model)).toEqual(['1.1 interrupted'])
    await host.durable.close()
  })

  it('is not made of an attempt that has ended', async () => {
    const model = new ProcessModel()
    const end = deferred<string>()
    let looks = 0
    const host = await open(
      model,
      () => {
        looks++
        return 'unknown'
      },
      () => end.promise,
    )
    const result = host.task.run(null, { id: 'a' })
    await turns()
    end.resolve('fine')
    expect(await result).toBe('fine')
    expect(looks).toBe(0)
    await host.durable.close()
  })

  it('must be a function', async () => {
    const host = await new ProcessModel().open()
    for (const onInterrupt of ['verify', { verify: 'x' }, null, 5]) {
      expect(() => host.durable.task('t', {}, hang, { onInterrupt: onInterrupt as never })).toThrow(
        /options of the task t: onInterrupt(\.verify)?: /,
      )
    }
    await host.durable.close()
  })
})
