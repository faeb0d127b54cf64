/** Several processes that forget and shorten at once: each row goes once, is counted once, and nobody waits in a circle. */
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { Retention, retentionOf } from '../../packages/reprise/src/durable/retention.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import type { ScopeKind, TaskKey, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { sampleAttempt, type SampleHistory, writeHistory } from '../../packages/reprise/src/testing/sample-history.js'
import { newTask } from '../../packages/reprise/src/testing/sample-task.js'
import { testDatabase } from './shared-server.js'
import { clockReading } from '../clock-reading.js'

const database = await testDatabase()
const admin = new pg.Client({ connectionString: database.url })
await admin.connect()
afterAll(async () => {
  await admin.end()
  await database.drop()
})

const DAY = 86_400_000
let schemas = 0
let now = 0
const opened: Ledger[] = []
afterEach(async () => {
  for (const ledger of opened.splice(0)) await ledger.close()
  const { rows } = await admin.query('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()')
  expect(Number(rows[0].deadlocks)).toBe(0)
})

/** So many processes on one schema. */
async function open(count: number): Promise<{ ledgers: readonly Ledger[]; first: Ledger; schema: string }> {
  now = 0
  const schema = `keeping_${schemas++}`
  const join = (): Promise<Ledger> =>
    openPostgres(`${database.url}?schema=${schema}`, { clock: clockReading(() => now) })
  const first = await join()
  const ledgers = [first, ...(await Promise.all(numbers(count - 1).map(join)))]
  opened.push(...ledgers)
  return { ledgers, first, schema }
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

/** Ended tasks of a program, every eighth of them for good. */
function ended(count: number, scope = 'mail', scopeKind: ScopeKind = 'task'): SampleHistory[] {
  return numbers(count).map((index) => ({
    task: {
      scopeKind,
      scope,
      id: `t${index}`,
      status: index % 8 ? 'succeeded' : 'failed',
      dueAtMs: null,
      updatedAtMs: index,
    },
    attempts: [{ endedAtMs: 1 }, { attempt: 2, endedAtMs: 2 }],
    events: [{ atMs: 1 }, { atMs: 2 }],
    dead: index % 8 ? [] : [{ atMs: 2 }],
  }))
}

const rowsOf = async (schema: string, table: string): Promise<number> =>
  Number((await admin.query(`SELECT count(*) FROM ${schema}.${table}`)).rows[0].count)

type Counts = Readonly<Record<'tasks' | 'attempts' | 'events' | 'deadLetters', number>>
const total = (all: readonly Counts[], kind: keyof Counts): number => all.reduce((sum, one) => sum + one[kind], 0)

describe('sweeps at once', () => {
  it('share what there is to forget, and count each row once', async () => {
    const { ledgers, first, schema } = await open(3)
    await writeHistory(first, ended(600))
    now = 10 * DAY
    const settings = retentionOf({ succeeded: '1m', failed: '1m', events: '1m' })
    const sweeps: Counts[] = []
    // Whoever finds everything in the hands of others leaves it to them; the next round takes what they have left.
    for (let round = 0; round < 5 && (await rowsOf(schema, 'tasks')) > 0; round++) {
      sweeps.push(
        ...(await Promise.all(ledgers.map((ledger) => new Retention(ledger, settings, { batch: 20 }).sweep()))),
      )
    }
    expect(await rowsOf(schema, 'tasks')).toBe(0)
    const kinds = ['tasks', 'attempts', 'events', 'deadLetters'] as const
    expect(kinds.map((kind) => total(sweeps, kind))).toEqual([600, 1200, 1200, 75])
    for (const table of ['attempts', 'events', 'dead']) expect(await rowsOf(schema, table)).toBe(0)
  })

  it('shorten each history once, and number what they say of it without a gap', async () => {
    const { ledgers, first, schema } = await open(3)
    const attempts = numbers(30).map((attempt) => ({ attempt, endedAtMs: attempt }))
    const events = numbers(30).map((index) => ({ atMs: index < 15 ? 0 : 5 }))
    await writeHistory(
      first,
      numbers(40).map((index) => ({ task: { id: `t${index}` }, attempts, events })),
    )
    now = 10
    const request = { maxHistoryPerTask: 20, eventsBeforeMs: 5, limit: 7 }
    const all = numbers(4).flatMap(() => ledgers.map((ledger) => ledger.compact(request)))
    const compacted = [...(await Promise.all(all)), await first.compact({ maxHistoryPerTask: 20, limit: 100 })]
    expect([total(compacted, 'tasks'), total(compacted, 'attempts')]).toEqual([40, 800])
    expect(await rowsOf(schema, 'attempts')).toBe(40 * 10)
    const left = (await first.events(0, 10_000)).filter(({ type }) => type !== 'compacted')
    expect(total(compacted, 'events') + left.length).toBe(40 * 30)
    const { rows } = await admin.query(`SELECT seq::int FROM ${schema}.events WHERE type = 'compacted' ORDER BY seq`)
    expect(rows.map(({ seq }: { seq: number }) => seq)).toEqual(numbers(40).map((index) => 40 * 30 + index + 1))
  })

  it('remove a run together, and both know when nothing is left', async () => {
    const { ledgers, first, schema } = await open(2)
    const run = {
      id: 'job',
      kind: 'workflow',
      name: 'w',
      status: 'succeeded',
      owner: null,
      fence: 1,
      resumes: 0,
      fingerprint: 'f',
      detail: null,
      correlationId: 'c',
      createdAtMs: 0,
      updatedAtMs: 0,
      endedAtMs: 0,
    } as const
    await first.transact({ tasks: [], runs: ['job'], gates: ['job/budget'] }, () => ({
      runs: [{ run, definition: {} }],
      gates: [{ key: 'job/budget', kind: 'budget', state: {} }],
      result: 0,
    }))
    await writeHistory(first, [...ended(100, 'job', 'run'), ...ended(10, 'job')])
    const removed: Counts[] = []
    await Promise.all(
      ledgers.map(async (ledger) => {
        for (;;) {
          const answer = await ledger.removeRun('job', 7, ['job/budget'])
          removed.push(answer)
          if (answer.isDone) return
        }
      }),
    )
    const kinds = ['tasks', 'attempts', 'events', 'deadLetters'] as const
    expect(kinds.map((kind) => total(removed, kind))).toEqual([100, 200, 200, 13])
    expect(await first.run('job')).toBeUndefined()
    expect(await first.gates()).toEqual([])
    expect(await rowsOf(schema, 'tasks')).toBe(10)
  })

  it('go on while others write, and take nothing from them', async () => {
    const { ledgers, first } = await open(2)
    const [, second] = ledgers as [Ledger, Ledger]
    await writeHistory(first, ended(200))
    await first.create(numbers(50).map((index) => newTask({ id: `live${index}`, dueAtMs: 0, updatedAtMs: 0 })))
    const live = numbers(50).map((index): TaskKey => ({ scopeKind: 'task', scope: 'mail', id: `live${index}` }))
    const working = live.map(async (key) => {
      for (const number of numbers(12)) {
        await second.transact({ tasks: [key], gates: ['g'] }, (view) => ({
          tasks: [{ ...(view.task(key) as TaskRecord), fence: number + 1 }],
          attempts: [sampleAttempt(key, { attempt: number + 1, endedAtMs: 1 })],
          result: 0,
        }))
      }
    })
    const sweeping = numbers(10).map(async () => {
      await first.forget({ status: 'succeeded', beforeMs: 1000, limit: 20 })
      await first.compact({ maxHistoryPerTask: 10, limit: 20 })
    })
    await Promise.all([...working, ...sweeping])
    for (const key of live) {
      const task = await first.get(key)
      expect(task?.fence).toBe(12)
      expect((await first.attempts(key)).length + (task?.compacted?.attempts ?? 0)).toBe(12)
    }
  })
})

describe('a task that somebody has locked', () => {
  it('is left for the next time', async () => {
    const { first, schema } = await open(1)
    await writeHistory(first, ended(5))
    await admin.query('BEGIN')
    await admin.query(`SELECT 1 FROM ${schema}.tasks WHERE id IN ('t1', 't2') FOR UPDATE`)
    expect((await first.forget({ status: 'succeeded', beforeMs: 1000, limit: 9 })).tasks).toBe(2)
    await admin.query('ROLLBACK')
    expect((await first.forget({ status: 'succeeded', beforeMs: 1000, limit: 9 })).tasks).toBe(2)
  })

  it('was shortened meanwhile: who knew it before writes upon what it is now', async () => {
    const { ledgers, first } = await open(2)
    const [, second] = ledgers as [Ledger, Ledger]
    const key = { scopeKind: 'task', scope: 'mail', id: 'long' } as const
    await writeHistory(second, [
      {
        task: { id: 'long', status: 'running', owner: 'me', dueAtMs: null },
        attempts: numbers(30).map((attempt) => ({ attempt, endedAtMs: attempt })),
      },
    ])
    await first.compact({ maxHistoryPerTask: 20, limit: 9 })
    const seen = await second.transact({ tasks: [key] }, (view) => {
      const task = view.task(key) as TaskRecord
      return {
        tasks: [{ ...task, fence: 9 }],
        attempts: [sampleAttempt(key, { attempt: 31, endedAtMs: 31 })],
        result: task.compacted,
      }
    })
    expect(seen).toEqual({ attempts: 20, untilMs: 19 })
    expect(await first.get(key)).toMatchObject({ fence: 9, compacted: { attempts: 20, untilMs: 19 } })
    expect(await first.attempts(key)).toHaveLength(11)
  })
})

describe('a policy', () => {
  it('stays as long as any task has it, whichever that is', async () => {
    const { first } = await open(1)
    await first.create([
      newTask({ id: 'old', status: 'succeeded', dueAtMs: null, updatedAtMs: 1 }),
      newTask({ id: 'new', status: 'failed', dueAtMs: null, updatedAtMs: 1 }),
    ])
    now = 10
    const drop = async (): Promise<number> => (await first.compact({ policiesBeforeMs: 5, limit: 9 })).policies
    expect(await drop()).toBe(0)
    // The one that was remembered goes.
    await first.forget({ status: 'failed', beforeMs: 5, limit: 9 })
    expect(await drop()).toBe(0)
    await first.forget({ status: 'succeeded', beforeMs: 5, limit: 9 })
    expect(await drop()).toBe(1)
    expect(await drop()).toBe(0)
  })

  it('that is in use does not hide others behind it', async () => {
    const { first } = await open(1)
    await first.create(
      numbers(5).map((index) => ({
        ...newTask({ id: `t${index}`, policyHash: `used${index}` }),
        policy: { hash: `used${index}`, policy: {} },
      })),
    )
    now = 1
    for (const index of numbers(3)) await first.keepPolicy({ hash: `free${index}`, policy: {} })
    let dropped = 0
    for (let sweep = 0; sweep < 8; sweep++) dropped += (await first.compact({ policiesBeforeMs: 5, limit: 2 })).policies
    expect(dropped).toBe(3)
  })
})

describe('an owner', () => {
  it('whose row is damaged is told, and nothing is removed', async () => {
    const { first, schema } = await open(1)
    await admin.query(`INSERT INTO ${schema}.owners VALUES ('a', 'no JSON')`)
    await writeHistory(first, [{ task: { id: 'a' }, attempts: numbers(30).map((attempt) => ({ attempt })) }])
    const request = { ownersBeforeMs: 1, maxHistoryPerTask: 10, limit: 9 }
    await expect(first.compact(request)).rejects.toMatchObject({ problem: 'corrupt' })
    expect(await rowsOf(schema, 'attempts')).toBe(30)
  })
})

describe('due tasks', () => {
  it('are shared out among queues, so that none waits behind the backlog of another', async () => {
    const { first } = await open(1)
    const backlog = numbers(50).map((index) => newTask({ id: `b${index}`, queue: 'busy', dueAtMs: index }))
    const few = numbers(3).map((index) => newTask({ id: `f${index}`, queue: 'few', dueAtMs: 100 + index }))
    await first.create([...backlog, ...few])
    now = 1000
    const queues = ['busy', 'idle', 'few'].map((queue) => ({ queue, policyHash: 'p1' }))
    const claim = (limit: number): Promise<readonly string[]> =>
      first.claim({ queues, limit }, (task) => ({
        tasks: [{ ...task, status: 'running', dueAtMs: null, owner: 'me' }],
        result: task.id,
      }))
    expect(await claim(4)).toEqual(['b0', 'f0', 'b1', 'f1'])
    expect(await claim(3)).toEqual(['b2', 'f2', 'b3'])
    // With nobody else there, the whole room is its own.
    expect(await claim(10)).toEqual(numbers(10).map((index) => `b${index + 4}`))
  })
})
