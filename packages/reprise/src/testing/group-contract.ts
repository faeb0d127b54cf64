/**
 * What every ledger must do with a transaction that changes a task together with rows of its group: run, gate, other
 * tasks, and tasks that it creates. Imports the ledger's types and samples.
 */
import type { Ledger, NewTask } from '../ledger/ledger.js'
import { type Json, keyIn, type RunRecord, type TaskKey } from '../ledger/records.js'
import { type Check, isError, rejection, same } from './contract-checks.js'
import { newTask, sampleTask } from './sample-task.js'

const SCOPE = { scopeKind: 'task', scope: 'members' } as const
const RUN = 'group-1'
const GATE = 'budget:group'
const LAST = keyIn(SCOPE, 'last')

const RECORD: RunRecord = {
  id: RUN,
  kind: 'group',
  name: 'group',
  status: 'running',
  owner: null,
  fence: 1,
  resumes: 0,
  fingerprint: '',
  detail: { ended: 0 },
  correlationId: 'c1',
  createdAtMs: 0,
  updatedAtMs: 0,
  endedAtMs: null,
}

const member = (id: string): NewTask => newTask({ ...keyIn(SCOPE, id), queue: 'members' })
const over = (key: TaskKey): ReturnType<typeof sampleTask> =>
  sampleTask({ ...key, queue: 'members', status: 'succeeded', dueAtMs: null, result: 'done' })
const keysOf = (count: number): TaskKey[] => Array.from({ length: count }, (_, index) => keyIn(SCOPE, `m${index}`))

async function makeGroup(ledger: Ledger, keys: readonly TaskKey[]): Promise<void> {
  await ledger.create(keys.map(({ id }) => member(id)))
  await ledger.transact({ tasks: [], runs: [RUN] }, () => ({
    runs: [{ run: RECORD, definition: null }],
    result: undefined,
  }))
}

function endedIn(run: RunRecord | undefined): number {
  return (run?.detail as { ended?: number } | undefined)?.ended ?? Number.NaN
}

const withEnded = (run: RunRecord | undefined, ended: number): RunRecord => ({
  ...((run ?? RECORD) satisfies RunRecord),
  detail: { ended } satisfies Json,
})

/** Ends a task and counts that in the run; the one that makes the count full creates another task. */
async function end(ledger: Ledger, key: TaskKey, total: number): Promise<boolean> {
  return ledger.transact({ tasks: [key, LAST], runs: [RUN] }, (view) => {
    const ended = endedIn(view.run(RUN)) + 1
    const isLast = ended === total
    return {
      tasks: [over(key)],
      runs: [{ run: withEnded(view.run(RUN), ended) }],
      ...(isLast && { created: [member(LAST.id)] }),
      result: isLast,
    }
  })
}

export const GROUP_CASES: Readonly<Record<string, Check>> = {
  'writes an attempt and a letter of a task that the same transaction creates': async (ledger) => {
    const given = { startedAtMs: 1.5, endedAtMs: 2.5, outcome: 'failure', delayBeforeMs: 0 } as const
    const failure = { name: 'Error', message: 'no luck' }
    const row = { ...LAST, generation: 1, attempt: 1, execution: 1, ...given, failure, signature: null, owner: 'o1' }
    const letter = { ...LAST, generation: 1, atMs: 2.5, signature: 's', stopReason: 'aborted', failure } as const
    await ledger.transact({ tasks: [LAST] }, () => ({
      created: [member('last')],
      attempts: [row],
      dead: [letter],
      result: undefined,
    }))
    same(await ledger.attempts(LAST), [row])
    same(await ledger.deadLetters(), [letter])
  },

  'commits a task, its run, a gate, another task and a new one together': async (ledger) => {
    const [first, second] = keysOf(2) as [TaskKey, TaskKey]
    await makeGroup(ledger, [first, second])
    const state = { used: 1 }
    const earlier = sampleTask({ ...second, queue: 'members', dueAtMs: 7 })
    await ledger.transact({ tasks: [first, second, LAST], runs: [RUN], gates: [GATE] }, (view) => {
      same([view.task(first)?.status, view.task(LAST), view.gate(GATE)], ['waiting', undefined, undefined])
      return {
        tasks: [over(first), earlier],
        runs: [{ run: withEnded(view.run(RUN), 1) }],
        gates: [{ key: GATE, kind: 'budget', state }],
        created: [member(LAST.id)],
        result: undefined,
      }
    })
    same((await ledger.get(first))?.status, 'succeeded')
    same((await ledger.get(second))?.dueAtMs, 7)
    same((await ledger.get(LAST))?.status, 'waiting')
    same(endedIn(await ledger.run(RUN)), 1)
    same((await ledger.gates()).find(({ key }) => key === GATE)?.state, state)
  },

  'writes nothing of a group if one of its changes cannot be made': async (ledger) => {
    const [first] = keysOf(1) as [TaskKey]
    await makeGroup(ledger, [first, LAST])
    const refused = ledger.transact({ tasks: [first, LAST], runs: [RUN] }, (view) => ({
      tasks: [over(first)],
      runs: [{ run: withEnded(view.run(RUN), 1) }],
      created: [member(LAST.id)],
      result: undefined,
    }))
    isError(await rejection(refused), 'exists')
    const thrown = ledger.transact({ tasks: [first], runs: [RUN] }, () => {
      throw new Error('the group does not agree')
    })
    isError(await rejection(thrown), 'does not agree')
    same((await ledger.get(first))?.status, 'waiting')
    same(endedIn(await ledger.run(RUN)), 0)
  },

  'counts each of many tasks of a group that end at once': async (ledger) => {
    const keys = keysOf(40)
    await makeGroup(ledger, keys)
    await Promise.all(keys.map((key) => end(ledger, key, Infinity)))
    same(endedIn(await ledger.run(RUN)), keys.length)
    same((await ledger.list({ ...SCOPE, statuses: ['succeeded'] })).length, keys.length)
  },

  'creates what follows the last task of a group once, and has it due': async (ledger, setTime) => {
    const keys = keysOf(20)
    await makeGroup(ledger, keys)
    setTime(1000)
    const lasts = await Promise.all(keys.map((key) => end(ledger, key, keys.length)))
    same(lasts.filter(Boolean).length, 1)
    const queues = [{ queue: 'members', policyHash: 'p1' }]
    same(await ledger.nextDueAtMs(queues), sampleTask().dueAtMs)
    const claimed = await ledger.claim({ queues, limit: 5 }, (task) => ({ result: task.id }))
    same(claimed, [LAST.id])
  },
}
