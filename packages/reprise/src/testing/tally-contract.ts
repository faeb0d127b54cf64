/**
 * Tallies: at every commit they count the tasks that name them, whatever becomes of these, as cases of the contract.
 * Imports the ledger's types, checks and samples.
 */
import { initialState, snapshot } from '../core/state.js'
import type { Ledger } from '../ledger/ledger.js'
import { keyIn, type OwnerRecord, type RunRecord, type TaskRecord } from '../ledger/records.js'
import { countedTallies, tallyOf } from '../ledger/tally.js'
import { type Check, same } from './contract-checks.js'
import { newTask, sampleTask } from './sample-task.js'

const SCOPE = { scopeKind: 'task', scope: 'mail' } as const
const EMPTY = tallyOf([])
const failedOnce: Partial<TaskRecord> = {
  progress: { ...sampleTask().progress, retry: { ...snapshot(initialState(null), 7), failures: 1 } },
}
const over = (status: 'succeeded' | 'failed' | 'cancelled'): Partial<TaskRecord> => ({ status, dueAtMs: null })

const OWNER: OwnerRecord = {
  id: 'first',
  host: 'h',
  pid: 1,
  processStart: '5',
  bootId: 'b',
  startedAtMs: 1,
  leaseUntilMs: 2,
}

const RUN: RunRecord = {
  id: 'import-1',
  kind: 'import',
  name: 'import',
  status: 'running',
  owner: null,
  fence: 1,
  resumes: 0,
  fingerprint: '',
  detail: null,
  correlationId: 'c1',
  createdAtMs: 0,
  updatedAtMs: 0,
  endedAtMs: null,
}

async function change(ledger: Ledger, id: string, changes: Partial<TaskRecord>): Promise<void> {
  const key = keyIn(SCOPE, id)
  await ledger.transact({ tasks: [key] }, (view) => ({
    tasks: [{ ...(view.task(key) as TaskRecord), ...changes }],
    result: undefined,
  }))
}

/** Every tally is what the tasks say. */
async function expectExact(ledger: Ledger): Promise<void> {
  const expected = countedTallies(await ledger.list({}), () => true)
  same(await ledger.tallies({}), expected)
  for (const { name, ...tally } of expected) same(await ledger.tally(name), tally)
}

export const TALLY_CASES: Readonly<Record<string, Check>> = {
  'counts tasks by the tally that they name, from their creation on': async (ledger) => {
    same(await ledger.tally('a'), EMPTY)
    await ledger.create([newTask({ id: 't1', tally: 'a' }), newTask({ id: 't2', tally: 'b' }), newTask({ id: 't3' })])
    await ledger.create([
      newTask({ id: 't4', tally: 'a' }),
      newTask({ id: 't1', tally: 'a' }),
      newTask({ id: 't1' }, 'x'),
    ])
    same(await ledger.tally('a'), { ...EMPTY, total: 2, fresh: 2 })
    same(await ledger.tally('b'), { ...EMPTY, total: 1, fresh: 1 })
    same((await ledger.get(keyIn(SCOPE, 't1')))?.tally, 'a')
    const key = keyIn(SCOPE, 't5')
    await ledger.transact({ tasks: [key] }, () => ({
      created: [newTask({ ...key, tally: 'a', ...over('failed') })],
      result: undefined,
    }))
    same(await ledger.tally('a'), { ...EMPTY, total: 3, fresh: 2, failed: 1 })
    await expectExact(ledger)
  },

  'counts a task as what it becomes, in the commit in which it does': async (ledger) => {
    const tasks = ['t1', 't2', 't3', 't4'].map((id) => newTask({ id, tally: 'a' }))
    await ledger.create([...tasks, newTask({ id: 'other', tally: 'b' })])
    await change(ledger, 't1', { status: 'running', owner: 'me', dueAtMs: null })
    same(await ledger.tally('a'), { ...EMPTY, total: 4, fresh: 4 })
    await change(ledger, 't1', { status: 'waiting', owner: null, dueAtMs: 9, ...failedOnce })
    await change(ledger, 't2', over('succeeded'))
    await change(ledger, 't3', over('cancelled'))
    await change(ledger, 't4', { status: 'undecided', dueAtMs: null })
    same(await ledger.tally('a'), { ...EMPTY, total: 4, retrying: 1, succeeded: 1, cancelled: 1, undecided: 1 })
    await change(ledger, 't1', over('failed'))
    same(await ledger.tally('a'), { ...EMPTY, total: 4, failed: 1, succeeded: 1, cancelled: 1, undecided: 1 })
    await change(ledger, 't1', sampleTask({ id: 't1', generation: 2 }))
    same(await ledger.tally('a'), { ...EMPTY, total: 4, fresh: 1, succeeded: 1, cancelled: 1, undecided: 1 })
    same(await ledger.tally('b'), { ...EMPTY, total: 1, fresh: 1 })
    await expectExact(ledger)
  },

  'keeps the tally of a task, whatever a change says of it': async (ledger) => {
    await ledger.create([newTask({ id: 't1', tally: 'a' }), newTask({ id: 't2' })])
    for (const id of ['t1', 't2']) {
      const running = sampleTask({
        id,
        status: 'running',
        owner: 'me',
        dueAtMs: null,
        ...(id === 't2' && { tally: 'b' }),
      })
      for (const next of [running, { ...running, ...over('succeeded'), owner: null }]) {
        await ledger.transact({ tasks: [next] }, () => ({ tasks: [next], result: undefined }))
      }
    }
    same((await ledger.get(keyIn(SCOPE, 't1')))?.tally, 'a')
    same((await ledger.get(keyIn(SCOPE, 't2')))?.tally, undefined)
    same(await ledger.tally('a'), { ...EMPTY, total: 1, succeeded: 1 })
    same(await ledger.tally('b'), EMPTY)
  },

  'counts nothing of what is not written': async (ledger) => {
    await ledger.create([newTask({ id: 't1', tally: 'a' })])
    const key = keyIn(SCOPE, 't1')
    const ended = ledger.transact({ tasks: [key] }, (view) => {
      throw new Error(`no: ${view.task(key)?.id}`)
    })
    await ended.catch(() => undefined)
    const twice = ledger.transact({ tasks: [key] }, () => ({
      tasks: [sampleTask({ id: 't1', ...over('failed') })],
      created: [newTask({ id: 't1', tally: 'a' })],
      result: undefined,
    }))
    await twice.catch(() => undefined)
    same(await ledger.tally('a'), { ...EMPTY, total: 1, fresh: 1 })
  },

  'counts each of many tasks that are claimed and end at once': async (ledger, setTime) => {
    const ids = Array.from({ length: 60 }, (_, index) => `t${index}`)
    await Promise.all(ids.map((id, index) => ledger.create([newTask({ id, tally: `half-${index % 2}` })])))
    await expectExact(ledger)
    setTime(1000)
    const queues = [{ queue: 'mail', policyHash: 'p1' }]
    const claimed = await ledger.claim({ queues, limit: 60 }, (task) => {
      const running: TaskRecord = { ...task, status: 'running', owner: 'me', fence: 1, dueAtMs: null }
      return { tasks: [running], result: running }
    })
    same(claimed.length, 60)
    const ends = claimed.map(({ id }, index) => {
      const end = index % 3 === 0 ? over('failed') : over('succeeded')
      // Of those that are asked for twice at once, the second finds the first written, and changes nothing.
      return [change(ledger, id, { ...end, owner: null }), change(ledger, id, { ...end, owner: null })]
    })
    await Promise.all(ends.flat())
    same(
      [await ledger.tally('half-0'), await ledger.tally('half-1')].map(({ total }) => total),
      [30, 30],
    )
    same(
      (await ledger.tallies({})).reduce((sum, { failed }) => sum + failed, 0),
      20,
    )
    await expectExact(ledger)
  },

  'counts out what is forgotten, and what goes with its run': async (ledger) => {
    const inRun = { scopeKind: 'run', scope: RUN.id } as const
    await ledger.transact({ tasks: [], runs: [RUN.id] }, () => ({
      runs: [{ run: RUN, definition: null }],
      result: undefined,
    }))
    await ledger.create([
      newTask({ id: 'old', tally: 'a', ...over('succeeded'), updatedAtMs: 1 }),
      newTask({ id: 'new', tally: 'a', ...over('succeeded'), updatedAtMs: 100 }),
      newTask({ id: 'plain', ...over('succeeded'), updatedAtMs: 1 }),
      newTask({ ...inRun, id: 's1', tally: 'a', ...failedOnce }),
      newTask({ ...inRun, id: 's2', tally: 'steps' }),
      newTask({ ...inRun, id: 's3', tally: 'steps', ...over('failed') }),
    ])
    same((await ledger.forget({ status: 'succeeded', beforeMs: 50, limit: 9 })).tasks, 2)
    same(await ledger.tally('a'), { ...EMPTY, total: 2, succeeded: 1, retrying: 1 })
    same((await ledger.removeRun(RUN.id, 2)).isDone, false)
    await expectExact(ledger)
    same((await ledger.removeRun(RUN.id, 9)).isDone, true)
    same(await ledger.tally('a'), { ...EMPTY, total: 1, succeeded: 1 })
    same(await ledger.tally('steps'), EMPTY)
    await expectExact(ledger)
  },

  'lists tallies in the order of their names, page by page': async (ledger) => {
    const names = ['import-1', 'import-10', 'import-2', 'jobs/eu', 'Zürich']
    await ledger.create(names.map((tally, index) => newTask({ id: `t${index}`, tally })))
    const named = async (filter: Parameters<Ledger['tallies']>[0]): Promise<string[]> =>
      (await ledger.tallies(filter)).map(({ name }) => name)
    same(await named({}), names.toSorted())
    same(await named({ prefix: 'import-' }), ['import-1', 'import-10', 'import-2'])
    same(await named({ prefix: 'import-', limit: 2 }), ['import-1', 'import-10'])
    same(await named({ prefix: 'import-', after: 'import-10', limit: 2 }), ['import-2'])
    same(await named({ prefix: 'nobody' }), [])
  },

  'keeps what an owner has counted when the owner is removed': async (ledger) => {
    await ledger.heartbeat(OWNER)
    await ledger.create([newTask({ id: 't1', tally: 'a' }), newTask({ id: 't2', tally: 'b' })])
    await ledger.heartbeat({ ...OWNER, id: 'second' })
    await change(ledger, 't1', over('succeeded'))
    await change(ledger, 't2', { ...over('succeeded'), updatedAtMs: 1 })
    await expectExact(ledger)
    await ledger.removeOwner('first')
    await expectExact(ledger)
    await change(ledger, 't1', sampleTask({ id: 't1', generation: 2 }))
    await ledger.compact({ ownersBeforeMs: 1e12, limit: 10 })
    await expectExact(ledger)
    await ledger.forget({ status: 'succeeded', beforeMs: 50, limit: 9 })
    same(await ledger.tally('b'), EMPTY)
    await expectExact(ledger)
  },
}
