/** A queue with tasks of many runs, and a package's own rule for what its retries cost, on every kind of ledger. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AllotmentRule } from '../../packages/reprise/src/durable/allotment.js'
import type { Definition, TaskFunction } from '../../packages/reprise/src/durable/definition.js'
import type { Durable } from '../../packages/reprise/src/durable/durable.js'
import type { TaskGroup } from '../../packages/reprise/src/durable/group.js'
import { defineQueue, type QueueInput, queueTask } from '../../packages/reprise/src/durable/serve-queue.js'
import { serveQueue, wakeQueues } from '../../packages/reprise/src/internal/serve-queue.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import { type GateRecord, keyIn, scopeOfRun, type TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { openDurable, openLedger } from '../../packages/reprise/src/open/open-durable.js'
import { until } from '../gates/until.js'
import { testDatabase } from '../postgres/shared-server.js'
import { makeTally, tallyGroup } from './tally-group.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-served-'))
const database = await testDatabase()
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await database.drop()
})
let places = 0

const POLICY = { attempts: 6, initialDelay: '1ms', backoff: 'fixed', jitter: false } as const

interface Work {
  readonly run: string
  readonly fails: number
}

/** Each run has a count of its own, named after it. */
const group: TaskGroup = {
  keys: ({ scope }) => tallyGroup(scope).keys({ scope } as TaskRecord),
  follow: (view, change, now) => tallyGroup(change.after.scope).follow(view, change, now),
}

const stateOf = (gate: GateRecord | undefined): { readonly used: number } =>
  (gate?.state ?? { used: 0 }) as { readonly used: number }

describe.each<[string, () => Promise<Ledger>]>([
  ['memory', async () => new MemoryLedger()],
  ['SQLite', () => openLedger(`sqlite:${path.join(directory, `${places++}.db`)}`)],
  ['PostgreSQL', () => openLedger(`${database.url}?schema=served_${places++}`)],
])('a queue with tasks of many runs on %s', (_name, open) => {
  let ledger: Ledger
  let durable: Durable
  beforeEach(async () => {
    ledger = await open()
    durable = await openDurable(ledger)
  })
  afterEach(() => durable.close())

  const failSome: TaskFunction<Work, number> = async ({ fails }, { attempt }) => {
    if (attempt <= fails) throw new Error(`no ${attempt}`)
    return attempt
  }

  const define = (options: Partial<QueueInput> = {}): Definition =>
    defineQueue({ queue: 'work/eu', name: 'work', policy: POLICY, run: failSome, ...options })

  const record = async (definition: Definition, tasks: readonly (Work & { readonly id: string })[]): Promise<void> => {
    const now = await ledger.now()
    const made = tasks.map(({ run, id, fails }) =>
      queueTask(definition, { run, id, input: { run, fails }, dueAtMs: now, seed: 1 }, now),
    )
    await ledger.create(made)
    wakeQueues(durable)
  }

  const task = async (run: string, id: string): Promise<TaskRecord> =>
    (await ledger.get(keyIn(scopeOfRun(run), id))) as TaskRecord

  const ended = (run: string, id: string, status: TaskRecord['status'] = 'succeeded'): Promise<TaskRecord> =>
    until(async () => {
      const found = await task(run, id)
      return found.status === status && found
    }, `the end of ${run}/${id} as ${status}`)

  it('executes them all, and writes each end with the rows of its own run', async () => {
    await makeTally(ledger, 'a', 1)
    await makeTally(ledger, 'b', 1)
    const definition = define({ group })
    await serveQueue(durable, definition)
    await record(definition, [
      { run: 'a', id: 'x', fails: 0 },
      { run: 'b', id: 'x', fails: 1 },
    ])
    expect((await ended('a', 'x')).result).toBe(1)
    expect((await ended('b', 'x')).result).toBe(2)
    expect((await ledger.run('a'))?.detail).toMatchObject({ fresh: 0, succeeded: 1 })
    expect((await ledger.run('b'))?.detail).toMatchObject({ fresh: 0, retrying: 0, succeeded: 1 })
  })

  /** One count for each run; `park`: what is beyond the total waits instead of failing. */
  const ruleOf = (total: number, more: Partial<AllotmentRule> = {}): AllotmentRule => ({
    key: ({ scope }) => `budget:${scope}`,
    charge: (gate, { task: { scope } }) => {
      if (gate === undefined) return { type: 'denied', reason: 'missing' }
      const { used } = stateOf(gate)
      if (used >= total)
        return { type: 'denied', reason: 'used up', denial: { used, total, key: gate.key, run: scope } }
      return { type: 'granted', gate: { ...gate, state: { used: used + 1 } } }
    },
    ...more,
  })

  const makeCount = (run: string, used = 0): Promise<void> => {
    const key = `budget:${run}`
    return ledger.transact({ tasks: [], gates: [key] }, () => {
      return { gates: [{ key, kind: 'budget', state: { used } } as const], result: undefined }
    })
  }

  const usedBy = async (run: string): Promise<unknown> =>
    (await ledger.gates()).find(({ key }) => key === `budget:${run}`)?.state

  it('charges each retry to the count of its run, and keeps what the rule says of a denial', async () => {
    await makeCount('a')
    await makeCount('b')
    const definition = define({ allot: ruleOf(2) })
    await serveQueue(durable, definition)
    await record(definition, [
      { run: 'a', id: 'x', fails: 9 },
      { run: 'b', id: 'x', fails: 1 },
    ])
    const denied = await ended('a', 'x', 'failed')
    expect(denied.progress).toMatchObject({
      budgetReason: 'used up',
      budgetDenial: { used: 2, total: 2, key: 'budget:a', run: 'a' },
      allotted: 2,
      lastFailure: { message: 'no 3' },
    })
    await ended('b', 'x')
    expect([await usedBy('a'), await usedBy('b')]).toEqual([{ used: 2 }, { used: 1 }])
  })

  it('asks again for a retry that was postponed, and charges it in the transaction that starts it', async () => {
    await makeCount('a', 1)
    const asked: unknown[] = []
    const definition = define({
      allot: ruleOf(1, {
        survey: async () => ({ running: 0 }),
        charge: (gate, { surveyed }) => {
          asked.push(surveyed)
          const { used } = stateOf(gate)
          if (used >= 1 || gate === undefined) return { type: 'postponed', waitMs: 20 }
          return { type: 'granted', gate: { ...gate, state: { used: used + 1 } } }
        },
      }),
    })
    await serveQueue(durable, definition)
    await record(definition, [{ run: 'a', id: 'x', fails: 1 }])
    await until(async () => asked.length >= 3, 'two further questions')
    const waiting = await task('a', 'x')
    expect(waiting).toMatchObject({
      status: 'waiting',
      progress: { unpaid: true, retry: { failures: 1, launched: 1 } },
    })
    expect(asked.slice(0, 2)).toEqual([undefined, { running: 0 }])
    await makeCount('a', 0)
    const { progress, result } = await ended('a', 'x')
    expect(result).toBe(2)
    expect(progress).toMatchObject({ allotted: 1 })
    expect(progress.unpaid).toBeUndefined()
    expect(await usedBy('a')).toEqual({ used: 1 })
  })

  it('does not count a retry that the rule gives away', async () => {
    await makeCount('a', 1)
    const definition = define({
      allot: ruleOf(1, {
        charge: (gate, { surveyed }) =>
          surveyed === undefined || gate === undefined
            ? { type: 'postponed', waitMs: 1 }
            : { type: 'granted', gate, isFree: true },
      }),
    })
    await serveQueue(durable, definition)
    await record(definition, [{ run: 'a', id: 'x', fails: 2 }])
    expect((await ended('a', 'x')).progress.allotted).toBeUndefined()
    expect(await usedBy('a')).toEqual({ used: 1 })
  })

  it('ends a task whose postponed retry is denied later, with its group', async () => {
    await makeTally(ledger, 'a', 1)
    await makeCount('a')
    const definition = define({
      group,
      allot: ruleOf(1, {
        charge: (_gate, { surveyed }) =>
          surveyed === undefined ? { type: 'postponed', waitMs: 1 } : { type: 'denied', reason: 'no more' },
      }),
    })
    await serveQueue(durable, definition)
    await record(definition, [{ run: 'a', id: 'x', fails: 1 }])
    expect(await ended('a', 'x', 'failed')).toMatchObject({ stopReason: 'budget_denied' })
    expect((await ledger.run('a'))?.detail).toMatchObject({ failed: 1, retrying: 0 })
  })

  it('restores a count that is missing once, before its absence denies a retry', async () => {
    let restored = 0
    const restore = async (): Promise<void> => {
      restored++
      await makeCount('a')
    }
    const definition = define({ allot: ruleOf(1, { restore }) })
    await serveQueue(durable, definition)
    await record(definition, [{ run: 'a', id: 'x', fails: 1 }])
    await ended('a', 'x')
    expect([restored, await usedBy('a')]).toEqual([1, { used: 1 }])
  })
})
