/** At most so many tasks of a name at a time, over processes that share a ledger in memory. */
import { expect, it } from 'vitest'
import { queueKey } from '../../packages/reprise/src/ledger/queue-limit.js'
import type { GateRecord } from '../../packages/reprise/src/ledger/records.js'
import { deferred, turns, until, ProcessModel } from './process-model.js'

/** A function that counts how many calls of it run at once, in all processes. */
function counted(): { run: (id: string) => Promise<null>; running: Set<string>; peak: () => number; end: () => void } {
  const running = new Set<string>()
  let peak = 0
  let ending = false
  const gates = new Map<string, () => void>()
  const run = async (id: string): Promise<null> => {
    running.add(id)
    peak = Math.max(peak, running.size)
    if (!ending) await new Promise<void>((resolve) => gates.set(id, resolve))
    running.delete(id)
    return null
  }
  const end = (): void => {
    ending = true
    for (const go of gates.values()) go()
  }
  return { run, running, peak: () => peak, end }
}

const tasks = (count: number): { id: string; input: string }[] =>
  Array.from({ length: count }, (_, index) => ({ id: `t${index}`, input: `t${index}` }))

it('no more tasks run at once than the limit, in all processes together, and every place is used again', async () => {
  const model = new ProcessModel()
  const { run, running, peak, end } = counted()
  const hosts = [await model.open(), await model.open(), await model.open()]
  const handles = hosts.map(({ durable }) => durable.task<string, null>('work', {}, run, { most: 4 }))
  await handles[0]?.startAll(tasks(30))
  await turns()
  expect(running.size).toBe(4)
  end()
  await until(async () => (await model.ledger.list({ statuses: ['succeeded'] })).length === 30, 'the end of all')
  expect(peak()).toBe(4)
  for (const { durable } of hosts) await durable.close()
})

it('a task that is asked for by run waits for a place as well', async () => {
  const model = new ProcessModel()
  const { durable } = await model.open()
  const first = deferred()
  const started: string[] = []
  const work = durable.task<string, string>(
    'work',
    {},
    async (id) => {
      started.push(id)
      if (id === 'a') await first.promise
      return id
    },
    { most: 1 },
  )
  const [a, b] = [work.run('a', { id: 'a' }), work.run('b', { id: 'b' })]
  await turns()
  expect(started).toEqual(['a'])
  first.resolve()
  expect(await Promise.all([a, b])).toEqual(['a', 'b'])
  await durable.close()
})

it('a full queue keeps no other queue waiting, nor what is due later in one', async () => {
  const model = new ProcessModel()
  const { durable } = await model.open()
  const { run, end } = counted()
  const full = durable.task<string, null>('full', {}, run, { most: 1 })
  const started: string[] = []
  const policy = { attempts: 2, backoff: 'fixed', initialDelay: '300ms', jitter: false } as const
  const other = durable.task<string, null>('other', policy, (id, { attempt }) => {
    started.push(`${id}${attempt}`)
    if (attempt === 1) throw new Error('not yet')
    return null
  })
  await full.startAll(tasks(50))
  await other.start('o', { id: 'o' })
  await turns()
  expect(started).toEqual(['o1'])
  // Neither a poll nor a start brings it about, but the timer for the time it is due.
  await model.clock.advance(300)
  await turns()
  expect(started).toEqual(['o1', 'o2'])
  end()
  await until(async () => (await model.ledger.list({ statuses: ['succeeded'] })).length === 51, 'the end of all')
  await durable.close()
})

it('tasks of a lost process count until they are taken over, and then one of them is no obstacle to itself', async () => {
  const model = new ProcessModel()
  const first = counted()
  const lost = await model.open()
  await lost.durable.task<string, null>('work', {}, first.run, { most: 1 }).startAll(tasks(3))
  await turns()
  expect([...first.running]).toEqual(['t0'])
  lost.line.cut()
  const second = counted()
  const { durable } = await model.open()
  durable.task<string, null>('work', {}, second.run, { most: 1 })
  await turns()
  expect(second.running.size).toBe(0)
  await lost.kill()
  await durable.resume()
  await until(() => second.running.size === 1, 'the takeover')
  // The interrupted attempt first.
  expect([...second.running]).toEqual(['t0'])
  second.end()
  await until(async () => (await model.ledger.list({ statuses: ['succeeded'] })).length === 3, 'the end of all')
  expect(second.peak()).toBe(1)
  await durable.close()
})

it('a cancelled task gives its place to the next', async () => {
  const model = new ProcessModel()
  const { durable } = await model.open()
  const { run, running, end } = counted()
  const work = durable.task<string, null>('work', {}, run, { most: 1 })
  await work.startAll(tasks(2))
  await turns()
  await work.cancel('t0')
  await until(() => running.has('t1'), 'the start of the next')
  end()
  await durable.close()
})

it('the row of the ledger decides: a limit changed by hand stays, one changed in the program is written', async () => {
  const model = new ProcessModel()
  const limitOf = async (): Promise<unknown> =>
    (await model.ledger.gates()).find(({ key }) => key === queueKey('work'))?.state
  const open = async (most: number): Promise<ReturnType<typeof counted>> => {
    const calls = counted()
    const { durable } = await model.open()
    const work = durable.task<string, null>('work', {}, calls.run, { most })
    await turns()
    await work.startAll(tasks(20))
    await turns()
    closing.push(() => (calls.end(), durable.close()))
    return calls
  }
  const closing: (() => Promise<void>)[] = []
  const one = await open(2)
  expect(await limitOf()).toEqual({ most: 2 })
  expect(one.running.size).toBe(2)
  await model.ledger.transact({ tasks: [], gates: [queueKey('work')] }, (view) => ({
    gates: [{ ...(view.gate(queueKey('work')) as GateRecord), state: { most: 5 }, manualRevision: 1 }],
    result: 0,
  }))
  const two = await open(2)
  expect(await limitOf()).toEqual({ most: 5 })
  expect(one.running.size + two.running.size).toBe(5)
  const three = await open(7)
  expect(await limitOf()).toEqual({ most: 7 })
  expect(one.running.size + two.running.size + three.running.size).toBe(7)
  for (const close of closing) await close()
})

it.each([0, 1.5, -1, '8', Number.NaN])('a limit of %s is refused', async (most) => {
  const model = new ProcessModel()
  const { durable } = await model.open()
  expect(() => durable.task('work', {}, () => null, { most: most as number })).toThrow(
    /most.*a whole number of 1 or more/,
  )
  await durable.close()
})
