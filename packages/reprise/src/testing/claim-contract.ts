/**
 * Cases of the contract about claims: the order within a queue, and turns between queues. Imports the ledger's types and
 * samples.
 */
import type { DueRequest, Ledger, NewTask, QueueRef } from '../ledger/ledger.js'
import { type QueueState, queueKey } from '../ledger/queue-limit.js'
import { keyIn, type TaskKey, type TaskProgress, type TaskRecord } from '../ledger/records.js'
import { type Check, same } from './contract-checks.js'
import { newTask, sampleTask } from './sample-task.js'

const FRESH = sampleTask().progress
const RETRY: TaskProgress = { ...FRESH, retry: { ...FRESH.retry, launched: 1, failures: 1 } }
const INTERRUPTED: TaskProgress = { ...RETRY, current: { attempt: 2, startedAtMs: 1, execution: 1 } }

const refOf = (queue: string): QueueRef => ({ queue, policyHash: 'p1' })

/** Ids of what was claimed, in order; what is claimed runs from then on. */
function claim(ledger: Ledger, request: DueRequest): Promise<readonly string[]> {
  return ledger.claim(request, (task) => ({
    tasks: [{ ...task, status: 'running', owner: 'me', dueAtMs: null, fence: task.fence + 1 }],
    result: task.id,
  }))
}

/** The same for queues with batches: ids by place. */
async function claimBatches(ledger: Ledger, request: DueRequest): Promise<readonly (readonly string[])[]> {
  const places = new Map<number, string[]>()
  let first = ''
  const claimed = await ledger.claim(request, (task, _view, { place, isFirst }) => {
    if (isFirst) first = task.id
    const current = { attempt: 1, startedAtMs: 1, execution: 1, batch: first }
    const progress = { ...task.progress, current }
    return {
      tasks: [{ ...task, status: 'running', owner: 'me', dueAtMs: null, fence: task.fence + 1, progress }],
      result: { id: task.id, place },
    }
  })
  for (const { id, place } of claimed) places.set(place, [...(places.get(place) ?? []), id])
  return [...places.values()]
}

/** Tasks of a queue, all due at the same time. */
function many(queue: string, count: number, dueAtMs = 1): NewTask[] {
  return Array.from({ length: count }, (_, index) => newTask({ id: `${queue}${index}`, queue, dueAtMs }))
}

export const CLAIM_CASES: Readonly<Record<string, Check>> = {
  'claims interrupted attempts first, then retries, then fresh tasks, each by due time and id': async (
    ledger,
    setTime,
  ) => {
    await ledger.create([
      newTask({ id: 'fresh-b', dueAtMs: 1 }),
      newTask({ id: 'fresh-c', dueAtMs: 0 }),
      newTask({ id: 'fresh-a', dueAtMs: 1 }),
      newTask({ id: 'retry-late', dueAtMs: 60, progress: RETRY }),
      newTask({ id: 'retry', dueAtMs: 50, progress: RETRY }),
      newTask({ id: 'retry-not-due', dueAtMs: 5000, progress: RETRY }),
      newTask({ id: 'interrupted', dueAtMs: 90, progress: INTERRUPTED }),
    ])
    setTime(100)
    const queues = [refOf('mail')]
    same(await ledger.nextDueAtMs(queues), 0)
    same(await claim(ledger, { queues, limit: 2 }), ['interrupted', 'retry'])
    same(await claim(ledger, { queues, limit: 3 }), ['retry-late', 'fresh-c', 'fresh-a'])
    same(await claim(ledger, { queues, limit: 9 }), ['fresh-b'])
    same(await ledger.nextDueAtMs(queues), 5000)
  },

  'claims a retry before a backlog, also one that became a retry since': async (ledger, setTime) => {
    await ledger.create(many('mail', 300))
    setTime(10)
    const queues = [refOf('mail')]
    const [first = ''] = await claim(ledger, { queues, limit: 1 })
    const key = { scopeKind: 'task', scope: 'mail', id: first } as const
    await ledger.transact({ tasks: [key] }, (view) => {
      const task = view.task(key) ?? sampleTask()
      const next = { ...task, status: 'waiting', owner: null, dueAtMs: 60, progress: RETRY } as const
      return { tasks: [next], result: 0 }
    })
    same((await claim(ledger, { queues, limit: 2 })).includes(first), false)
    setTime(60)
    same((await claim(ledger, { queues, limit: 2 }))[0], first)
  },

  'claims and finds only tasks of the ranks that are asked for': async (ledger, setTime) => {
    await ledger.create([
      newTask({ id: 'fresh', dueAtMs: 1 }),
      newTask({ id: 'retry', dueAtMs: 2, progress: RETRY }),
      newTask({ id: 'interrupted', dueAtMs: 3, progress: INTERRUPTED }),
      newTask({ id: 'other', queue: 'print', dueAtMs: 9 }),
    ])
    setTime(100)
    const of = (...ranks: number[]): QueueRef[] => [{ ...refOf('mail'), ranks }]
    same(await Promise.all([[0], [1], [2], [0, 1], [0, 1, 2], []].map((ranks) => ledger.nextDueAtMs(of(...ranks)))), [
      3,
      2,
      1,
      2,
      1,
      null,
    ])
    same(await claim(ledger, { queues: [...of(0), refOf('print')], limit: 9 }), ['interrupted', 'other'])
    same(await claim(ledger, { queues: of(0, 2), limit: 9 }), ['fresh'])
    same(await claim(ledger, { queues: of(0, 2), limit: 9 }), [])
    const except = [keyIn({ scopeKind: 'task', scope: 'mail' }, 'nobody')]
    same(await claim(ledger, { queues: of(1), limit: 9, except }), ['retry'])
  },

  'lets queues take turns in the order in which they are named': async (ledger, setTime) => {
    await ledger.create([...many('a', 20, 1), ...many('b', 20, 2), ...many('c', 1, 500)])
    setTime(1000)
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(refOf) as [QueueRef, QueueRef, QueueRef, QueueRef]
    same(await claim(ledger, { queues: [d, a, b, c], limit: 1 }), ['a0'])
    same(await claim(ledger, { queues: [b, c, a], limit: 1 }), ['b0'])
    same(await claim(ledger, { queues: [a, b, c], limit: 2 }), ['a1', 'b1'])
    same(await claim(ledger, { queues: [b, c, a], limit: 4 }), ['b10', 'c0', 'a10', 'b11'])
    same(await claim(ledger, { queues: [a, b, c], limit: 4 }), ['a11', 'b12', 'a12', 'b13'])
  },

  'takes all that is due within a few claims, though queues differ in length': async (ledger, setTime) => {
    await ledger.create([...many('a', 30), ...many('b', 2), ...many('c', 7)])
    setTime(10)
    const queues = ['a', 'b', 'c'].map(refOf)
    const taken: string[] = []
    for (let claims = 0; claims < 4; claims++) taken.push(...(await claim(ledger, { queues, limit: 30 })))
    same(new Set(taken).size, 39)
  },

  'gives no more tasks of a limited queue an owner than the request says, and tells that it is full': async (
    ledger,
    setTime,
  ) => {
    await ledger.create([...many('a', 9), ...many('b', 9), running('a', 'theirs')])
    setTime(10)
    const queues = [{ ...refOf('a'), most: 3 }, refOf('b')]
    const gates = [queueKey('a')]
    const full: string[] = []
    const onFull = (queue: string): void => void full.push(queue)
    same(await claim(ledger, { queues, limit: 2, gates, onFull }), ['a0', 'b0'])
    same(full, [])
    const more = await claim(ledger, { queues, limit: 6, gates, onFull })
    same(
      more.filter((id) => id.startsWith('a')),
      ['a1'],
    )
    same(full, ['a'])
    same(await claim(ledger, { queues: queues.slice(0, 1), limit: 6, gates, onFull }), [])
    same(full, ['a', 'a'])
    // Parked tasks have an owner too; one that waits again has none.
    await change(ledger, 'a0', { status: 'parked', dueAtMs: 99 })
    same(await claim(ledger, { queues: queues.slice(0, 1), limit: 6, gates }), [])
    await change(ledger, 'a0', { status: 'succeeded', owner: null })
    await change(ledger, 'a1', { status: 'waiting', owner: null, dueAtMs: 5000 })
    same(await claim(ledger, { queues: queues.slice(0, 1), limit: 6, gates }), ['a2', 'a3'])
    const except = [keyIn({ scopeKind: 'task', scope: 'mail' }, 'a4')]
    await change(ledger, 'a2', { status: 'succeeded', owner: null })
    same(await claim(ledger, { queues: queues.slice(0, 1), limit: 6, gates, except }), ['a5'])
  },

  'gives no more tasks an owner than a limited queue has places, though tasks are excepted': async (
    ledger,
    setTime,
  ) => {
    await ledger.create([...many('a', 9), newTask({ id: 'retry', queue: 'a', dueAtMs: 1, progress: RETRY })])
    setTime(10)
    const except = ['x', 'y', 'a0'].map((id) => keyIn({ scopeKind: 'task', scope: 'mail' }, id))
    const request = { queues: [{ ...refOf('a'), most: 2 }], limit: 8, gates: [queueKey('a')], except }
    same(await claim(ledger, request), ['retry', 'a1'])
    same(await claim(ledger, request), [])
  },

  'limits a queue by its gate, which decides in place of the request': async (ledger, setTime) => {
    await ledger.create(many('a', 9))
    setTime(10)
    const request = { queues: [{ ...refOf('a'), most: 1 }], limit: 9, gates: [queueKey('a')] }
    await setState(ledger, { most: 3 })
    same(await claim(ledger, request), ['a0', 'a1', 'a2'])
    await setState(ledger, { most: 2 })
    same(await claim(ledger, request), [])
    await setState(ledger, { most: 9, paused: true })
    same(await claim(ledger, request), [])
    await setState(ledger, { most: 9, closed: true })
    same(await claim(ledger, request), [])
    await setState(ledger, { most: 4, paused: false, closed: false })
    same(await claim(ledger, request), ['a3'])
    await setState(ledger, {})
    same((await claim(ledger, request)).length, 5)
  },

  'claims tasks of a queue with batches together, each batch in one place': async (ledger, setTime) => {
    await ledger.create([
      ...many('a', 7),
      ...many('b', 3, 2),
      newTask({ id: 'alone', queue: 'a', dueAtMs: 1, progress: { ...FRESH, alone: true } }),
      newTask({ id: 'retry', queue: 'a', dueAtMs: 1, progress: RETRY }),
    ])
    setTime(10)
    const queues = [{ ...refOf('a'), most: 3, batch: { most: 4 } }, refOf('b')]
    const request = { queues, limit: 4, gates: [queueKey('a')] }
    same(await claimBatches(ledger, request), [['retry', 'a0', 'a1', 'a2'], ['b0'], ['a3', 'a4', 'a5', 'a6'], ['b1']])
    same(await claimBatches(ledger, request), [['alone'], ['b2']])
    await ledger.create(many('c', 4).map((one) => ({ ...one, task: { ...one.task, queue: 'a' } })))
    same(await claimBatches(ledger, request), [])
    // Those that ride hold no place; the first of the batch does.
    await change(ledger, 'a0', { status: 'succeeded', owner: null })
    same(await claimBatches(ledger, request), [])
    await change(ledger, 'retry', { status: 'succeeded', owner: null })
    same(await claimBatches(ledger, request), [['c0', 'c1', 'c2', 'c3']])
  },

  'claims what was interrupted as a batch together again, its first task first': async (ledger, setTime) => {
    const part = (id: string, batch: string, dueAtMs: number): NewTask => {
      const current = { attempt: 1, startedAtMs: 1, execution: 1, batch }
      return newTask({ id, queue: 'a', dueAtMs, progress: { ...FRESH, current } })
    }
    await ledger.create([
      part('a3', 'a3', 5),
      part('a1', 'a3', 1),
      part('b1', 'b2', 2),
      part('b2', 'b2', 3),
      part('a2', 'a3', 4),
      newTask({ id: 'fresh', queue: 'a', dueAtMs: 1 }),
      newTask({ id: 'looked', queue: 'a', dueAtMs: 1, progress: { ...INTERRUPTED, unverified: true } }),
    ])
    setTime(10)
    const queues = [{ ...refOf('a'), most: 9, batch: { most: 5 } }]
    same(await claimBatches(ledger, { queues, limit: 9, gates: [queueKey('a')] }), [
      ['a3', 'a1', 'a2'],
      ['looked'],
      ['b2', 'b1'],
      ['fresh'],
    ])
  },

  'keeps tasks apart that must not be in one batch': async (ledger, setTime) => {
    const named = (id: string, input: string): NewTask => newTask({ id, queue: 'a', dueAtMs: 1, input })
    await ledger.create([named('a0', 'x'), named('a1', 'y'), named('a2', 'x'), named('a3', 'z')])
    setTime(10)
    const apart = ({ input }: TaskRecord): string => String(input)
    const queues = [{ ...refOf('a'), batch: { most: 9, apart } }]
    same(await claimBatches(ledger, { queues, limit: 9 }), [
      ['a0', 'a1'],
      ['a2', 'a3'],
    ])
  },

  'never exceeds the limit of a queue with batches, however many claim at once': async (ledger, setTime) => {
    await ledger.create(many('a', 60))
    setTime(10)
    const queues = [{ ...refOf('a'), most: 5, batch: { most: 4 } }]
    const request = { queues, limit: 2, gates: [queueKey('a')] }
    const claims = await Promise.all(Array.from({ length: 12 }, () => claimBatches(ledger, request)))
    same(claims.flat().length, 5)
    same(new Set(claims.flat(2)).size, 20)
  },

  'never exceeds the limit of a queue, however many claim at once': async (ledger, setTime) => {
    await ledger.create(many('a', 40))
    setTime(10)
    const request = { queues: [{ ...refOf('a'), most: 7 }], limit: 5, gates: [queueKey('a')] }
    const claims = await Promise.all(Array.from({ length: 12 }, () => claim(ledger, request)))
    same(new Set(claims.flat()).size, 7)
    same(claims.flat().length, 7)
  },
}

async function change(ledger: Ledger, id: string, changes: Partial<TaskRecord>): Promise<void> {
  const key: TaskKey = { scopeKind: 'task', scope: 'mail', id }
  await ledger.transact({ tasks: [key] }, (view) => ({
    tasks: [{ ...(view.task(key) as TaskRecord), ...changes }],
    result: 0,
  }))
}

async function setState(ledger: Ledger, state: Pick<QueueState, 'most' | 'paused' | 'closed'>): Promise<void> {
  const key = queueKey('a')
  await ledger.transact({ tasks: [], gates: [key] }, () => ({
    gates: [{ key, kind: 'queue', state: { ...state } }],
    result: 0,
  }))
}

function running(queue: string, owner: string): NewTask {
  return newTask({ id: `running-${owner}`, queue, status: 'running', owner, dueAtMs: null })
}
