import { describe, expect, it } from 'vitest'
import { LedgerError } from '../ledger/errors.js'
import type { Ledger } from '../ledger/ledger.js'
import { MemoryLedger } from '../ledger/memory-ledger.js'
import { newTask } from '../testing/sample-task.js'
import { Retention, retentionOf } from './retention.js'
import { Sweeper } from './sweeper.js'
import { clockReading } from '../../../../test/clock-reading.js'

/** A sweeper in a hurry; `sweeps` counts the times that it looked for tasks to forget. */
function sweeperOf(before: () => Promise<void> = async () => undefined) {
  const memory = new MemoryLedger({ clock: clockReading(() => 1e9) })
  const seen = { sweeps: 0, failures: [] as unknown[] }
  const ledger = new Proxy<Ledger>(memory, {
    get: (target, verb: keyof Ledger) => {
      if (verb !== 'forget') return (target[verb] as (...args: unknown[]) => unknown).bind(target)
      return async (request: Parameters<Ledger['forget']>[0]) => {
        seen.sweeps++
        await before()
        return target.forget(request)
      }
    },
  })
  const retention = new Retention(ledger, retentionOf({ succeeded: '1m' }))
  const onFailure = (error: unknown): void => void seen.failures.push(error)
  const sweeper = new Sweeper({ retention, onFailure, firstMs: 0, pause: () => 0 })
  return { memory, seen, sweeper }
}

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1))
}

describe('the sweeper', () => {
  it('sweeps again and again, until it is ended', async () => {
    const { memory, seen, sweeper } = sweeperOf()
    await memory.create([newTask({ status: 'succeeded', dueAtMs: null })])
    sweeper.begin()
    await until(() => seen.sweeps > 2)
    await sweeper.end()
    const { sweeps } = seen
    expect(await memory.list({})).toEqual([])
    // A timer that it had left would fire before this one.
    await new Promise((resolve) => setTimeout(resolve, 1))
    expect(seen).toEqual({ sweeps, failures: [] })
  })

  it('ends after the sweep that is under way', async () => {
    const release: (() => void)[] = []
    const { seen, sweeper } = sweeperOf(() => new Promise((resolve) => release.push(resolve)))
    sweeper.begin()
    await until(() => seen.sweeps === 1)
    let ended = false
    const ending = sweeper.end().then(() => (ended = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(ended).toBe(false)
    for (const go of release) go()
    await ending
    expect(seen).toEqual({ sweeps: 1, failures: [] })
  })

  it('says when the ledger fails, once', async () => {
    const { seen, sweeper } = sweeperOf(() => Promise.reject(new LedgerError('unusable', 'no disk')))
    sweeper.begin()
    await until(() => seen.failures.length > 0)
    await sweeper.end()
    expect(seen).toMatchObject({ sweeps: 1, failures: [{ message: 'no disk' }] })
  })

  it('waits, and says nothing, while another program holds the file', async () => {
    const { seen, sweeper } = sweeperOf(() => Promise.reject(new LedgerError('busy', 'locked')))
    sweeper.begin()
    await until(() => seen.sweeps > 0)
    await sweeper.end()
    expect(seen).toEqual({ sweeps: 1, failures: [] })
  })
})
