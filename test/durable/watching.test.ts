/** Callers that wait for tasks of other processes: they hear of the end, and do not keep the event loop from turning. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { freshProgress } from '../../packages/reprise/src/durable/transitions.js'
import { Waiters } from '../../packages/reprise/src/durable/waiters.js'
import { Watching } from '../../packages/reprise/src/durable/watching.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import type { TaskKey, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { clockReading } from '../clock-reading.js'

const keys = Array.from({ length: 500 }, (_, i): TaskKey => ({ scopeKind: 'task', scope: 'job', id: `t${i}` }))

function taskOf(key: TaskKey): TaskRecord {
  return {
    ...key,
    queue: 'job',
    generation: 1,
    status: 'running',
    dueAtMs: null,
    owner: 'somebody else',
    fence: 1,
    progress: freshProgress(7),
    policyHash: 'h',
    input: 1,
    stopReason: null,
    correlationId: 'c',
    createdAtMs: 0,
    updatedAtMs: 0,
  }
}

async function watched(isHere: (key: TaskKey) => boolean = () => false) {
  const ledger = new MemoryLedger({ clock: clockReading(() => 0) })
  const waiters = new Waiters()
  const failures: unknown[] = []
  const watch = new Watching({ ledger, waiters, isHere, onFailure: (error) => failures.push(error) })
  onTestFinished(() => watch.end())
  await ledger.create(keys.map((key) => ({ task: taskOf(key), policy: { hash: 'h', policy: {} }, payloadHash: 'p' })))
  const end = (key: TaskKey): Promise<unknown> =>
    ledger.transact({ tasks: [key] }, (view) => {
      const task = { ...(view.task(key) as TaskRecord), status: 'succeeded' as const, owner: null, result: key.id }
      return { tasks: [task], result: undefined }
    })
  return { ledger, waiters, watch, failures, end }
}

describe('a watch', () => {
  it('tells callers of tasks that another process has ended', async () => {
    const { waiters, watch, end, failures } = await watched()
    const [first, second] = keys as [TaskKey, TaskKey]
    const waits = [waiters.wait(first), waiters.wait(second)]
    watch.begin()
    await end(first)
    expect(await waits[0]).toMatchObject({ status: 'succeeded', result: 't0' })
    await end(second)
    expect(await waits[1]).toMatchObject({ status: 'succeeded', result: 't1' })
    expect(failures).toEqual([])
  })

  it('lets the event loop turn while it looks at many', async () => {
    const { ledger, waiters, watch } = await watched()
    for (const key of keys) void waiters.wait(key)
    let [looks, most, sinceTurn] = [0, 0, 0]
    const get = ledger.get.bind(ledger)
    ledger.get = (key) => {
      if (sinceTurn === 0) setImmediate(() => (sinceTurn = 0))
      most = Math.max(most, ++sinceTurn)
      looks++
      return get(key)
    }
    watch.begin()
    await vi.waitFor(() => expect(looks).toBeGreaterThanOrEqual(500), 10_000)
    expect(most).toBeLessThanOrEqual(100)
  })

  it('does not look at what this process will hear of', async () => {
    const { ledger, waiters, watch, end } = await watched(({ id }) => id !== 't7')
    for (const key of keys.slice(0, 8)) void waiters.wait(key)
    const seen = new Set<string>()
    const get = ledger.get.bind(ledger)
    ledger.get = (key) => {
      seen.add(key.id)
      return get(key)
    }
    const last: TaskKey = { scopeKind: 'task', scope: 'job', id: 't7' }
    const other = waiters.wait(last)
    watch.begin()
    await end(last)
    await other
    expect([...seen]).toEqual(['t7'])
  })
})
