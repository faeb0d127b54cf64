import { hostname } from 'node:os'
import { type Ledger, MemoryLedger, type RunRecord, type TaskRecord } from 'reprise/durable'
import { expect, test } from 'vitest'
import { withVerbs } from '../../../../test/durable/with-verbs.js'
import { sampleTask } from '../../../reprise/src/testing/sample-task.js'
import { recordedPlan } from '../run/recorded-plan.js'
import { RunWatcher } from './run-watcher.js'

const STEPS = 40
const NOW = Date.now()
const OWNER = { id: 'me', host: 'elsewhere', pid: 1, processStart: '', bootId: '', startedAtMs: 1 }
const definition = { steps: Array.from({ length: STEPS }, (_, index) => ({ id: `s${index}`, run: ['true'] })) }

const RUN: RunRecord = {
  ...{
    id: 'r',
    kind: 'workflow',
    name: 'x',
    status: 'running',
    owner: OWNER.id,
    fence: 1,
    resumes: 0,
    fingerprint: '',
  },
  detail: { cwd: '/', documentDir: '/', params: {}, steps: STEPS },
  ...{ correlationId: 'r', createdAtMs: 1, updatedAtMs: 1, endedAtMs: null },
}

/** Every step but the last has ended long ago. */
async function filled(): Promise<Ledger> {
  const ledger = new MemoryLedger()
  await ledger.heartbeat({ ...OWNER, host: `not ${hostname()}`, leaseUntilMs: Date.now() + 1e9 })
  await ledger.transact({ tasks: [], runs: ['r'] }, () => ({ runs: [{ run: RUN, definition }], result: undefined }))
  const ended = { status: 'succeeded', dueAtMs: null, result: { exit_code: 0, attempts: 1 } } as const
  const tasks = definition.steps.slice(1).map(({ id }) => step(id, { ...ended, updatedAtMs: 1000 }))
  const running = step('s0', { status: 'running', dueAtMs: null, owner: OWNER.id, updatedAtMs: NOW })
  const policy = { hash: 'p1', policy: {} }
  await ledger.create([...tasks, running].map((task) => ({ task, policy, payloadHash: '' })))
  return ledger
}

function step(id: string, changes: Partial<TaskRecord>): TaskRecord {
  return sampleTask({ scopeKind: 'run', scope: 'r', queue: `r/${id}`, id, ...changes })
}

test('of a run that goes on, steps that have ended are never read, and later looks read what has changed', async () => {
  const ledger = await filled()
  let [tasks, histories] = [0, 0]
  const counted = withVerbs(ledger, {
    list: async (filter) => {
      const page = await ledger.list(filter)
      tasks += page.length
      return page
    },
    attemptsOfRun: (run, page) => {
      histories++
      return ledger.attemptsOfRun(run, page)
    },
  })
  const planOf = (run: RunRecord): ReturnType<typeof recordedPlan> => recordedPlan(run, definition)
  const watcher = new RunWatcher(
    {
      ledger: counted,
      planOf,
      logsOf: () => () => null,
      lastLineIn: () => '',
      viewMap: () => Promise.reject(new Error('no map is expected')),
    },
    'r',
  )
  expect((await watcher.look())?.map(({ type }) => type)).toEqual(['run_started', 'attempt_started'])
  expect(watcher.isOver).toBe(false)
  // The step that runs, each time that it is asked for.
  expect(tasks).toBeLessThan(5)
  ;[tasks, histories] = [0, 0]
  expect(await watcher.look()).toEqual([])
  expect([tasks, histories]).toEqual([0, 0])
  const ended = {
    status: 'succeeded',
    owner: null,
    result: { exit_code: 0, attempts: 1 },
    updatedAtMs: NOW + 100,
  } as const
  await ledger.transact({ tasks: [step('s0', {})] }, () => ({
    tasks: [step('s0', { ...ended, dueAtMs: null, fence: 1 })],
    result: undefined,
  }))
  expect(await watcher.look()).toMatchObject([{ type: 'step_finished', step: 's0', state: 'succeeded' }])
  expect([tasks, histories]).toEqual([1, 0])
})
