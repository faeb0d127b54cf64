/** Gates that cannot be used: their rows cannot be, or they throw where they are to say what they are. */
import { describe, expect, it } from 'vitest'
import type { Budget } from '../../packages/reprise/src/core/budget.js'
import { countBudget } from '../../packages/reprise/src/core/budgets/count.js'
import type { RepriseEvent } from '../../packages/reprise/src/core/event.js'
import { resetBreaker } from '../../packages/reprise/src/durable/gate-control.js'
import type { GateRecord, Json } from '../../packages/reprise/src/ledger/records.js'
import { rejection, turns, ProcessModel } from './process-model.js'

const AT_ONCE = { attempts: 3, backoff: 'fixed', initialDelay: 0, jitter: false } as const

/** Puts a row in place of the gate's, behind everybody's back. */
async function setGate(model: ProcessModel, gate: GateRecord): Promise<void> {
  await model.ledger.transact({ tasks: [], gates: [gate.key] }, () => ({ gates: [gate], result: undefined }))
}

async function gateOf(model: ProcessModel, key: string): Promise<GateRecord | undefined> {
  return (await model.ledger.gates()).find((gate) => gate.key === key)
}

const ROWS: readonly (readonly [what: string, state: Json])[] = [
  ['an empty object', {}],
  ['null', null],
  ['a list', []],
  ['a number of failures below zero', { phase: 'closed', failures: -3, openUntilMs: null }],
  ['a phase that there is not', { phase: 'ajar', failures: 0, openUntilMs: null }],
  ['a breaker that is open for ever', { phase: 'open', failures: 3, openUntilMs: null }],
  [
    'slots that are no number',
    { phase: 'closed', failures: 0, openUntilMs: null, epoch: 1, probes: 'x', successes: 0 },
  ],
]

describe('a gate whose row cannot be', () => {
  it.each(ROWS)('refuses its own tasks and no others, and is left as it is: %s', async (_what, state) => {
    const model = new ProcessModel()
    const damaged = { key: 'breaker:mail', kind: 'breaker', state } as const
    await setGate(model, damaged)
    const events: RepriseEvent[] = []
    const { durable } = await model.open({ observers: [{ onEvent: (event) => events.push(event) }] })
    let sent = 0
    const mail = durable.task('mail', { ...AT_ONCE, breaker: { key: 'mail' } }, () => ++sent)
    const other = durable.task('other', { ...AT_ONCE, breaker: { key: 'other' } }, () => 'fine')
    const refused = await rejection(mail.run(null, { id: 'a' }))
    expect(refused).toMatchObject({ name: 'TaskRefusedError', kind: 'state_refused' })
    expect((refused as Error).message).toMatch(/^Task mail\/a is left as it is: breaker mail: /)
    expect(await other.run(null)).toBe('fine')
    await model.clock.advance(5000)
    await turns()
    expect(await gateOf(model, 'breaker:mail')).toEqual(damaged)
    expect(await model.task('mail', 'a')).toMatchObject({ status: 'waiting', fence: 0, owner: null })
    expect(events.filter(({ type }) => type === 'state_refused')).toHaveLength(1)
    // Mended by hand, it goes on by itself.
    await resetBreaker(model.ledger, 'mail', { reason: 'it was damaged' })
    expect(await mail.run(null, { id: 'a' })).toBe(1)
    await durable.close()
  })

  it('records an outcome all the same, and begins nothing more', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    let runs = 0
    const task = durable.task('t', { ...AT_ONCE, breaker: { key: 'db', failureThreshold: 9 } }, async () => {
      runs++
      await setGate(model, { key: 'breaker:db', kind: 'breaker', state: { failures: -3 } })
      throw new Error('no')
    })
    expect(await rejection(task.run(null, { id: 'a' }))).toMatchObject({ kind: 'state_refused' })
    expect(runs).toBe(1)
    expect(await task.status('a')).toMatchObject({ state: 'waiting', attempts: 1, lastFailure: { message: 'no' } })
    expect(await gateOf(model, 'breaker:db')).toMatchObject({ state: { failures: -3 } })
    await durable.close()
  })

  it('is refused for a budget that has used less than nothing', async () => {
    const model = new ProcessModel()
    const gate = { key: 'budget:few', kind: 'budget', state: { used: -7, keys: [] } } as const
    await setGate(model, gate)
    const { durable } = await model.open({ budgets: { few: countBudget({ total: 1 }) } })
    const task = durable.task('t', { ...AT_ONCE, budget: 'few' }, () => 1)
    const refused = (await rejection(task.run(null, { id: 'a' }))) as Error
    expect(refused).toMatchObject({ kind: 'state_refused' })
    expect(refused.message).toContain('budget few: it cannot take in what is recorded of it (countBudget snapshot used')
    expect(await gateOf(model, gate.key)).toEqual(gate)
    await durable.close()
  })

  it('is refused for a queue whose limit cannot be', async () => {
    const model = new ProcessModel()
    await setGate(model, { key: 'queue:t', kind: 'queue', state: { most: 'many' } })
    const { durable } = await model.open()
    const task = durable.task('t', AT_ONCE, () => 1, { most: 2 })
    const refused = (await rejection(task.run(null, { id: 'a' }))) as Error
    expect(refused.message).toBe('Task t/a is left as it is: queue t: its limit is "many"')
    expect(await gateOf(model, 'queue:t')).toMatchObject({ state: { most: 'many' } })
    await durable.close()
  })
})

/** A program's own budget, whose state is what a test says. */
function budgetWith(snapshot: () => unknown, restore: (state: unknown) => void = () => undefined): Budget {
  return { allowAttempt: () => ({ allowed: true, reason: 'allowed' }), snapshot, restore }
}

const SNAPSHOTS: readonly (readonly [what: string, snapshot: () => unknown])[] = [
  [
    'throws',
    () => {
      throw new Error('redis is down')
    },
  ],
  ['is no JSON', () => 10n],
  ['is nothing', () => undefined],
  ['is a promise, which rejects', () => Promise.reject(new Error('redis is down'))],
]

describe('a budget whose snapshot', () => {
  it.each(SNAPSHOTS)('%s refuses its own tasks, and no others', async (_what, snapshot) => {
    const model = new ProcessModel()
    const { durable } = await model.open({ budgets: { own: budgetWith(snapshot) } })
    let runs = 0
    const task = durable.task('t', { ...AT_ONCE, budget: 'own' }, () => ++runs)
    const other = durable.task('other', AT_ONCE, () => 'fine')
    const refused = (await rejection(task.run(null, { id: 'a' }))) as Error
    expect(refused).toMatchObject({ kind: 'state_refused' })
    expect(refused.message).toContain('budget own: it cannot say its state')
    expect(await other.run(null)).toBe('fine')
    expect(runs).toBe(0)
    expect(await model.task('t', 'a')).toMatchObject({ status: 'waiting', owner: null })
    await durable.close()
  })

  it('throws once it was asked refuses the task before it runs, and gives back what it granted', async () => {
    const model = new ProcessModel()
    let [held, released] = [0, 0]
    const own: Budget = {
      allowAttempt: () => ({ allowed: true, reason: 'allowed', release: () => released++ && undefined, held: ++held }),
      snapshot: () => {
        if (held > released) throw new Error('cannot say')
        return {}
      },
    }
    const { durable } = await model.open({ budgets: { own } })
    let runs = 0
    const task = durable.task('t', { ...AT_ONCE, budget: 'own' }, () => ++runs)
    expect(await rejection(task.run(null, { id: 'a' }))).toMatchObject({ kind: 'state_refused' })
    expect(runs).toBe(0)
    expect(released).toBe(held)
    await durable.close()
  })

  it('throws while an attempt runs keeps nobody from recording its outcome', async () => {
    const model = new ProcessModel()
    let isDown = false
    const snapshot = (): unknown => {
      if (isDown) throw new Error('redis is down')
      return { used: 0 }
    }
    const { durable } = await model.open({ budgets: { own: budgetWith(snapshot) } })
    const task = durable.task('t', { ...AT_ONCE, budget: 'own' }, () => (isDown = true))
    expect(await task.run(null, { id: 'a' })).toBe(true)
    expect(await rejection(task.run(null, { id: 'b' }))).toMatchObject({ kind: 'state_refused' })
    isDown = false
    expect(await task.run(null, { id: 'b' })).toBe(true)
    await durable.close()
  })

  const RESTORES: readonly (readonly [what: string, restore: () => unknown, fault: string])[] = [
    [
      'throws',
      () => {
        throw new Error('what is this')
      },
      'what is this',
    ],
    [
      'answers with a promise, which rejects',
      () => Promise.reject(new Error('redis is down')),
      'restore answered with a promise: it must be synchronous',
    ],
  ]
  it.each(RESTORES)('is sound, but whose restore %s, refuses its own tasks', async (_what, restore, fault) => {
    const model = new ProcessModel()
    await setGate(model, { key: 'budget:own', kind: 'budget', state: { used: 3 } })
    const { durable } = await model.open({ budgets: { own: budgetWith(() => ({ used: 0 }), restore) } })
    const task = durable.task('t', { ...AT_ONCE, budget: 'own' }, () => 1)
    const refused = (await rejection(task.run(null))) as Error
    expect(refused.message).toContain(`budget own: it cannot take in what is recorded of it (${fault})`)
    expect(await gateOf(model, 'budget:own')).toMatchObject({ state: { used: 3 } })
    await durable.close()
  })
})

it('a budget whose other hooks answer with a rejecting promise denies as it did, and ends no process', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  const later = (() => Promise.reject(new Error('redis is down'))) as unknown as () => never
  const own: Budget = {
    ...budgetWith(() => ({})),
    peek: () => false,
    denialReason: later,
    nextAllowedAtMs: later,
    describe: later,
  }
  const model = new ProcessModel()
  const { durable } = await model.open({ budgets: { own } })
  const fail = (): never => {
    throw new Error('no')
  }
  const task = durable.task('t', { ...AT_ONCE, budget: 'own' }, fail)
  expect(await rejection(task.run(null))).toMatchObject({ stopReason: 'budget_denied', attempts: 1 })
  await durable.close()
  await turns()
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})
