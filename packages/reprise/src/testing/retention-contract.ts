/**
 * What every ledger forgets and shortens when asked, and what it never does, as cases of its contract. Imports the
 * ledger's types, checks and samples.
 */
import type { CompactRequest, Ledger } from '../ledger/ledger.js'
import type { FinishedStatus, OwnerRecord, TaskRecord } from '../ledger/records.js'
import { type Check, isError, rejection, same } from './contract-checks.js'
import { sampleAttempt, writeHistory } from './sample-history.js'
import { newTask } from './sample-task.js'

const NOTHING = { tasks: 0, attempts: 0, events: 0, deadLetters: 0 }
const KEY = { scopeKind: 'task', scope: 'mail', id: 'long' } as const
const done = { dueAtMs: null, updatedAtMs: 10 } as const

/** A task that has been tried `count` times, interrupted and reset on the way. */
async function writeLong(ledger: Ledger, count: number, task: Partial<TaskRecord> = {}): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  await writeHistory(ledger, [
    {
      task: { ...task, id: 'long' },
      attempts: numbers.map((attempt) => ({ generation: attempt > 5 ? 2 : 1, attempt, endedAtMs: attempt })),
      events: numbers.map((number) => ({ atMs: number })),
      dead: [{ generation: 1, atMs: 5 }],
    },
    { task: { id: 'short' }, attempts: [{ endedAtMs: 1 }], events: [{ atMs: 1 }] },
  ])
}

const idsOf = async (ledger: Ledger): Promise<string[]> => (await ledger.list({})).map(({ id }) => id)
const eventsOf = async (ledger: Ledger): Promise<string[]> =>
  (await ledger.events(0, 1000)).map(({ id, type }) => `${id} ${type}`)

export const RETENTION_CASES: Readonly<Record<string, Check>> = {
  'forgets finished tasks of a kind that have not changed for long, the oldest first': async (ledger) => {
    await ledger.create([
      newTask({ id: 'good', ...done, status: 'succeeded', result: 1 }),
      newTask({ id: 'better', ...done, status: 'succeeded', updatedAtMs: 5 }),
      newTask({ id: 'recent', ...done, status: 'succeeded', updatedAtMs: 50 }),
      newTask({ id: 'bad', ...done, status: 'failed' }),
      newTask({ id: 'stopped', ...done, status: 'cancelled' }),
      newTask({ id: 'waiting', updatedAtMs: 1 }),
      newTask({ id: 'running', ...done, status: 'running', owner: 'x' }),
      newTask({ id: 'parked', status: 'parked', owner: 'x', updatedAtMs: 1 }),
      newTask({ id: 'undecided', ...done, status: 'undecided' }),
    ])
    same(await ledger.forget({ status: 'succeeded', beforeMs: 50, limit: 1 }), { ...NOTHING, tasks: 1 })
    same(await ledger.get({ scopeKind: 'task', scope: 'mail', id: 'better' }), undefined)
    same((await ledger.forget({ status: 'succeeded', beforeMs: 50, limit: 9 })).tasks, 1)
    same(await ledger.forget({ status: 'succeeded', beforeMs: 50, limit: 9 }), NOTHING)
    same((await ledger.forget({ status: 'failed', beforeMs: 50, limit: 9 })).tasks, 1)
    same((await ledger.forget({ status: 'cancelled', beforeMs: 50, limit: 9 })).tasks, 1)
    same(await idsOf(ledger), ['parked', 'recent', 'running', 'undecided', 'waiting'])
  },

  'forgets all that belongs to a task, and nothing of others': async (ledger) => {
    const rows = {
      attempts: [{ endedAtMs: 1 }, { attempt: 2, endedAtMs: 2 }],
      events: [{ atMs: 1 }],
      dead: [{ generation: 1 }, { generation: 2 }],
    }
    await writeHistory(ledger, [
      { task: { id: 'a', ...done, status: 'failed' }, ...rows },
      { task: { id: 'b', ...done, status: 'succeeded' }, ...rows },
      { task: { scopeKind: 'task', scope: 'other', id: 'a', ...done, status: 'succeeded' }, ...rows },
    ])
    const counts = { tasks: 1, attempts: 2, events: 1, deadLetters: 2 }
    same(await ledger.forget({ status: 'failed', beforeMs: 11, limit: 9 }), counts)
    same(await ledger.attempts({ scopeKind: 'task', scope: 'mail', id: 'a' }), [])
    same((await ledger.deadLetters()).map(({ scope, id }) => `${scope}/${id}`).toSorted(), [
      'mail/b',
      'mail/b',
      'other/a',
      'other/a',
    ])
    same((await ledger.events(0, 9)).length, 2)
    same((await ledger.attempts({ scopeKind: 'task', scope: 'other', id: 'a' })).length, 2)
    same((await ledger.analytics.totals()).attempts, 4)
    same((await ledger.create([newTask({ id: 'a' })]))[0]?.type, 'created')
    same(await ledger.attempts({ scopeKind: 'task', scope: 'mail', id: 'a' }), [])
  },

  'refuses to forget what is not finished': async (ledger) => {
    await ledger.create([newTask({ id: 'a', updatedAtMs: 1 })])
    for (const status of ['waiting', 'running', 'parked', 'undecided'] as string[]) {
      const request = { status: status as FinishedStatus, beforeMs: 99, limit: 9 }
      isError(await rejection(ledger.forget(request)), 'cannot be forgotten: say one of succeeded')
    }
    same(await idsOf(ledger), ['a'])
  },

  'numbers events on after it has forgotten some': async (ledger) => {
    await writeHistory(ledger, [
      { task: { id: 'a', ...done, status: 'succeeded' }, events: [{ atMs: 1 }, { atMs: 2 }] },
      { task: { id: 'b' } },
    ])
    const seen = (await ledger.events(0, 9)).at(-1)?.seq ?? 0
    await ledger.forget({ status: 'succeeded', beforeMs: 99, limit: 9 })
    same(await ledger.events(0, 9), [])
    const event = {
      type: 'retry_now',
      scopeKind: 'task',
      scope: 'mail',
      id: 'b',
      atMs: 3,
      correlationId: 'c',
      detail: null,
    } as const
    await ledger.transact({ tasks: [] }, () => ({ events: [event], result: 0 }))
    same((await ledger.events(seen, 9)).length, 1)
  },

  'shortens a long history to the newer half of its limit, and says so': async (ledger, setTime) => {
    await writeLong(ledger, 30)
    setTime(99)
    const request: CompactRequest = { maxHistoryPerTask: 20, limit: 9 }
    const nothingElse = { policies: 0, owners: 0, reclaimedBytes: 0 }
    same(await ledger.compact(request), { tasks: 1, attempts: 20, events: 20, deadLetters: 0, ...nothingElse })
    same(await ledger.compact(request), { ...NOTHING, ...nothingElse })
    same(
      (await ledger.attempts(KEY)).map(({ attempt }) => attempt),
      Array.from({ length: 10 }, (_, index) => index + 21),
    )
    const compacted = { attempts: 20, untilMs: 20 }
    same((await ledger.get(KEY))?.compacted, compacted)
    same((await ledger.list({}))[0]?.compacted, compacted)
    const history = await ledger.analytics.history(KEY)
    same(history?.compacted, compacted)
    const detail = { attempts: 20, events: 20, deadLetters: 0 }
    const { seq: _seq, ...last } = history?.events.at(-1) ?? { seq: 0 }
    same(last, { type: 'compacted', ...KEY, atMs: 99, correlationId: 'c-long', detail })
    const resumed = Array.from({ length: 10 }, () => 'long resumed')
    same(await eventsOf(ledger), [...resumed, 'short resumed', 'long compacted'])
    same((await ledger.deadLetters()).length, 1)
  },

  'counts on when it shortens again, and says what its figures miss': async (ledger) => {
    await writeLong(ledger, 30, { status: 'succeeded', dueAtMs: null })
    const { analytics } = ledger
    await ledger.compact({ maxHistoryPerTask: 20, limit: 9 })
    await ledger.compact({ maxHistoryPerTask: 19, limit: 9 })
    same((await ledger.get(KEY))?.compacted, { attempts: 20, untilMs: 20 })
    await ledger.transact({ tasks: [KEY] }, () => ({
      attempts: [sampleAttempt(KEY, { generation: 2, attempt: 31, endedAtMs: 31 })],
      result: 0,
    }))
    same((await ledger.compact({ maxHistoryPerTask: 10, limit: 9 })).attempts, 6)
    same((await ledger.get(KEY))?.compacted, { attempts: 26, untilMs: 26 })
    same(await analytics.totals(), {
      tasks: 2,
      byStatus: { succeeded: 1, waiting: 1 },
      attempts: 6,
      compactedAttempts: 26,
    })
    same((await analytics.totals({ sinceMs: 26 })).compactedAttempts, 26)
    same((await analytics.totals({ sinceMs: 26.5 })).compactedAttempts, 0)
    same((await analytics.totals({ scopeKind: 'task', scope: 'other' })).compactedAttempts, 0)
    same(
      (await analytics.failurePatterns()).map(({ count }) => count),
      [6],
    )
  },

  'keeps to itself what it has shortened: no transaction changes it': async (ledger) => {
    await writeLong(ledger, 30)
    await ledger.compact({ maxHistoryPerTask: 20, limit: 9 })
    const compacted = { attempts: 20, untilMs: 20 }
    await ledger.transact({ tasks: [KEY] }, (view) => {
      const { compacted: seen, ...task } = view.task(KEY) as TaskRecord
      same(seen, compacted)
      return { tasks: [{ ...task, fence: 7 }], result: 0 }
    })
    same((await ledger.get(KEY))?.compacted, compacted)
    await ledger.transact({ tasks: [KEY] }, (view) => ({
      tasks: [{ ...(view.task(KEY) as TaskRecord), compacted: { attempts: 1, untilMs: 1 } }],
      result: 0,
    }))
    same((await ledger.get(KEY))?.compacted, compacted)
    same((await ledger.get(KEY))?.fence, 7)
  },

  'keeps the newest dead letters of a task that is tried again and again': async (ledger) => {
    const generations = Array.from({ length: 12 }, (_, index) => ({
      generation: index + 1,
      endedAtMs: index,
      atMs: index,
    }))
    await writeHistory(ledger, [{ task: { id: 'long' }, attempts: generations, dead: generations }])
    same((await ledger.compact({ maxHistoryPerTask: 10, limit: 9 })).deadLetters, 7)
    same(
      (await ledger.deadLetters()).map(({ generation }) => generation),
      [8, 9, 10, 11, 12],
    )
  },

  'refuses a limit that would leave no history': async (ledger) => {
    for (const maxHistoryPerTask of [9, 10.5, -1, Number.NaN]) {
      const error = await rejection(ledger.compact({ maxHistoryPerTask, limit: 9 }))
      isError(error, 'say a whole number of 10 or more')
    }
  },

  'drops events from before a time, in small numbers': async (ledger) => {
    await writeHistory(ledger, [{ task: { id: 'a' }, events: [1, 2, 3, 4, 5].map((atMs) => ({ atMs })) }])
    same((await ledger.compact({ eventsBeforeMs: 4, limit: 2 })).events, 2)
    same((await ledger.compact({ eventsBeforeMs: 4, limit: 2 })).events, 1)
    same((await ledger.compact({ eventsBeforeMs: 4, limit: 2 })).events, 0)
    same(
      (await ledger.events(0, 9)).map(({ atMs }) => atMs),
      [4, 5],
    )
  },

  'drops policies that no task has, unless they were kept lately': async (ledger, setTime) => {
    const policy = (hash: string): { hash: string; policy: { x: string } } => ({ hash, policy: { x: hash } })
    const hashes = ['p1', 'p2', 'p3', 'p4', 'p5']
    const left = async (): Promise<string[]> => {
      const found = await Promise.all(hashes.map((hash) => ledger.policy(hash)))
      return found.flatMap((record) => record?.hash ?? [])
    }
    setTime(10)
    await ledger.create([
      newTask({ id: 'a', ...done, status: 'succeeded' }),
      { ...newTask({ id: 'b', policyHash: 'p2' }), policy: policy('p2') },
      { ...newTask({ id: 'c', policyHash: 'p2' }), policy: policy('p2') },
    ])
    await ledger.keepPolicy(policy('p3'))
    await ledger.keepPolicy(policy('p4'))
    setTime(20)
    await ledger.keepPolicy(policy('p4'))
    await ledger.keepPolicy(policy('p5'))
    const drop = async (): Promise<number> => (await ledger.compact({ policiesBeforeMs: 20, limit: 9 })).policies
    same(await drop(), 1)
    same(await left(), ['p1', 'p2', 'p4', 'p5'])
    await ledger.forget({ status: 'succeeded', beforeMs: 99, limit: 9 })
    const move = (id: string): Promise<number> =>
      ledger.transact({ tasks: [{ scopeKind: 'task', scope: 'mail', id }] }, (view) => ({
        tasks: [{ ...(view.task({ scopeKind: 'task', scope: 'mail', id }) as TaskRecord), policyHash: 'p4' }],
        result: 0,
      }))
    await move('b')
    same(await drop(), 1)
    same(await left(), ['p2', 'p4', 'p5'])
    await move('c')
    same((await ledger.compact({ policiesBeforeMs: 99, limit: 9 })).policies, 2)
    same(await left(), ['p4'])
  },

  'drops owners whose lease is long over, and who own nothing': async (ledger) => {
    const owner: OwnerRecord = {
      id: 'old',
      host: 'h',
      pid: 1,
      processStart: '5',
      bootId: 'b',
      startedAtMs: 1,
      leaseUntilMs: 10,
    }
    await ledger.heartbeat(owner)
    await ledger.heartbeat({ ...owner, id: 'owning' })
    await ledger.heartbeat({ ...owner, id: 'living', leaseUntilMs: 20 })
    await ledger.create([newTask({ status: 'running', owner: 'owning', dueAtMs: null })])
    same((await ledger.compact({ ownersBeforeMs: 20, limit: 9 })).owners, 1)
    same(
      (await ledger.owners()).map(({ id }) => id).toSorted((a, b) => (a < b ? -1 : 1)),
      ['living', 'owning'],
    )
  },

  'does nothing that it was not asked for': async (ledger, setTime) => {
    await writeLong(ledger, 500, { status: 'failed', dueAtMs: null })
    setTime(1e12)
    const nothing = { ...NOTHING, policies: 0, owners: 0, reclaimedBytes: 0 }
    same(await ledger.compact({ limit: 9 }), nothing)
    same((await ledger.attempts(KEY)).length, 500)
  },
}
