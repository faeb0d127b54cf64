/**
 * A task of a program and a run may have the same name: whatever a ledger does to one of them leaves the other as it is.
 * Imports the ledger's types, checks and samples.
 */
import type { Ledger } from '../ledger/ledger.js'
import { keyIn, nameOf, type RunRecord, type Scope, scopeOfRun, type TaskKey } from '../ledger/records.js'
import { type Check, same } from './contract-checks.js'
import { writeHistory } from './sample-history.js'
import { newTask, sampleTask } from './sample-task.js'

const TASKS: Scope = { scopeKind: 'task', scope: 'import' }
const STEPS = scopeOfRun('import')
const TASK = keyIn(TASKS, 'fetch')
const STEP = keyIn(STEPS, 'fetch')
const ended = { status: 'failed', dueAtMs: null, updatedAtMs: 10, stopReason: 'attempts_exhausted' } as const

const RUN: RunRecord = {
  id: 'import',
  kind: 'workflow',
  name: 'import',
  status: 'failed',
  owner: null,
  fence: 1,
  resumes: 0,
  fingerprint: 'f1',
  detail: {},
  correlationId: 'c9',
  createdAtMs: 1,
  updatedAtMs: 10,
  endedAtMs: 10,
}

/** Both have ended, with two attempts, an event and a dead letter each; the run has an event of its own. */
async function writeBoth(ledger: Ledger): Promise<void> {
  const rows = {
    attempts: [{ endedAtMs: 1 }, { attempt: 2, endedAtMs: 2 }],
    events: [{ atMs: 2 }],
    dead: [{ generation: 1 }],
  }
  await ledger.transact({ tasks: [], runs: ['import'] }, () => ({
    runs: [{ run: RUN, definition: {} }],
    events: [{ type: 'run_started', ...STEPS, id: '', atMs: 1, correlationId: 'c9', detail: {} }],
    result: undefined,
  }))
  await writeHistory(ledger, [
    { task: { ...TASK, ...ended, queue: 'import' }, ...rows },
    { task: { ...STEP, ...ended, queue: 'import/fetch' }, ...rows },
  ])
}

interface Rows {
  readonly tasks: number
  readonly attempts: number
  readonly events: number
  readonly dead: number
}

async function rowsOf(ledger: Ledger, scope: Scope): Promise<Rows> {
  const tasks = await ledger.list(scope)
  const attempts = await Promise.all(tasks.map((task) => ledger.attempts(task)))
  return {
    tasks: tasks.length,
    attempts: attempts.flat().length,
    events: (await ledger.events(0, 100, scope)).length,
    dead: (await ledger.deadLetters(scope)).length,
  }
}

const NONE: Rows = { tasks: 0, attempts: 0, events: 0, dead: 0 }
const OF_TASK: Rows = { tasks: 1, attempts: 2, events: 1, dead: 1 }
const OF_RUN: Rows = { ...OF_TASK, events: 2 }

export const SCOPE_CASES: Readonly<Record<string, Check>> = {
  'keeps a task and a step of a run of one name apart': async (ledger) => {
    const task = sampleTask({ ...TASK, input: { from: 'program' } })
    const step = sampleTask({ ...STEP, queue: 'import/fetch', input: null })
    const made = await ledger.create([newTask(task, 'one'), newTask(step, 'another')])
    same(
      made.map(({ type }) => type),
      ['created', 'created'],
    )
    same([await ledger.get(TASK), await ledger.get(STEP)], [task, step])
    const change = (key: TaskKey, status: 'succeeded' | 'cancelled'): Promise<void> =>
      ledger.transact({ tasks: [TASK, STEP] }, (view) => ({
        tasks: [{ ...(view.task(key) ?? task), status, dueAtMs: null }],
        result: undefined,
      }))
    await change(STEP, 'succeeded')
    same([(await ledger.get(TASK))?.status, (await ledger.get(STEP))?.status], ['waiting', 'succeeded'])
    await change(TASK, 'cancelled')
    same([(await ledger.get(TASK))?.status, (await ledger.get(STEP))?.status], ['cancelled', 'succeeded'])
    const queues = [{ queue: 'import', policyHash: 'p1' }]
    same(await ledger.nextDueAtMs(queues, [STEP]), await ledger.nextDueAtMs(queues))
  },

  'passes over the one that is excepted, not the other of its name': async (ledger, setTime) => {
    await ledger.create([newTask({ ...TASK, dueAtMs: 1 }), newTask({ ...STEP, dueAtMs: 2 })])
    setTime(10)
    const claim = (except: TaskKey): Promise<readonly string[]> =>
      ledger.claim({ queues: [{ queue: 'mail', policyHash: 'p1' }], limit: 9, except: [except] }, (task) => ({
        result: nameOf(task),
      }))
    same([await claim(STEP), await claim(TASK)], [[nameOf(TASK)], [nameOf(STEP)]])
    const queues = [{ queue: 'mail', policyHash: 'p1' }]
    same([await ledger.nextDueAtMs(queues, [TASK]), await ledger.nextDueAtMs(queues, [STEP])], [2, 1])
  },

  'lists, counts and analyses by the kind of a scope as well as by its name': async (ledger) => {
    await writeBoth(ledger)
    same([await rowsOf(ledger, TASKS), await rowsOf(ledger, STEPS)], [OF_TASK, OF_RUN])
    const kinds = async (filter: Partial<Scope>): Promise<string[]> =>
      (await ledger.list(filter)).map(({ scopeKind }) => scopeKind)
    same([await kinds({ scopeKind: 'task' }), await kinds({ scopeKind: 'run' })], [['task'], ['run']])
    same(await kinds({ scope: 'import' }), ['run', 'task'])
    same((await ledger.list({ after: STEP })).map(nameOf), [nameOf(TASK)])
    same(await ledger.countTasks('import'), { failed: 1 })
    same((await ledger.attemptsOfRun('import')).map(nameOf), [nameOf(STEP), nameOf(STEP)])
    same(
      (await ledger.attemptCounts([TASK, STEP, keyIn(TASKS, 'nobody')])).map(({ last }) => last),
      [2, 2, 0],
    )
    const { analytics } = ledger
    same((await analytics.totals(TASKS)).attempts, 2)
    same((await analytics.totals({ scope: 'import' })).attempts, 4)
    same(
      (await analytics.delays()).map(({ scopeKind, scope }) => `${scopeKind} ${scope}`),
      ['run import', 'task import'],
    )
    const histories = [await analytics.history(TASK), await analytics.history(STEP)]
    same(
      histories.map((history) => history && [nameOf(history), history.attempts.length, history.events.length]),
      [
        [nameOf(TASK), 2, 1],
        [nameOf(STEP), 2, 1],
      ],
    )
  },

  'removes a run and leaves tasks of its name': async (ledger) => {
    await writeBoth(ledger)
    await ledger.create([newTask({ ...keyIn(TASKS, 'waits') })])
    const removed = await ledger.removeRun('import', 10)
    same(removed, { tasks: 1, attempts: 2, events: 2, deadLetters: 1, isDone: true })
    same([await rowsOf(ledger, TASKS), await rowsOf(ledger, STEPS)], [{ ...OF_TASK, tasks: 2 }, NONE])
    same((await ledger.get(keyIn(TASKS, 'waits')))?.status, 'waiting')
    same(await ledger.removeRun('import', 10), { tasks: 0, attempts: 0, events: 0, deadLetters: 0, isDone: true })
  },

  'forgets a task and leaves the run of its name': async (ledger, setTime) => {
    await writeBoth(ledger)
    setTime(1000)
    const forgotten = await ledger.forget({ status: 'failed', beforeMs: 1000, limit: 10 })
    same(forgotten, { tasks: 1, attempts: 2, events: 1, deadLetters: 1 })
    same([await rowsOf(ledger, TASKS), await rowsOf(ledger, STEPS)], [NONE, OF_RUN])
    same((await ledger.run('import'))?.status, 'failed')
  },

  'shortens the history of one and not of the other of its name': async (ledger) => {
    const attempts = Array.from({ length: 30 }, (_, index) => ({ attempt: index + 1, endedAtMs: index }))
    const events = attempts.map(({ endedAtMs }) => ({ atMs: endedAtMs }))
    const dead = [1, 2, 3].map((generation) => ({ generation }))
    await writeHistory(ledger, [
      { task: TASK, attempts: attempts.slice(0, 3), events: events.slice(0, 3), dead },
      { task: STEP, attempts, events, dead },
    ])
    same((await ledger.compact({ maxHistoryPerTask: 10, limit: 10 })).tasks, 1)
    same(await rowsOf(ledger, TASKS), { tasks: 1, attempts: 3, events: 3, dead: 3 })
    // Five of each are left, and the event that says so.
    same(await rowsOf(ledger, STEPS), { tasks: 1, attempts: 5, events: 6, dead: 3 })
    same([(await ledger.get(TASK))?.compacted, (await ledger.get(STEP))?.compacted?.attempts], [undefined, 25])
  },
}
