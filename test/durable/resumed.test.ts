/**
 * Which tasks are resumed: those that had failed when they were taken up again from a lost owner, by a resume of their run
 * or by a program that was started again. Only for them the time budget is a date too.
 */
import { describe, expect, it } from 'vitest'
import type { Durable } from '../../packages/reprise/src/durable/durable.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import { type Host, type HostOptions, turns, ProcessModel } from './process-model.js'

/** The first failure is at the start, the wait takes 10 s, the budget expires after 12 s. */
const POLICY = { attempts: 4, initialDelay: '10s', jitter: false, backoff: 'fixed', maxTotalDelay: '12s' } as const

interface Opened extends Host {
  readonly task: TaskHandle<null, unknown>
}

interface Work {
  /** What each execution does, in order; the last is repeated. */
  readonly acts: (() => unknown)[]
}

const fail = (): never => {
  throw new Error('no')
}
const hang = (): Promise<never> => new Promise(() => undefined)
const succeed = (): string => 'done'

async function open(model: ProcessModel, { acts }: Work, options: HostOptions = {}): Promise<Opened> {
  const host = await model.open(options)
  const act = (): unknown => (acts.length > 1 ? acts.shift() : acts[0])?.()
  const task = host.durable.task<null, unknown>('t', POLICY, () => act())
  await host.durable.resume()
  return { ...host, task }
}

const stateOf = async (model: ProcessModel): Promise<{ status: string; resumed: boolean }> => {
  const { status, progress } = await model.task('t', 'a')
  return { status, resumed: progress.retry.resumed }
}

/** A task that has failed once and waits, with the process that chose the wait. */
async function waiting(model: ProcessModel, work: Work): Promise<Opened> {
  work.acts.unshift(fail)
  const first = await open(model, work)
  await first.task.start(null, { id: 'a' })
  await turns()
  expect(await stateOf(model)).toEqual({ status: 'waiting', resumed: false })
  await model.clock.advance(1000)
  return first
}

async function pass(model: ProcessModel, ms: number): Promise<void> {
  await model.clock.advance(ms)
  await turns()
}

describe('a task that has failed and waits', () => {
  it.each<[string, (host: Opened, model: ProcessModel, work: Work) => Promise<Durable>, boolean]>([
    [
      'by a program that was killed and started again',
      async (host, model, work) => {
        await host.kill()
        return (await open(model, work)).durable
      },
      true,
    ],
    [
      'by a program that was stopped in order and started again',
      async (host, model, work) => {
        await host.durable.close()
        return (await open(model, work)).durable
      },
      true,
    ],
    [
      'by another process, which was there when the wait was chosen, after the first has left in order',
      async (host) => {
        await host.durable.close()
        return host.durable
      },
      false,
    ],
    [
      'by a process that has met the first one, which then leaves in order',
      async (host, model, work) => {
        const { durable } = await open(model, work)
        await host.durable.close()
        return durable
      },
      false,
    ],
  ])('and is taken up %s', async (how, change, resumed) => {
    const model = new ProcessModel()
    const work: Work = { acts: [hang] }
    const isShared = how.includes('which was there')
    const other = isShared ? await open(model, work, { concurrency: 1 }) : undefined
    if (other !== undefined) await pass(model, 1)
    const host = await waiting(model, work)
    const durable = await change(host, model, work)
    await pass(model, 9000)
    // It would look by itself within a second, which does not pass here.
    await other?.durable.resume()
    await turns()
    expect(await stateOf(model)).toEqual({ status: 'running', resumed })
    if (durable !== host.durable) await durable.close()
    await other?.durable.close()
  })

  it('is not resumed by a process that comes after the first has left, while another serves its queue', async () => {
    const model = new ProcessModel()
    const work: Work = { acts: [hang] }
    // It serves the queue all the time, and has no room for the task.
    const busy = await model.open({ concurrency: 1 })
    busy.durable.task<null, unknown>('t', POLICY, () => hang())
    const full = busy.durable.task('full', {}, hang)
    await busy.durable.resume()
    await full.start(null, { id: 'b' })
    await pass(model, 1)
    const host = await waiting(model, work)
    await host.durable.close()
    const late = await open(model, work)
    await pass(model, 9000)
    expect(await stateOf(model)).toEqual({ status: 'running', resumed: false })
    await late.durable.close()
    await busy.durable.close()
  })

  it('is resumed, and its expiry compared with the time of taking it up, not with that of the claim', async () => {
    const model = new ProcessModel()
    const work: Work = { acts: [succeed] }
    const host = await waiting(model, work)
    await host.kill()
    const next = await model.open({ concurrency: 1 })
    const full = next.durable.task('full', {}, () => new Promise((resolve) => (release = resolve)))
    let release: (value: null) => void = () => undefined
    await full.start(null, { id: 'b' })
    await turns()
    next.durable.task<null, unknown>('t', POLICY, () => succeed())
    await next.durable.resume()
    // Due after 10 s, claimed after 30: behind the task that runs.
    await pass(model, 29_000)
    expect(await stateOf(model)).toMatchObject({ status: 'waiting' })
    release(null)
    await turns()
    expect(await stateOf(model)).toEqual({ status: 'succeeded', resumed: true })
    await next.durable.close()
  })

  it('is ended without another attempt if it is taken up after the expiry', async () => {
    const model = new ProcessModel()
    const work: Work = { acts: [succeed] }
    const host = await waiting(model, work)
    await host.kill()
    await pass(model, 20_000)
    const { durable } = await open(model, work)
    await turns()
    expect(await model.task('t', 'a')).toMatchObject({ status: 'failed', stopReason: 'retry_budget_exhausted' })
    await durable.close()
  })
})

describe('a task that has not failed', () => {
  it('is not resumed when it is taken from a lost owner, and has its whole budget from its first failure on', async () => {
    const model = new ProcessModel()
    const work: Work = { acts: [hang, fail, succeed] }
    const first = await open(model, work)
    await first.task.start(null, { id: 'a' })
    await turns()
    await pass(model, 60_000)
    await first.kill()
    const second = await open(model, work)
    await turns()
    expect(await stateOf(model)).toEqual({ status: 'waiting', resumed: false })
    await pass(model, 10_000)
    expect(await stateOf(model)).toEqual({ status: 'succeeded', resumed: false })
    await second.durable.close()
  })
})

describe('a step of a run', () => {
  it('that waits is resumed with its run, however orderly the run was stopped', async () => {
    const model = new ProcessModel()
    const run = { id: 'r', kind: 'k', name: 'r', definition: null, fingerprint: 'f' }
    const first = await model.open()
    const acts = [fail, hang]
    const act = (): unknown => acts.shift()?.()
    const begun = await first.durable.runs.start(run)
    const ended = begun.step('s', POLICY, act).run()
    ended.catch(() => undefined)
    await turns()
    // A process that has met the first one, and would not resume what that one passes on.
    const second = await model.open()
    await begun.leave()
    await first.durable.close()
    await pass(model, 1000)
    const taken = await second.durable.runs.take('r')
    void taken
      .step('s', POLICY, act)
      .run()
      .catch(() => undefined)
    await turns()
    const { status, progress } = await model.task('r', 's', 'run')
    expect({ status, resumed: progress.retry.resumed }).toEqual({ status: 'waiting', resumed: true })
    await second.durable.close()
  })
})
