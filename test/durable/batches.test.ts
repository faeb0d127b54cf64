/** Tasks that are handed to attempts in batches: one place, one execution, one commit; each task decided by itself. */
import { describe, expect, it } from 'vitest'
import { faultsOfEnd, faultsOfPlace, faultsOfRows } from '../../packages/reprise/src/durable/task-check.js'
import type { BatchContext, BatchMember } from '../../packages/reprise/src/durable/batch.js'
import type { ItemQueue, ItemQueueOptions } from '../../packages/reprise/src/durable/item-queue.js'
import type { Changes, Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import type { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import type { TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import type { PolicyArgument } from '../../packages/reprise/src/core/policy.js'
import { withVerbs } from './with-verbs.js'
import { type Host, turns, until, ProcessModel } from './process-model.js'

type Members = readonly BatchMember<number>[]
type Perform = (members: Members, context: BatchContext) => unknown

const START = { id: 'r', kind: 'map', name: 'r', definition: null, fingerprint: '' }
const RETRIED = { attempts: 3, backoff: 'fixed', initialDelay: '100ms', jitter: false } as const

const ids = (members: Members): string[] => members.map(({ context }) => context.taskId)
const named = (count: number): { id: string; input: number }[] =>
  Array.from({ length: count }, (_, index) => ({ id: `i${index}`, input: index }))

interface Opened {
  readonly items: ItemQueue<number>
  /** The ids of each batch that began, in order. */
  readonly begun: string[][]
}

async function open(
  { durable }: Host,
  perform: Perform,
  {
    most = 4,
    count = 0,
    policy = {},
    ...options
  }: Partial<ItemQueueOptions<number, null>> & {
    count?: number
    policy?: PolicyArgument
  } & { most?: number } = {},
  places = 2,
): Promise<Opened> {
  const begun: string[][] = []
  const run =
    count > 0 ? await durable.runs.start(START) : await durable.runs.take('r', { policyChange: 'accept', force: true })
  const batch = {
    most,
    run: (members: Members, context: BatchContext) => {
      begun.push(ids(members))
      return perform(members, context)
    },
  }
  const refused = (): never => {
    throw new Error('a task of a batch was called by itself')
  }
  const items = run.items<number, null>('items', policy, refused, { most: places, batch, ...options })
  if (count > 0) await items.create(named(count))
  return { items, begun }
}

const tasksOf = (model: ProcessModel): Promise<readonly TaskRecord[]> => model.ledger.list({ queue: 'r/items' })

async function statusesOf(model: ProcessModel): Promise<Record<string, string>> {
  return Object.fromEntries((await tasksOf(model)).map(({ id, status }) => [id, status]))
}

const isOver = async (model: ProcessModel): Promise<boolean> =>
  (await tasksOf(model)).every(({ status }) => status === 'succeeded' || status === 'failed')

async function ended(model: ProcessModel): Promise<void> {
  for (let step = 0; step < 400 && !(await isOver(model)); step++) {
    await turns(4)
    await model.clock.advance(10)
  }
  expect(await isOver(model)).toBe(true)
  for (const task of await tasksOf(model)) {
    const rows = [...(await model.ledger.attempts(task))]
    const letters = (await model.ledger.deadLetters({ ...task, limit: 9 })).map(({ generation, closed }) => ({
      generation,
      isOpen: closed === undefined,
    }))
    const checked = {
      task,
      rows,
      hasCheckpoint: (await model.ledger.checkpoint(task)) !== undefined,
      letters,
      events: [],
      pastFaults: [],
    }
    expect([...faultsOfPlace(checked), ...faultsOfEnd(checked, true), ...faultsOfRows(checked, 9)]).toEqual([])
  }
}

const attemptsOf = async (model: ProcessModel, id: string): Promise<string[]> =>
  (await model.ledger.attempts({ scopeKind: 'run', scope: 'r', id })).map(
    ({ attempt, execution, outcome }) => `${attempt}.${execution} ${outcome}`,
  )

/** Every commit that ends tasks, as the ids of these. */
function endsSeen(): { ends: string[][]; wrap: (ledger: MemoryLedger) => Ledger } {
  const ends: string[][] = []
  const note = ({ tasks = [] }: Changes): void => {
    const over = tasks.filter(({ status }) => status === 'succeeded' || status === 'failed')
    if (over.length > 0) ends.push(over.map(({ id }) => id))
  }
  const wrap = (ledger: MemoryLedger): Ledger =>
    withVerbs(ledger, {
      transact: (keys, decide) =>
        ledger.transact(keys, (view) => {
          const decided = decide(view)
          note(decided)
          return decided
        }),
    })
  return { ends, wrap }
}

describe('a queue with batches', () => {
  it('hands up to N tasks to one execution and writes their ends in one commit', async () => {
    const { ends, wrap } = endsSeen()
    const model = new ProcessModel(wrap)
    const { items, begun } = await open(await model.open(), () => 'ok', { count: 10 })
    await items.open()
    await ended(model)
    expect(begun).toEqual([
      ['i0', 'i1', 'i2', 'i3'],
      ['i4', 'i5', 'i6', 'i7'],
      ['i8', 'i9'],
    ])
    expect(ends).toEqual(begun)
    expect((await tasksOf(model)).map(({ result }) => result)).toEqual(Array.from({ length: 10 }, () => 'ok'))
  })

  it('runs no more batches at a time than the queue has places', async () => {
    const model = new ProcessModel()
    let [running, most] = [0, 0]
    const perform = async (): Promise<void> => {
      most = Math.max(most, ++running)
      await turns(3)
      running--
    }
    const { items } = await open(await model.open(), perform, { count: 40 }, 3)
    await items.open()
    await ended(model)
    expect(most).toBe(3)
  })

  it('counts a batch as one start of the rate', async () => {
    const model = new ProcessModel()
    const times: number[] = []
    const perform = (): void => void times.push(model.now)
    const rate = { perSecond: 1, burst: 1 }
    const { items } = await open(await model.open(), perform, { count: 12, rate }, 9)
    const startMs = model.now
    await items.open()
    await ended(model)
    expect(times.map((at) => Math.round((at - startMs) / 1000))).toEqual([0, 1, 2])
  })

  it('takes a slot of the process for a batch, not for each of its tasks', async () => {
    const model = new ProcessModel()
    const { items, begun } = await open(await model.open({ concurrency: 1 }), () => turns(2), { count: 8 }, 5)
    await items.open()
    await ended(model)
    expect(begun.map((one) => one.length)).toEqual([4, 4])
  })

  it('fails a task that is reported alone, and retries it by its own policy', async () => {
    const model = new ProcessModel()
    let first = true
    const perform: Perform = (members, { report }) => {
      for (const { context } of members) report(context.taskId, { value: context.attempt })
      if (first) report('i1', { error: new Error('bad') })
      first = false
    }
    const { items, begun } = await open(await model.open(), perform, { count: 4, policy: RETRIED })
    await items.open()
    await ended(model)
    expect(begun).toEqual([['i0', 'i1', 'i2', 'i3'], ['i1']])
    expect(await attemptsOf(model, 'i1')).toEqual(['1.1 failure', '2.1 success'])
    expect((await tasksOf(model)).map(({ result }) => result)).toEqual([1, 2, 1, 1])
  })

  it('splits a batch that fails once, without a charge, and goes on with its tasks alone', async () => {
    const model = new ProcessModel()
    const perform: Perform = (members) => {
      if (ids(members).includes('i2')) throw new Error('one of them')
    }
    const options = { count: 4, policy: RETRIED, allot: { budget: 'retries', total: 50 } }
    const { items, begun } = await open(await model.open(), perform, options)
    await items.open()
    await ended(model)
    expect(begun).toEqual([['i0', 'i1', 'i2', 'i3'], ['i0'], ['i1'], ['i2'], ['i3'], ['i2'], ['i2']])
    expect(await statusesOf(model)).toEqual({ i0: 'succeeded', i1: 'succeeded', i2: 'failed', i3: 'succeeded' })
    expect(await attemptsOf(model, 'i0')).toEqual(['1.1 interrupted', '1.2 success'])
    expect(await attemptsOf(model, 'i2')).toEqual(['1.1 interrupted', '1.2 failure', '2.1 failure', '3.1 failure'])
    const [count] = (await model.ledger.gates()).filter(({ key }) => key === 'budget:retries')
    expect(count?.state).toMatchObject({ used: 2 })
  })

  it('keeps what was reported of a batch that failed, and splits only the others', async () => {
    const model = new ProcessModel()
    const perform: Perform = (members, { report }) => {
      if (members.length === 1) return
      report('i0', { value: 'done' })
      report('i1', { error: new Error('bad') })
      throw new Error('the batch broke')
    }
    const { items, begun } = await open(await model.open(), perform, { count: 4, policy: { attempts: 1 } })
    await items.open()
    await ended(model)
    expect(begun).toEqual([['i0', 'i1', 'i2', 'i3'], ['i2'], ['i3']])
    expect(await statusesOf(model)).toEqual({ i0: 'succeeded', i1: 'failed', i2: 'succeeded', i3: 'succeeded' })
  })

  it('does not split a batch whose error stops all the work', async () => {
    const model = new ProcessModel()
    const perform: Perform = () => {
      throw Object.assign(new Error('stop everything'), { halt: true, retryable: false })
    }
    const { items, begun } = await open(await model.open(), perform, { count: 4, policy: RETRIED })
    await items.open()
    await ended(model)
    expect(begun).toEqual([['i0', 'i1', 'i2', 'i3']])
  })

  it('ends a batch at the limit of an attempt, keeps what is reported then, and splits the others', async () => {
    const model = new ProcessModel()
    const perform: Perform = async (members, { signal, report }) => {
      if (members.length === 1) return
      signal.addEventListener('abort', () => report('i3', { value: 'in time' }))
      await new Promise<void>(() => undefined)
    }
    const policy = { attempts: 1, attemptTimeout: '2s' } as const
    const { items, begun } = await open(await model.open(), perform, { count: 4, policy })
    await items.open()
    await ended(model)
    expect(begun).toEqual([['i0', 'i1', 'i2', 'i3'], ['i0'], ['i1'], ['i2']])
    expect((await tasksOf(model)).map(({ result }) => result ?? null)).toEqual([null, null, null, 'in time'])
  })
})

describe('a batch whose process is lost', () => {
  it('runs again as the same batch, under its numbers and uncharged, with the checkpoint of its first task', async () => {
    const model = new ProcessModel()
    const first = await model.open()
    const hang: Perform = async (_members, { checkpoint }) => {
      await checkpoint('half')
      await new Promise<void>(() => undefined)
    }
    const { items } = await open(first, hang, { count: 8 })
    await items.open()
    await turns(20)
    await first.kill()
    const found: unknown[] = []
    const next = await open(await model.open(), (_members, { lastCheckpoint }) => {
      found.push(lastCheckpoint)
      return 'second'
    })
    await next.items.open()
    await ended(model)
    expect(next.begun).toEqual([
      ['i0', 'i1', 'i2', 'i3'],
      ['i4', 'i5', 'i6', 'i7'],
    ])
    expect(found).toEqual(Array.from({ length: 2 }, () => ({ value: 'half', attempt: 1, execution: 1 })))
    for (const { id } of named(8)) expect(await attemptsOf(model, id)).toEqual(['1.1 interrupted', '1.2 success'])
  })

  it('goes on with single tasks after the second loss, so that one that kills its process is charged alone', async () => {
    const model = new ProcessModel()
    let [host, done] = [await model.open(), false]
    let opened = await open(host, kills, { count: 3, policy: { attempts: 1 } }, 1)
    await opened.items.open()
    const begun: string[][] = []
    async function kills(members: Members): Promise<void> {
      if (!ids(members).includes('i1')) return
      done = true
      await new Promise<void>(() => undefined)
    }
    for (let losses = 0; losses < 3; losses++) {
      await until(() => done)
      done = false
      begun.push(...opened.begun)
      await host.kill()
      host = await model.open()
      opened = await open(host, kills, { policy: { attempts: 1 } }, 1)
      await opened.items.open()
    }
    await ended(model)
    expect(begun).toEqual([['i0', 'i1', 'i2'], ['i0', 'i1', 'i2'], ['i0'], ['i1']])
    expect(await statusesOf(model)).toEqual({ i0: 'succeeded', i1: 'failed', i2: 'succeeded' })
    expect(await attemptsOf(model, 'i2')).toEqual(['1.1 interrupted', '1.2 interrupted', '1.3 success'])
  })

  it('is stopped with its first task, and goes on without a task that rides and was cancelled', async () => {
    const model = new ProcessModel()
    const host = await model.open()
    let release: () => void = () => undefined
    const perform: Perform = (members, { signal }) =>
      members.length < 3
        ? undefined
        : new Promise<void>((resolve, reject) => {
            release = resolve
            signal.addEventListener('abort', () => reject(new Error('aborted')))
          })
    const { items, begun } = await open(host, perform, { count: 4 })
    await items.open()
    await turns(10)
    const handle = host.durable['tasks'].handle(items['definition'])
    await handle.cancel('i2')
    release()
    await turns(10)
    expect(await statusesOf(model)).toEqual({ i0: 'succeeded', i1: 'succeeded', i2: 'cancelled', i3: 'succeeded' })
    await items.create([4, 5, 6].map((input) => ({ id: `i${input}`, input })))
    host.durable['worker'].wake()
    await turns(10)
    await handle.cancel('i4')
    await turns(20)
    expect(begun.slice(1)).toEqual([
      ['i4', 'i5', 'i6'],
      ['i5', 'i6'],
    ])
    expect(await attemptsOf(model, 'i5')).toEqual(['1.1 interrupted', '1.2 success'])
  })

  it('keeps results that were reported when the process stops in order, and runs the others again', async () => {
    const model = new ProcessModel()
    const host = await model.open()
    const perform: Perform = async (_members, { report }) => {
      report('i1', { value: 'done' })
      report('i2', { error: new Error('because it was stopped') })
      await new Promise<void>(() => undefined)
    }
    const { items } = await open(host, perform, { count: 3, policy: { attempts: 1 } })
    await items.open()
    await turns(10)
    await items.close()
    expect(await statusesOf(model)).toEqual({ i0: 'waiting', i1: 'succeeded', i2: 'waiting' })
    const second = await open(await model.open(), () => null)
    await second.items.open()
    await ended(model)
    expect(second.begun).toEqual([['i0', 'i2']])
    expect(await attemptsOf(model, 'i2')).toEqual(['1.1 interrupted', '1.2 success'])
  })
})
