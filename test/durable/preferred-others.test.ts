/** A retry is left to a process that has not failed the task, for a moment and not for ever. */
import { describe, expect, it } from 'vitest'
import type { Definition } from '../../packages/reprise/src/durable/definition.js'
import { defineQueue, queueTask } from '../../packages/reprise/src/durable/serve-queue.js'
import { serveQueue, wakeQueues } from '../../packages/reprise/src/internal/serve-queue.js'
import { type Host, turns, until, ProcessModel } from './process-model.js'

const define = (run: () => Promise<unknown>): Definition =>
  defineQueue({
    queue: 'work/eu',
    name: 'work',
    policy: { attempts: 20, initialDelay: '1s', backoff: 'fixed', jitter: false },
    prefersOthers: true,
    run,
  })

/** Fails every task, and counts how often it has. */
class Failing {
  failures = 0
  readonly definition = define(async () => {
    this.failures++
    throw new Error('not here')
  })
}

async function start(model: ProcessModel, { durable }: Host, { definition }: Failing): Promise<void> {
  const now = model.now
  await model.ledger.create([queueTask(definition, { run: 'a', id: 'x', input: null, dueAtMs: now, seed: 1 }, now)])
  wakeQueues(durable)
}

const status = async (model: ProcessModel): Promise<string> => (await model.task('a', 'x', 'run')).status

describe('a retry where others are preferred', () => {
  it('goes to a process that has not failed the task, though the one that has is free', async () => {
    const model = new ProcessModel()
    const [failing, results] = [new Failing(), [] as string[]]
    const helper = await model.open({ concurrency: 1 })
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    const helping = define(async () => {
      await held
      results.push('helped')
      return 'helped'
    })
    await serveQueue(helper.durable, helping)
    const now = model.now
    await model.ledger.create([queueTask(helping, { run: 'b', id: 'y', input: null, dueAtMs: now, seed: 1 }, now)])
    wakeQueues(helper.durable)
    await until(async () => (await model.task('b', 'y', 'run')).status === 'running', 'the helper to be busy')
    const host = await model.open()
    await serveQueue(host.durable, failing.definition)
    await start(model, host, failing)
    await until(async () => failing.failures === 1 && (await status(model)) === 'waiting', 'the first failure')
    await model.clock.advance(1000)
    await turns(60)
    expect([failing.failures, await status(model)]).toEqual([1, 'waiting'])
    release()
    await until(async () => (await status(model)) === 'succeeded', 'the help')
    expect([failing.failures, results]).toEqual([1, ['helped', 'helped']])
    await Promise.all([host.durable.close(), helper.durable.close()])
  })

  it('is taken after a second by the process that has failed it, if nobody else does', async () => {
    const model = new ProcessModel()
    const failing = new Failing()
    const silent = await model.open()
    await serveQueue(silent.durable, failing.definition)
    const host = await model.open()
    await serveQueue(host.durable, failing.definition)
    silent.line.cut()
    await start(model, host, failing)
    await until(async () => failing.failures === 1 && (await status(model)) === 'waiting', 'the first failure')
    await model.clock.advance(1000)
    await turns(60)
    expect(failing.failures).toBe(1)
    await model.clock.advance(1000)
    await until(async () => failing.failures === 2, 'the second attempt')
    await host.durable.close()
  })

  it('is taken at once where nobody else serves the queue', async () => {
    const model = new ProcessModel()
    const failing = new Failing()
    const host = await model.open()
    await serveQueue(host.durable, failing.definition)
    await start(model, host, failing)
    await until(async () => failing.failures === 1 && (await status(model)) === 'waiting', 'the first failure')
    await model.clock.advance(1000)
    await until(async () => failing.failures === 2, 'the second attempt')
    await host.durable.close()
  })
})
