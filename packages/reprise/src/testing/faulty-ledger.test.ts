/** The ledger that fails by plan does so exactly, and otherwise is the ledger behind it. */
import { describe, expect, it } from 'vitest'
import { MemoryLedger } from '../ledger/memory-ledger.js'
import { type FaultPlan, type FaultyLedger, faultyLedger } from './faulty-ledger.js'
import { ledgerContract } from './ledger-contract.js'
import { newTask } from './sample-task.js'
import { virtualClock } from './virtual-clock.js'
import { clockReading } from '../../../../test/clock-reading.js'

const KEY = { scopeKind: 'task', scope: 'mail', id: 'a' } as const

function open(plan: FaultPlan): { ledger: FaultyLedger; target: MemoryLedger } {
  const target = new MemoryLedger({ clock: clockReading(() => 0) })
  return { ledger: faultyLedger(target, plan), target }
}

describe('without a plan', () => {
  let now = 0
  const cases = ledgerContract(async () => {
    now = 0
    return {
      ledger: faultyLedger(new MemoryLedger({ clock: clockReading(() => now) }), {}),
      setTime: (ms) => void (now = ms),
    }
  })
  for (const { name, run } of cases) it(name, run)

  it('counts what it is asked', async () => {
    const { ledger } = open({})
    await ledger.now()
    await ledger.get(KEY)
    await ledger.get(KEY)
    expect(ledger.name).toBe('memory:')
    expect(ledger.operations).toEqual([
      { verb: 'now', index: 1, count: 1 },
      { verb: 'get', index: 2, count: 1 },
      { verb: 'get', index: 3, count: 2 },
    ])
    expect(ledger.faults).toEqual([])
  })
})

describe('the operation that was named', () => {
  it('is not done when it fails before', async () => {
    const { ledger, target } = open({ failAt: 2 })
    await ledger.now()
    await expect(ledger.create([newTask()])).rejects.toMatchObject({
      code: 'ledger',
      problem: 'unusable',
      message: 'The ledger memory: failed by plan: operation 2, create',
    })
    expect(await target.get(KEY)).toBeUndefined()
    expect(ledger.faults).toEqual([{ verb: 'create', index: 2, count: 1 }])
  })

  it('is done when it fails after, and the caller is told that it failed', async () => {
    const { ledger, target } = open({ failAt: 1, kind: 'after' })
    await expect(ledger.create([newTask()])).rejects.toThrow('failed by plan')
    expect(await target.get(KEY)).toMatchObject(KEY)
  })

  it('can be chosen by its verb and count', async () => {
    const { ledger, target } = open({
      failAt: ({ verb, count }) => (verb === 'create' && count === 2 ? 'after' : undefined),
    })
    await ledger.create([newTask()])
    await expect(ledger.create([newTask({ id: 'b' })])).rejects.toThrow('operation 2, create')
    expect(await target.list({})).toHaveLength(2)
  })

  it('throws what the plan says', async () => {
    const error = new Error('no space')
    const { ledger } = open({ failAt: 1, error: ({ verb }) => (verb === 'now' ? error : undefined) })
    await expect(ledger.now()).rejects.toBe(error)
  })
})

describe('after a fault', () => {
  it('nothing reaches the store any more, but it can be closed', async () => {
    const { ledger, target } = open({ failAt: 1, kind: 'after' })
    const first = ledger.create([newTask()])
    const second = ledger.create([newTask({ id: 'b' })])
    await expect(first).rejects.toThrow('operation 1')
    await expect(second).rejects.toThrow('operation 1')
    await expect(ledger.get(KEY)).rejects.toThrow('operation 1')
    await ledger.close()
    expect((await target.list({})).map(({ id }) => id)).toEqual(['a'])
    expect(ledger.faults).toHaveLength(1)
  })

  it('it goes on if the fault does not last', async () => {
    const { ledger } = open({ failAt: 1, lasting: false })
    await expect(ledger.now()).rejects.toThrow('operation 1')
    expect(await ledger.now()).toBe(0)
  })
})

describe('a delay', () => {
  it('holds the operation back until it is over', async () => {
    const clock = virtualClock()
    const { ledger, target } = open({ delay: ({ verb }) => (verb === 'create' ? clock.sleep(500) : undefined) })
    const creation = ledger.create([newTask()])
    await clock.advance(499)
    expect(await target.get(KEY)).toBeUndefined()
    expect(await ledger.get(KEY)).toBeUndefined()
    await clock.advance(1)
    await creation
    expect(await target.get(KEY)).toMatchObject(KEY)
  })
})
