/** I6: a task that failed or is undecided has one open dead letter, and no other task has one. */
import { describe, expect, it } from 'vitest'
import type { DeadLetter } from 'reprise/durable'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import { type Host, turns, ProcessModel } from './process-model.js'
import { watched } from './watched-ledger.js'

const POLICY = { attempts: 1 } as const

/** The letters as `generation reason`, a closed one with what closed it. */
const lettersIn = async ({ ledger }: ProcessModel): Promise<string[]> =>
  (await ledger.deadLetters()).map(
    ({ generation, stopReason, closed }: DeadLetter) => `${generation} ${stopReason}${closed ? `, ${closed.by}` : ''}`,
  )

interface Opened extends Host {
  readonly task: TaskHandle<null, unknown>
  /** What its function does next. */
  act: () => unknown
}

async function open(model: ProcessModel): Promise<Opened> {
  const host = await model.open()
  const opened = { act: (): unknown => undefined }
  const task = host.durable.task<null, unknown>('t', POLICY, () => opened.act(), { onInterrupt: 'fail' })
  return Object.assign(opened, host, { task })
}

const fail = (): never => {
  throw new Error('no')
}

/** A task whose process was lost while it ran, and that a person must decide. */
async function undecided(model: ProcessModel): Promise<Opened> {
  const lost = await open(model)
  lost.act = () => new Promise(() => undefined)
  await lost.task.start(null, { id: 'a' })
  await turns()
  await lost.kill()
  const heir = await open(model)
  await heir.durable.resume()
  return heir
}

describe('a task that fails', () => {
  it('has a letter, which a reset closes, and one more if it fails again', async () => {
    const faults: string[] = []
    const model = new ProcessModel((ledger) => watched(ledger, faults))
    const host = await open(model)
    host.act = fail
    await host.task.run(null, { id: 'a' }).catch(() => undefined)
    expect(await lettersIn(model)).toEqual(['1 attempts_exhausted'])
    await host.task.reset('a')
    expect(await lettersIn(model)).toEqual(['1 attempts_exhausted, reset'])
    await turns()
    expect(await lettersIn(model)).toEqual(['1 attempts_exhausted, reset', '2 attempts_exhausted'])
    host.act = () => 1
    await host.task.reset('a')
    await host.task.run(null, { id: 'a' })
    expect(await lettersIn(model)).toEqual(['1 attempts_exhausted, reset', '2 attempts_exhausted, reset'])
    await host.durable.close()
    expect(faults).toEqual([])
  })
})

describe('a task that is undecided', () => {
  it('has a letter, which is closed by whoever says that it is done', async () => {
    const model = new ProcessModel()
    const host = await undecided(model)
    expect(await lettersIn(model)).toEqual(['1 interrupted'])
    await host.task.decide('a', 'done')
    expect(await lettersIn(model)).toEqual(['1 interrupted, decided'])
    await host.durable.close()
  })

  it('has it opened again if it is run again, and fails', async () => {
    const model = new ProcessModel()
    const host = await undecided(model)
    host.act = fail
    await host.task.decide('a', 'rerun')
    expect(await lettersIn(model)).toEqual(['1 interrupted, decided'])
    await turns()
    expect(await lettersIn(model)).toEqual(['1 attempts_exhausted'])
    await host.durable.close()
  })

  it.each(['cancel', 'reset'] as const)('has it closed by a %s', async (change) => {
    const model = new ProcessModel()
    const host = await undecided(model)
    host.act = () => new Promise(() => undefined)
    await host.task[change]('a')
    expect(await lettersIn(model)).toEqual([`1 interrupted, ${change === 'cancel' ? 'cancelled' : 'reset'}`])
    await host.durable.close()
  })
})

describe('a task that was cancelled', () => {
  it('has no letter, nor one when it is reset', async () => {
    const model = new ProcessModel()
    const host = await open(model)
    host.act = () => new Promise(() => undefined)
    await host.task.start(null, { id: 'a' })
    await turns()
    await host.task.cancel('a')
    await host.task.reset('a')
    expect(await lettersIn(model)).toEqual([])
    await host.durable.close()
  })
})
