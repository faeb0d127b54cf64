/** The interrupt rule `charge`: a lost process counts as a failed attempt, and its result may still come. */
import { describe, expect, it } from 'vitest'
import type { Allotment } from '../../packages/reprise/src/durable/allotment.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import { faultsIn } from './task-faults.js'
import { deferred, type Host, turns, until, ProcessModel } from './process-model.js'

const POLICY = { attempts: 3, initialDelay: '10s', jitter: false, backoff: 'fixed', retryOn: ['timeout'] } as const

const KEY = { scopeKind: 'task', scope: 'task', id: 'a' } as const

interface Process {
  readonly host: Host
  readonly task: TaskHandle<null, string>
  readonly end: ReturnType<typeof deferred<string>>
}

/** A process whose attempts end when the test says so. */
async function open(model: ProcessModel, allot?: Allotment): Promise<Process> {
  const host = await model.open()
  const end = deferred<string>()
  end.promise.catch(() => undefined)
  const options = { onInterrupt: 'charge', ...(allot && { allot }) } as const
  const task = host.durable.task('task', POLICY, (_input: null) => end.promise, options)
  return { host, task, end }
}

async function lose(model: ProcessModel, allot?: Allotment): Promise<{ first: Process; second: Process }> {
  const first = await open(model, allot)
  await first.task.start(null, { id: 'a' })
  await until(async () => (await model.task('task', 'a')).status === 'running')
  await first.host.expire()
  const second = await open(model, allot)
  await second.host.durable.resume()
  return { first, second }
}

const rowsOf = async (model: ProcessModel): Promise<string[]> =>
  (await model.ledger.attempts(KEY)).map(({ attempt, execution, outcome, failure }) =>
    `${attempt}.${execution} ${outcome} ${failure?.name ?? ''}`.trim(),
  )

describe('an attempt whose process is lost, with the rule charge', () => {
  it('counts as failed, and the next one waits for its time', async () => {
    const model = new ProcessModel()
    const { second } = await lose(model)
    const task = await model.task('task', 'a')
    expect(task).toMatchObject({ status: 'waiting', owner: null, fence: 1, dueAtMs: model.now + 10_000 })
    expect(task.progress).toMatchObject({ current: null, lastFailure: { name: 'InterruptedError' } })
    expect(task.progress.retry).toMatchObject({ failures: 1, launched: 1, resumed: false })
    expect(await rowsOf(model)).toEqual(['1.1 interrupted InterruptedError'])
    expect(await faultsIn(model.ledger, KEY)).toEqual([])
    await model.clock.advance(10_000)
    await until(async () => (await model.task('task', 'a')).status === 'running')
    const running = await model.task('task', 'a')
    expect(running).toMatchObject({ fence: 2, progress: { current: { attempt: 2, execution: 1 } } })
    expect(running.progress.lost).toBeUndefined()
    second.end.resolve('done')
    await until(async () => (await model.task('task', 'a')).status === 'succeeded')
    expect(await faultsIn(model.ledger, KEY)).toEqual([])
  })

  it('uses up the attempts of the policy', async () => {
    const model = new ProcessModel()
    const first = await open(model)
    await first.task.start(null, { id: 'a' })
    let process = first
    for (let lives = 1; lives <= 3; lives++) {
      await until(async () => (await model.task('task', 'a')).status === 'running')
      await process.host.kill()
      process = await open(model)
      await process.host.durable.resume()
      await model.clock.advance(10_000)
    }
    const ended = { status: 'failed', stopReason: 'attempts_exhausted' }
    expect(await model.task('task', 'a')).toMatchObject(ended)
    expect(await rowsOf(model)).toHaveLength(3)
    expect(await faultsIn(model.ledger, KEY)).toEqual([])
  })

  it('is charged to the allotment, which may deny the next one', async () => {
    const model = new ProcessModel()
    const { first } = await lose(model, { budget: 'all', total: 0, reasons: { total: 'job_budget_exhausted' } })
    const task = await model.task('task', 'a')
    expect(task).toMatchObject({ status: 'failed', stopReason: 'budget_denied' })
    expect(task.progress).toMatchObject({
      budgetReason: 'job_budget_exhausted',
      lastFailure: { name: 'InterruptedError' },
    })
    // What is over stays so.
    first.end.resolve('late')
    await turns()
    expect(await model.task('task', 'a')).toEqual(task)
  })

  it('is not charged for an orderly stop', async () => {
    const model = new ProcessModel()
    const first = await open(model)
    await first.task.start(null, { id: 'a' })
    await until(async () => (await model.task('task', 'a')).status === 'running')
    await first.host.durable.stop()
    const task = await model.task('task', 'a')
    expect(task).toMatchObject({ status: 'waiting', dueAtMs: model.now, progress: { retry: { failures: 0 } } })
    expect(await rowsOf(model)).toEqual(['1.1 interrupted'])
  })
})

describe('a late result of a process that was taken for lost', () => {
  it('counts as a second execution of the number, as long as nobody has claimed the task', async () => {
    const model = new ProcessModel()
    const { first, second } = await lose(model, { budget: 'all', total: 5 })
    first.end.resolve('late')
    await until(async () => (await model.task('task', 'a')).status === 'succeeded')
    expect(await model.task('task', 'a')).toMatchObject({ result: 'late', fence: 1, progress: { allotted: 1 } })
    expect(await rowsOf(model)).toEqual(['1.1 interrupted InterruptedError', '1.2 success'])
    expect(await faultsIn(model.ledger, KEY)).toEqual([])
    // The ten seconds were chosen for an attempt that does not come.
    expect((await model.ledger.attempts(KEY)).map(({ delayBeforeMs }) => delayBeforeMs)).toEqual([0, 0])
    expect(await second.task.run(null, { id: 'a' })).toBe('late')
  })

  it('is not taken once the task is cancelled, and nothing is left of the lost execution', async () => {
    const model = new ProcessModel()
    const { first, second } = await lose(model)
    await second.task.cancel('a')
    const cancelled = await model.task('task', 'a')
    expect(cancelled).not.toHaveProperty('progress.lost')
    first.end.resolve('late')
    await turns()
    expect(await model.task('task', 'a')).toEqual(cancelled)
  })

  it('ends the task if it is a failure that is not retried', async () => {
    const model = new ProcessModel()
    const { first } = await lose(model)
    first.end.reject(new TypeError('bad input'))
    await until(async () => (await model.task('task', 'a')).status === 'failed')
    expect(await model.task('task', 'a')).toMatchObject({
      stopReason: 'not_retryable',
      progress: { lastFailure: { message: 'bad input' } },
    })
    expect(await rowsOf(model)).toEqual(['1.1 interrupted InterruptedError', '1.2 failure TypeError'])
    expect(await faultsIn(model.ledger, KEY)).toEqual([])
  })

  it('changes nothing if it is a failure that is retried: that is decided', async () => {
    const model = new ProcessModel()
    const { first } = await lose(model)
    const before = await model.task('task', 'a')
    first.end.reject(Object.assign(new Error('slow'), { code: 'ETIMEDOUT' }))
    await turns()
    expect(await model.task('task', 'a')).toEqual(before)
    expect(await rowsOf(model)).toHaveLength(1)
  })

  it('is not written once the next attempt has begun', async () => {
    const model = new ProcessModel()
    const { first } = await lose(model)
    first.host.line.hold()
    await model.clock.advance(10_000)
    await until(async () => (await model.task('task', 'a')).status === 'running')
    const before = await model.task('task', 'a')
    first.end.resolve('late')
    first.host.line.release()
    await turns()
    expect(await model.task('task', 'a')).toEqual(before)
  })
})

it('an attempt that was charged as lost is aborted when its own process begins the next one', async () => {
  const model = new ProcessModel()
  const { durable, ...host } = await model.open()
  const signals: AbortSignal[] = []
  const run = (_input: null, { signal }: { readonly signal: AbortSignal }): Promise<string> => {
    signals.push(signal)
    return new Promise(() => undefined)
  }
  const options = { onInterrupt: 'charge' } as const
  await durable.task('task', POLICY, run, options).start(null, { id: 'a' })
  await until(() => signals.length === 1)
  await host.expire()
  const other = await model.open()
  other.durable.task('task', POLICY, run, options)
  await other.durable.resume()
  await other.durable.close()
  await model.clock.advance(10_000)
  await until(() => signals.length === 2)
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
  expect(await model.task('task', 'a')).toMatchObject({ status: 'running', fence: 2 })
  await durable.close()
  expect(await faultsIn(model.ledger, KEY)).toEqual([])
})
