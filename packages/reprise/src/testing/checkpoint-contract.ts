/** What every ledger must do with checkpoints of tasks. Imports the ledger's types and samples. */
import type { Ledger } from '../ledger/ledger.js'
import type { Json, RunRecord, TaskKey } from '../ledger/records.js'
import { type Check, isError, rejection, same } from './contract-checks.js'
import { newTask, sampleTask } from './sample-task.js'

const KEY = { scopeKind: 'task', scope: 'mail', id: 'a' } as const
const OTHER = { ...KEY, id: 'b' } as const

const keep = (ledger: Ledger, key: TaskKey, value?: Json): Promise<void> =>
  ledger.transact({ tasks: [key] }, () => ({
    checkpoints: [{ ...key, ...(value !== undefined && { value }) }],
    result: undefined,
  }))

const RUN: RunRecord = {
  ...{ id: 'night-1', kind: 'workflow', name: 'night', status: 'running', owner: null, fence: 1, resumes: 0 },
  ...{ fingerprint: 'f', detail: null, correlationId: 'c', createdAtMs: 0, updatedAtMs: 0, endedAtMs: null },
}

export const CHECKPOINT_CASES: Readonly<Record<string, Check>> = {
  'gives back the last checkpoint of a task, to the last character': async (ledger) => {
    await ledger.create([newTask(), newTask({ id: 'b' })])
    same(await ledger.checkpoint(KEY), undefined)
    await keep(ledger, KEY, { page: 1 })
    await keep(ledger, OTHER, null)
    const value = { page: 2, rows: [1.5, null, true, 'a "b" \u0000 ✓ 😀'], empty: {} }
    await keep(ledger, KEY, value)
    same(await ledger.checkpoint(KEY), value)
    same(await ledger.checkpoint(OTHER), null)
    same(await ledger.checkpoint({ ...KEY, scopeKind: 'run' }), undefined)
    const long = 'x'.repeat(65_000)
    await keep(ledger, KEY, long)
    same(await ledger.checkpoint(KEY), long)
  },

  'removes a checkpoint, and removes none twice': async (ledger) => {
    await ledger.create([newTask()])
    await keep(ledger, KEY)
    await keep(ledger, KEY, 1)
    await keep(ledger, KEY)
    same(await ledger.checkpoint(KEY), undefined)
    await keep(ledger, KEY)
    await keep(ledger, KEY, 2)
    same(await ledger.checkpoint(KEY), 2)
  },

  'writes a checkpoint with the task, or neither': async (ledger) => {
    await ledger.create([newTask()])
    const next = sampleTask({ fence: 1 })
    await ledger.transact({ tasks: [KEY] }, () => ({
      tasks: [next],
      checkpoints: [{ ...KEY, value: 1 }],
      result: null,
    }))
    same(await ledger.get(KEY), next)
    const refused = ledger.transact({ tasks: [KEY] }, () => {
      throw new Error('fenced')
    })
    isError(await rejection(refused), 'fenced')
    const broken = ledger.transact({ tasks: [KEY] }, () => ({
      tasks: [{ ...next, fence: 2 }],
      checkpoints: [{ ...KEY, value: { far: 1n as never } }],
      result: null,
    }))
    await rejection(broken)
    same(await ledger.get(KEY), next)
    same(await ledger.checkpoint(KEY), 1)
  },

  'keeps the last of several checkpoints that are written at once': async (ledger) => {
    await ledger.create([newTask()])
    const all = [keep(ledger, KEY, 1), keep(ledger, KEY), keep(ledger, KEY, 2), keep(ledger, KEY, 3)]
    await Promise.all(all)
    same(await ledger.checkpoint(KEY), 3)
    await Promise.all([keep(ledger, KEY, 4), keep(ledger, KEY)])
    same(await ledger.checkpoint(KEY), undefined)
  },

  'writes no checkpoint of a task that is not there': async (ledger) => {
    isError(await rejection(keep(ledger, KEY, 1)), 'does not exist')
    same(await ledger.checkpoint(KEY), undefined)
  },

  'takes back the checkpoints of a claim whose deciding function throws': async (ledger, setTime) => {
    await ledger.create([newTask(), newTask({ id: 'b' })])
    await keep(ledger, KEY, 1)
    setTime(2000)
    const request = { queues: [{ queue: 'mail', policyHash: 'p1' }], limit: 2 }
    const claim = ledger.claim(request, (task) => {
      if (task.id === 'b') throw new Error('no')
      return { checkpoints: [KEY], result: null }
    })
    isError(await rejection(claim), 'no')
    same(await ledger.checkpoint(KEY), 1)
  },

  'forgets checkpoints with their tasks': async (ledger) => {
    const step = { scopeKind: 'run', scope: RUN.id, id: 'fetch' } as const
    await ledger.create([newTask({ status: 'cancelled', dueAtMs: null }), newTask(step)])
    await ledger.transact({ tasks: [], runs: [RUN.id] }, () => ({ runs: [{ run: RUN, definition: {} }], result: null }))
    await keep(ledger, KEY, 1)
    await keep(ledger, step, 2)
    await ledger.forget({ status: 'cancelled', beforeMs: 1e9, limit: 10 })
    await ledger.removeRun(RUN.id, 10)
    await ledger.create([newTask(), newTask(step)])
    same(await ledger.checkpoint(KEY), undefined)
    same(await ledger.checkpoint(step), undefined)
  },
}
