/** Budgets and breakers by hand, over every ledger; in SQLite through a connection of their own to the same file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { virtualClock } from 'reprise/testing'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { countBudget } from '../../packages/reprise/src/core/budgets/count.js'
import { tokenBucket } from '../../packages/reprise/src/core/budgets/token-bucket.js'
import type { Durable } from '../../packages/reprise/src/durable/durable.js'
import {
  grantBudget,
  listGates,
  resetBreaker,
  resetBudget,
  tripBreaker,
} from '../../packages/reprise/src/durable/gate-control.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import type { GateRecord, StoredEvent } from '../../packages/reprise/src/ledger/records.js'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { openDatabase, SQLITE_DRIVERS } from '../../packages/reprise/src/sqlite/driver.js'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { isAvailable } from '../chosen-driver.js'
import { clockReading } from '../clock-reading.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-gate-control-'))
afterAll(() => rmSync(directory, { recursive: true }))
let files = 0
const newFile = (): string => path.join(directory, `${files++}.db`)

const START_MS = 1_000_000_000

/** The ledger as the program has it, and as the operator does. */
interface Place {
  readonly program: Ledger
  readonly operator: Ledger
}

const clock = clockReading(() => START_MS)
const memory = async (): Promise<Place> => {
  const ledger = new MemoryLedger({ clock })
  return { program: ledger, operator: ledger }
}
const STORES: { name: string; open: () => Promise<Place>; isThere: boolean }[] = [
  { name: 'memory', open: memory, isThere: true },
]
for (const driver of SQLITE_DRIVERS) {
  const open = async (): Promise<Place> => {
    const file = newFile()
    const options = { clock, driver }
    return { program: await openSqlite(file, options), operator: await openSqlite(file, options) }
  }
  STORES.push({ name: `SQLite on ${driver}`, open, isThere: await isAvailable(driver) })
}

const POLICY = {
  attempts: 5,
  initialDelay: 0,
  breaker: { key: 'mail', failureThreshold: 3, recoveryTimeout: '1m' },
} as const

class Program {
  readonly durable: Durable
  isDown = true
  made = 0
  private readonly tasks: Readonly<Record<'retries' | 'calls', TaskHandle<null, string>>>

  private constructor(durable: Durable) {
    this.durable = durable
    const send = (): string => {
      this.made++
      if (this.isDown) throw new Error('down')
      return 'sent'
    }
    this.tasks = {
      retries: durable.task<null, string>('limited', { ...POLICY, budget: 'retries' }, send),
      calls: durable.task<null, string>('metered', { ...POLICY, budget: 'calls' }, send),
    }
  }

  static async open(ledger: Ledger): Promise<Program> {
    const budgets = { retries: countBudget({ total: 1 }), calls: tokenBucket({ capacity: 2, refillPerSecond: 0 }) }
    return new Program(await openDurable(ledger, { budgets, clock: virtualClock({ startMs: START_MS }) }))
  }

  /** How the task ended: its stop reason, or `succeeded`. */
  async send(id: string, budget: 'retries' | 'calls' = 'retries'): Promise<string> {
    return this.tasks[budget].run(null, { id }).then(
      () => 'succeeded',
      (error: unknown) => (error as { stopReason: string }).stopReason,
    )
  }
}

async function changesIn(ledger: Ledger): Promise<StoredEvent[]> {
  return (await ledger.events(0, 1000)).filter(({ type }) => type === 'gate_changed')
}

async function put(ledger: Ledger, gate: GateRecord): Promise<void> {
  await ledger.transact({ tasks: [], gates: [gate.key] }, () => ({ gates: [gate], result: 0 }))
}

describe.each(STORES)('by hand in $name', ({ open, isThere }) => {
  beforeEach(({ skip }) => skip(!isThere, 'its driver is not installed'))

  it('gates are listed by name, with what they were made with', async () => {
    const { program, operator } = await open()
    expect(await listGates(operator)).toEqual({ breakers: [], budgets: [] })
    const sender = await Program.open(program)
    expect(await sender.send('a')).toBe('budget_denied')
    sender.isDown = false
    expect(await sender.send('b', 'calls')).toBe('succeeded')
    expect(await listGates(operator)).toEqual({
      breakers: [
        {
          name: 'mail',
          state: { phase: 'closed', failures: 0, openUntilMs: null },
          lastFailureAtMs: START_MS,
          settings: { failureThreshold: 3, recoveryTimeoutMs: 60_000, halfOpenMaxCalls: 1 },
        },
      ],
      budgets: [
        {
          name: 'calls',
          type: 'token_bucket',
          settings: { capacity: 2, refillPerSecond: 0, chargeFirstAttempt: true },
          state: { tokens: 1, atMs: START_MS },
          isGrantable: true,
        },
        { name: 'retries', type: 'count', settings: { total: 1 }, state: { used: 1, keys: [] }, isGrantable: true },
      ],
    })
    await sender.durable.close()
    await operator.close()
  })

  it('a change reaches a process that lives', async () => {
    const { program, operator } = await open()
    const sender = await Program.open(program)
    expect(await sender.send('a')).toBe('budget_denied')
    expect(sender.made).toBe(2)
    await grantBudget(operator, 'retries', { amount: 5, reason: 'the batch matters' })
    expect(await sender.send('b')).toBe('breaker_open')
    expect(sender.made).toBe(3)
    await resetBreaker(operator, 'mail', { reason: 'the provider is back' })
    sender.isDown = false
    expect(await sender.send('c')).toBe('succeeded')
    await tripBreaker(operator, 'mail', { reason: 'maintenance' })
    expect(await sender.send('d')).toBe('breaker_open')
    expect(sender.made).toBe(4)
    expect((await changesIn(operator)).map(({ detail }) => (detail as { action: string }).action)).toEqual([
      'grant',
      'reset',
      'trip',
    ])
    await sender.durable.close()
    await operator.close()
  })

  it('changes that are made at once all count', async () => {
    const { program, operator } = await open()
    const sender = await Program.open(program)
    await sender.send('a')
    const grants = Array.from({ length: 20 }, (_, index) =>
      grantBudget(index % 2 === 0 ? operator : program, 'retries', { amount: 1, reason: `number ${index}` }),
    )
    await Promise.all(grants)
    const budget = (await operator.gates()).find(({ key }) => key === 'budget:retries')
    expect(budget).toMatchObject({ state: { used: 1, granted: 20 }, manualRevision: 20 })
    expect(await changesIn(operator)).toHaveLength(20)
    await sender.durable.close()
    await operator.close()
  })

  it.each<[string, (ledger: Ledger) => Promise<unknown>, object]>([
    [
      'a name that is nearly right',
      (ledger) => resetBreaker(ledger, 'mial', { reason: 'x' }),
      { kind: 'not_found', message: /mean mail\?/ },
    ],
    [
      'a name like no other',
      (ledger) => tripBreaker(ledger, 'search', { reason: 'x' }),
      { kind: 'not_found', message: /it has mail$/ },
    ],
    [
      'a breaker as a budget',
      (ledger) => grantBudget(ledger, 'mail', { amount: 1, reason: 'x' }),
      { kind: 'not_found', message: /it has retries$/ },
    ],
    [
      'a change without a reason',
      (ledger) => resetBreaker(ledger, 'mail', { reason: ' ' }),
      { code: 'invalid_options', message: /a reason/ },
    ],
    [
      'a reason that is a book',
      (ledger) => resetBreaker(ledger, 'mail', { reason: 'x'.repeat(1001) }),
      { code: 'invalid_options', message: /a reason/ },
    ],
    [
      'a trip without a reason',
      (ledger) => tripBreaker(ledger, 'mail', {} as never),
      { code: 'invalid_options', message: /a reason/ },
    ],
    [
      'a trip with a misspelt option',
      (ledger) => tripBreaker(ledger, 'mail', { reason: 'x', recoveryTimeoutMS: 1 } as never),
      { code: 'invalid_options', message: /did you mean `recoveryTimeout`/ },
    ],
    [
      'a trip for no time',
      (ledger) => tripBreaker(ledger, 'mail', { reason: 'x', recoveryTimeout: 0 }),
      { code: 'invalid_options', message: /recoveryTimeout: 0 is not a duration above 0ms/ },
    ],
    [
      'a grant of nothing',
      (ledger) => grantBudget(ledger, 'retries', { amount: 0, reason: 'x' }),
      { code: 'invalid_options', message: /whole number/ },
    ],
    [
      'a grant of a part',
      (ledger) => grantBudget(ledger, 'retries', { amount: 1.5, reason: 'x' }),
      { code: 'invalid_options', message: /whole number/ },
    ],
    [
      'a grant of no number',
      (ledger) => grantBudget(ledger, 'retries', { amount: '5' as never, reason: 'x' }),
      { code: 'invalid_options', message: /whole number/ },
    ],
  ])('%s is refused, and nothing is touched', async (_what, act, { message, ...refused }: { message?: RegExp }) => {
    const { program, operator } = await open()
    const sender = await Program.open(program)
    await sender.send('a')
    const before = await operator.gates()
    await expect(act(operator)).rejects.toMatchObject({
      ...refused,
      message: expect.stringMatching(message as RegExp),
    })
    expect(await operator.gates()).toEqual(before)
    expect(await changesIn(operator)).toEqual([])
    await sender.durable.close()
    await operator.close()
  })

  it('a name is refused where nothing has been used yet', async () => {
    const { program, operator } = await open()
    const none = /no breaker "mail" in .*: a breaker is recorded with the first attempt that asks it$/
    await expect(resetBreaker(operator, 'mail', { reason: 'x' })).rejects.toThrow(none)
    await program.close()
    await operator.close()
  })

  it('a breaker whose record is no good is named by the list, and mended by a reset', async () => {
    const { program, operator } = await open()
    const below = { phase: 'closed', failures: -3, openUntilMs: null }
    const opened = { phase: 'open', failures: 1 }
    for (const state of [null, [], { ...below, phase: 'ajar' }, opened, below]) {
      await put(operator, { key: 'breaker:mail', kind: 'breaker', state, settings: { failureThreshold: 'ten' } })
      await expect(listGates(operator)).rejects.toMatchObject({
        kind: 'state_refused',
        gates: ['breaker:mail'],
        message: expect.stringMatching(
          / are invalid, and nothing was changed: breaker mail \(.*\)\. Reset them, or restore/,
        ),
      })
      await resetBreaker(operator, 'mail', { reason: 'mended' })
      expect((await listGates(operator)).breakers).toMatchObject([{ state: { phase: 'closed' } }])
    }
    await put(operator, { key: 'breaker:mail', kind: 'breaker', state: null })
    await tripBreaker(operator, 'mail', { reason: 'no settings are known: as long as a breaker by default' })
    expect((await listGates(operator)).breakers).toMatchObject([
      { state: { phase: 'open', failures: 0, openUntilMs: START_MS + 30_000 }, settings: null },
    ])
    await program.close()
    await operator.close()
  })

  it('a budget whose record is no good is named by the list, is granted nothing, and is as it was made after a reset', async () => {
    const { program, operator } = await open()
    const settings = { type: 'count', total: 1 }
    for (const state of [{}, [], 7, { used: -7, keys: [] }, { used: 1, keys: [['a', 'b']] }]) {
      const gate = { key: 'budget:retries', kind: 'budget', state, settings } as const
      await put(operator, gate)
      const refused = { kind: 'state_refused', gates: ['budget:retries'] }
      await expect(listGates(operator)).rejects.toMatchObject(refused)
      await expect(grantBudget(operator, 'retries', { amount: 1, reason: 'x' })).rejects.toMatchObject(refused)
      expect(await operator.gates()).toEqual([gate])
      const change = await resetBudget(operator, 'retries', { reason: 'mended' })
      expect(change).toMatchObject({ gate: 'budget:retries', action: 'reset', before: state, after: null })
      expect((await listGates(operator)).budgets).toMatchObject([{ name: 'retries', isGrantable: true }])
    }
    const sender = await Program.open(program)
    expect(await sender.send('a')).toBe('budget_denied')
    // Its first attempt, and one of the total.
    expect(sender.made).toBe(2)
    await resetBudget(operator, 'retries', { reason: 'once more' })
    const granted = await grantBudget(operator, 'retries', { amount: 2, reason: 'of a count that was reset' })
    expect(granted.after).toEqual({ used: 0, keys: [], granted: 2 })
    await sender.durable.close()
    await operator.close()
  })
})

describe('gates whose settings were not recorded', () => {
  it('load as they are, and can be granted to once somebody has used them again', async () => {
    const file = newFile()
    await (await openSqlite(file, { clock })).close()
    const database = await openDatabase(file)
    database.exec(`INSERT INTO gates (key, kind, state) VALUES
      ('breaker:mail', 'breaker', '{"phase":"closed","failures":2,"openUntilMs":null}'),
      ('budget:retries', 'budget', '{"used":1,"keys":[]}')`)
    database.close()

    const operator = await openSqlite(file, { clock })
    expect(await listGates(operator)).toEqual({
      breakers: [
        {
          name: 'mail',
          state: { phase: 'closed', failures: 2, openUntilMs: null },
          lastFailureAtMs: null,
          settings: null,
        },
      ],
      budgets: [{ name: 'retries', type: null, settings: null, state: { used: 1, keys: [] }, isGrantable: false }],
    })
    await expect(grantBudget(operator, 'retries', { amount: 1, reason: 'x' })).rejects.toMatchObject({
      kind: 'nothing_to_grant',
      message: expect.stringContaining('was not recorded'),
    })
    const sender = await Program.open(await openSqlite(file, { clock }))
    expect(await sender.send('a')).toBe('breaker_open')
    await grantBudget(operator, 'retries', { amount: 1, reason: 'x' })
    await resetBreaker(operator, 'mail', { reason: 'x' })
    sender.made = 0
    expect(await sender.send('b')).toBe('budget_denied')
    expect(sender.made).toBe(2)
    await sender.durable.close()
    await operator.close()
  })
})
