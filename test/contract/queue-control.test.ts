/** Queues that are limited, paced and paused by hand while programs work on them, over every kind of store. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  continueQueue,
  listQueues,
  pauseQueue,
  setQueueMost,
  setQueueRate,
} from '../../packages/reprise/src/durable/queue-control.js'
import type { Durable } from '../../packages/reprise/src/durable/durable.js'
import type { TaskOptions } from '../../packages/reprise/src/durable/task-options.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { until } from '../gates/until.js'
import { type SharedStore, THREE_STORES } from './three-stores.js'

const ACTOR = { reason: 'the night shift', by: 'ada' }

describe.each(THREE_STORES)('a queue in $name', { timeout: 60_000 }, ({ make }) => {
  let store: SharedStore
  let operator: Ledger
  const programs: Durable[] = []
  const running = new Map<string, () => void>()
  let isHolding = true

  beforeEach(async () => {
    store = await make()
    operator = await store.open()
    isHolding = true
  })
  afterEach(async () => {
    for (const go of running.values()) go()
    running.clear()
    for (const durable of programs.splice(0)) await durable.close()
    await operator.close()
    await store.remove()
  })

  async function program(options: TaskOptions<string, string>, attempts = 1): Promise<TaskHandle<string, string>> {
    const durable = await openDurable(await store.open(), { lease: '3s' })
    programs.push(durable)
    const work = async (id: string, { attempt }: { readonly attempt: number }): Promise<string> => {
      if (isHolding) await new Promise<void>((resolve) => running.set(id, resolve))
      running.delete(id)
      if (attempt < attempts) throw new Error('again')
      return id
    }
    return durable.task<string, string>('work', { attempts, initialDelay: 0 }, work, options)
  }

  const tasks = (count: number): { id: string; input: string }[] =>
    Array.from({ length: count }, (_, index) => ({ id: `t${index}`, input: `t${index}` }))
  const count = async (status: 'running' | 'succeeded'): Promise<number> =>
    (await operator.list({ queue: 'work', statuses: [status] })).length
  const untilRunning = (wanted: number): Promise<unknown> =>
    until(async () => ((await count('running')) === wanted ? true : undefined), `${wanted} running tasks`)
  const untilDone = (wanted: number): Promise<unknown> =>
    until(async () => ((await count('succeeded')) === wanted ? true : undefined), `${wanted} ended tasks`)
  /** All programs have polled at least twice: they renew their leases no more often than that. */
  const polled = async (): Promise<void> => {
    const leases = new Map((await operator.owners()).map(({ id, leaseUntilMs }) => [id, leaseUntilMs]))
    await until(async () => {
      const owners = await operator.owners()
      return owners.every(({ id, leaseUntilMs }) => leaseUntilMs > (leases.get(id) ?? 0) + 2500) || undefined
    }, 'a poll of all programs')
  }
  const endAll = (): void => {
    isHolding = false
    for (const go of running.values()) go()
  }

  it('takes another limit over at once, in all programs, and says who changed it and why', async () => {
    const first = await program({ most: 2 })
    await program({ most: 2 })
    await first.startAll(tasks(12))
    await untilRunning(2)
    const change = await setQueueMost(operator, 'work', { most: 5, ...ACTOR })
    expect(change).toMatchObject({
      gate: 'queue:work',
      action: 'limit',
      before: { most: 2 },
      after: { most: 5 },
      ...ACTOR,
    })
    await untilRunning(5)
    await setQueueMost(operator, 'work', { most: null, ...ACTOR })
    await untilRunning(12)
    const events = await operator.events(0, 10, { scopeKind: '', scope: '' })
    expect(events.map(({ type }) => type)).toEqual(['gate_changed', 'gate_changed'])
    expect(events[0]?.detail).toEqual(change)
    endAll()
    await untilDone(12)
  })

  it('starts nothing while it is paused, not even a retry that is due at once, and goes on with its limit', async () => {
    const handle = await program({ most: 2 }, 2)
    await program({ most: 2 }, 2)
    await handle.startAll(tasks(6))
    await untilRunning(2)
    await pauseQueue(operator, 'work', ACTOR)
    expect(await listQueues(operator)).toEqual([{ queue: 'work', most: 2, rate: null, isPaused: true }])
    endAll()
    await untilRunning(0)
    isHolding = true
    await polled()
    expect(await count('running')).toBe(0)
    expect(await count('succeeded')).toBe(0)
    await continueQueue(operator, 'work', ACTOR)
    await untilRunning(2)
    endAll()
    await untilDone(6)
    expect(await listQueues(operator)).toEqual([{ queue: 'work', most: 2, rate: null, isPaused: false }])
  })

  it('starts no more tasks than its rate allows, over all programs, until the rate is taken away', async () => {
    isHolding = false
    const rate = { perSecond: 8, burst: 2 }
    const handle = await program({ rate })
    await program({ rate })
    await handle.startAll(tasks(40))
    await until(async () => ((await count('succeeded')) >= 12 ? true : undefined), '12 ended tasks')
    await pauseQueue(operator, 'work', ACTOR)
    const done = await operator.list({ queue: 'work', statuses: ['succeeded'] })
    const rows = (await Promise.all(done.map((task) => operator.attempts(task)))).flat()
    const times = rows.map(({ startedAtMs }) => startedAtMs).toSorted((a, b) => a - b)
    for (const [index, start] of times.entries()) {
      for (const [place, end] of times.entries()) {
        if (place < index) continue
        const allowed = rate.burst + ((end - start + 5) * rate.perSecond) / 1000
        expect(place - index + 1).toBeLessThanOrEqual(allowed + 1e-6)
      }
    }
    await setQueueRate(operator, 'work', { rate: null, ...ACTOR })
    await continueQueue(operator, 'work', ACTOR)
    await untilDone(40)
    expect(await listQueues(operator)).toEqual([{ queue: 'work', most: null, rate: null, isPaused: false }])
  })

  it('keeps what was changed by hand when the program starts again, until the program says something else', async () => {
    await (await program({ most: 2 })).start('a', { id: 'a' })
    await untilRunning(1)
    await setQueueRate(operator, 'work', { rate: { perSecond: 40 }, ...ACTOR })
    await setQueueMost(operator, 'work', { most: 3, ...ACTOR })
    await (await program({ most: 2 })).start('b', { id: 'b' })
    await untilRunning(2)
    expect(await listQueues(operator)).toMatchObject([{ most: 3, rate: { perSecond: 40, burst: 2 } }])
    await program({ most: 7 })
    await until(async () => ((await listQueues(operator))[0]?.most === 7 ? true : undefined), 'the new limit')
    expect(await listQueues(operator)).toMatchObject([{ rate: { perSecond: 40, burst: 2 } }])
  })

  it('cannot be changed if nobody has limited it, or with options that make no sense', async () => {
    await expect(pauseQueue(operator, 'work', ACTOR)).rejects.toMatchObject({ code: 'gate_refused', kind: 'not_found' })
    await expect(pauseQueue(operator, 'work', ACTOR)).rejects.toThrow(/registers its tasks with `most` or `rate`/)
    const wrong = (options: object): Promise<unknown> => {
      return setQueueMost(operator, 'work', { ...ACTOR, ...options } as never)
    }
    await expect(wrong({ most: 0 })).rejects.toThrow(/most: 0 .*pauseQueue stops the queue/)
    await expect(wrong({ most: 1, reason: ' ' })).rejects.toThrow(/reason/)
    await expect(wrong({ most: 1, by: '' })).rejects.toThrow(/by/)
    await expect(setQueueRate(operator, 'work', { rate: { perSecond: -1 }, ...ACTOR })).rejects.toThrow(/perSecond/)
    await expect(program({ rate: { perSecond: 5, burst: 0 } })).rejects.toThrow(/the rate of the task work.*burst/s)
  })
})
