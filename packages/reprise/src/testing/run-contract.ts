/** What every ledger must do with runs. Imports the ledger's types and samples. */
import type { Ledger } from '../ledger/ledger.js'
import { type AttemptRow, keyIn, type RunRecord, scopeOfRun, type TaskKey } from '../ledger/records.js'
import { type Check, isError, rejection, same } from './contract-checks.js'
import { newTask, sampleTask } from './sample-task.js'

export function sampleRun(changes: Partial<RunRecord> = {}): RunRecord {
  return {
    id: 'night-1',
    kind: 'workflow',
    name: 'night',
    status: 'running',
    owner: 'me',
    fence: 1,
    resumes: 0,
    fingerprint: 'f1',
    detail: { params: { day: 'today ✓' } },
    correlationId: 'c9',
    createdAtMs: 10.5,
    updatedAtMs: 10.5,
    endedAtMs: null,
    ...changes,
  }
}

const put = (ledger: Ledger, run: RunRecord, definition?: { steps: number[] }): Promise<void> =>
  ledger.transact({ tasks: [], runs: [run.id] }, () => ({
    runs: [{ run, ...(definition && { definition }) }],
    result: undefined,
  }))

const SAMPLE: AttemptRow = {
  ...{ scopeKind: 'run', scope: 'night-1', id: 'a', generation: 1, attempt: 1, execution: 1 },
  ...{ startedAtMs: 1, endedAtMs: 2, outcome: 'failure', delayBeforeMs: 0 },
  ...{ failure: { name: 'Error', message: 'no' }, signature: 'Error: no', owner: 'me' },
}

const STEP = { scopeKind: 'run', scope: 'night-1', id: 'fetch' } as const

export const RUN_CASES: Readonly<Record<string, Check>> = {
  'gives back a run, to the last field, and what it runs': async (ledger) => {
    await put(ledger, sampleRun(), { steps: [1, 2] })
    same(await ledger.run('night-1'), sampleRun())
    same(await ledger.definition('night-1'), { steps: [1, 2] })
    same(await ledger.run('night-2'), undefined)
    same(await ledger.definition('night-2'), undefined)
    const next = sampleRun({ status: 'failed', owner: null, fence: 2, resumes: 1, detail: 7, endedAtMs: 20 })
    await put(ledger, next)
    same(await ledger.run('night-1'), next)
    same(await ledger.definition('night-1'), { steps: [1, 2] })
    await put(ledger, { ...next, fingerprint: 'f2' }, { steps: [3] })
    same(await ledger.definition('night-1'), { steps: [3] })
  },

  'shows a run to the transaction that named it, and to no other': async (ledger) => {
    await put(ledger, sampleRun(), { steps: [] })
    await ledger.transact({ tasks: [], runs: ['night-1', 'night-2'] }, (view) => {
      same(view.run('night-1'), sampleRun())
      same(view.run('night-2'), undefined)
      return { result: undefined }
    })
    const unnamed = ledger.transact({ tasks: [] }, (view) => ({ result: view.run('night-1') }))
    isError(await rejection(unnamed), 'not named')
  },

  'refuses a new run that does not say what it runs, with all that was decided': async (ledger) => {
    await ledger.create([newTask()])
    const refused = ledger.transact({ tasks: [sampleTask()], runs: ['night-1'] }, () => ({
      runs: [{ run: sampleRun() }],
      tasks: [sampleTask({ fence: 5 })],
      result: undefined,
    }))
    isError(await rejection(refused), 'night-1')
    same((await ledger.get(sampleTask()))?.fence, 0)
    same(await ledger.run('night-1'), undefined)
  },

  'creates tasks in the transaction that saw that they are absent': async (ledger) => {
    await put(ledger, sampleRun(), { steps: [] })
    const create = (): Promise<string> =>
      ledger.transact({ tasks: [STEP], runs: ['night-1'] }, (view) => {
        if (view.task(STEP) !== undefined) return { result: 'existing' }
        return { created: [newTask({ ...STEP, queue: 'q' })], result: 'created' }
      })
    same((await Promise.all([create(), create(), create()])).toSorted(), ['created', 'existing', 'existing'])
    same(await ledger.get(STEP), sampleTask({ ...STEP, queue: 'q' }))
    same(await ledger.policy('p1'), { hash: 'p1', policy: { attempts: 3 } })
    const again = ledger.transact({ tasks: [STEP] }, () => ({ created: [newTask({ ...STEP })], result: 0 }))
    isError(await rejection(again), 'exists')
  },

  'lists runs, the latest first': async (ledger) => {
    await put(ledger, sampleRun({ id: 'a', createdAtMs: 1, status: 'failed' }), { steps: [] })
    await put(ledger, sampleRun({ id: 'b', createdAtMs: 3, kind: 'exec' }), { steps: [] })
    await put(ledger, sampleRun({ id: 'c', createdAtMs: 2 }), { steps: [] })
    const ids = async (filter: Parameters<Ledger['runs']>[0]): Promise<string[]> =>
      (await ledger.runs(filter)).map(({ id }) => id)
    same(await ids({}), ['b', 'c', 'a'])
    same(await ids({ limit: 2 }), ['b', 'c'])
    same(await ids({ kind: 'workflow' }), ['c', 'a'])
    same(await ids({ statuses: ['failed', 'cancelled'] }), ['a'])
    same(await ids({ sinceMs: 2 }), ['b', 'c'])
  },

  'finds runs by the beginning of their id, the last id first, and by name': async (ledger) => {
    const names = { 'day-1': 'day', 'day-2': 'other', 'day-2b': 'day', dayz: 'day', 'Day-2': 'day', e: 'day' }
    let createdAtMs = 100
    for (const [id, name] of Object.entries(names))
      await put(ledger, sampleRun({ id, name, createdAtMs: createdAtMs-- }), { steps: [] })
    const ids = async (filter: Parameters<Ledger['runs']>[0]): Promise<string[]> =>
      (await ledger.runs(filter)).map(({ id }) => id)
    same(await ids({ idPrefix: 'day-' }), ['day-2b', 'day-2', 'day-1'])
    same(await ids({ idPrefix: 'day-', limit: 2 }), ['day-2b', 'day-2'])
    same(await ids({ idPrefix: 'day-2', statuses: ['failed'] }), [])
    same(await ids({ idPrefix: 'day-1' }), ['day-1'])
    same(await ids({ idPrefix: 'day_1' }), [])
    same(await ids({ name: 'day', limit: 2 }), ['day-1', 'day-2b'])
    same(await ids({ name: 'da' }), [])
  },

  'gives the attempts and results of one run by task, and counts its tasks': async (ledger) => {
    const key = (id: string): TaskKey => keyIn(scopeOfRun('night-1'), id)
    const ends = { status: 'succeeded', dueAtMs: null } as const
    const { progress } = sampleTask()
    await ledger.create([
      newTask({ ...key('b'), ...ends, result: { sum: 3 } }),
      newTask({ ...key('c') }),
      newTask({ ...key('a'), ...ends, progress: { ...progress, retry: { ...progress.retry, failures: 2 } } }),
      newTask({ scopeKind: 'run', scope: 'night-2', id: 'a' }),
    ])
    const row = (id: string, attempt: number, execution = 1): AttemptRow => ({
      ...SAMPLE,
      ...key(id),
      attempt,
      execution,
    })
    const other = { ...SAMPLE, ...keyIn(scopeOfRun('night-2'), 'a') }
    const rows = [row('b', 1), row('b', 1, 2), row('a', 1), row('b', 2)]
    const keys = [...['a', 'b', 'c'].map(key), keyIn(scopeOfRun('night-2'), 'a')]
    for (const one of [...rows, other]) await ledger.transact({ tasks: keys }, () => ({ attempts: [one], result: 0 }))
    same(await ledger.attemptsOfRun('night-1'), [row('a', 1), row('b', 1), row('b', 1, 2), row('b', 2)])
    same(await ledger.attemptsOfRun('night-2'), [other])
    same(await ledger.attemptsOfRun('nobody'), [])
    same(await ledger.results('night-1'), [
      { id: 'a', result: null, failures: 2 },
      { id: 'b', result: { sum: 3 }, failures: 0 },
    ])
    same(await ledger.results('nobody'), [])
    same(await ledger.countTasks('night-1'), { succeeded: 2, waiting: 1 })
    same(await ledger.countTasks('nobody'), {})
  },

  'gives the events of one run': async (ledger) => {
    const event = { type: 'run_started', id: '', atMs: 1, correlationId: 'c9', detail: {} } as const
    await ledger.transact({ tasks: [] }, () => ({
      events: [
        { ...event, ...scopeOfRun('night-1') },
        { ...event, ...scopeOfRun('night-2') },
        { ...event, scopeKind: 'run', scope: 'night-1', id: 'fetch' },
      ],
      result: undefined,
    }))
    const events = await ledger.events(0, 10, scopeOfRun('night-1'))
    same(
      events.map(({ scope, id }) => [scope, id]),
      [
        ['night-1', ''],
        ['night-1', 'fetch'],
      ],
    )
    same((await ledger.events(events[0]?.seq ?? 0, 10, scopeOfRun('night-1'))).length, 1)
    same((await ledger.events(0, 1, scopeOfRun('night-1'))).length, 1)
    same(await ledger.events(0, 10, { ...scopeOfRun('night-1'), id: '' }), events.slice(0, 1))
    same(await ledger.events(0, 10, { ...scopeOfRun('night-1'), id: 'fetch' }), events.slice(1))
  },

  'forgets no task of a run: it would run again': async (ledger, setTime) => {
    await put(ledger, sampleRun(), { steps: [] })
    const done = { status: 'succeeded', dueAtMs: null, updatedAtMs: 1 } as const
    await ledger.create([newTask({ ...STEP, ...done }), newTask({ ...done, scope: 'mail', id: 'x' })])
    setTime(1000)
    same((await ledger.forget({ status: 'succeeded', beforeMs: 1000, limit: 10 })).tasks, 1)
    same((await ledger.get(STEP))?.status, 'succeeded')
  },

  'removes a run with all that is its own, some at a time': async (ledger) => {
    await put(ledger, sampleRun(), { steps: [] })
    await put(ledger, sampleRun({ id: 'other' }), { steps: [] })
    await ledger.create(['a', 'b', 'c'].map((id) => newTask({ scopeKind: 'run', scope: 'night-1', id })))
    await ledger.create([newTask({ scopeKind: 'run', scope: 'other', id: 'a' })])
    const started = { type: 'run_started', id: '', atMs: 1, correlationId: 'c9', detail: {} } as const
    const event = { ...started, ...scopeOfRun('night-1') }
    await ledger.transact({ tasks: [] }, () => ({ events: [event, { ...event, id: 'a' }], result: undefined }))
    const gate = { kind: 'budget', state: { used: 1 } } as const
    await ledger.transact({ tasks: [], gates: ['budget:few@night-1', 'budget:api'] }, () => ({
      gates: [
        { ...gate, key: 'budget:few@night-1' },
        { ...gate, key: 'budget:api' },
      ],
      result: undefined,
    }))
    const own = ['budget:few@night-1']
    const first = await ledger.removeRun('night-1', 2, own)
    same((await ledger.gates()).length, 2)
    same([first.tasks, first.isDone], [2, false])
    same((await ledger.run('night-1'))?.id, 'night-1')
    const last = await ledger.removeRun('night-1', 2, own)
    same(
      (await ledger.gates()).map(({ key }) => key),
      ['budget:api'],
    )
    same([last.tasks, last.isDone], [1, true])
    same(await ledger.run('night-1'), undefined)
    same(await ledger.list({ scopeKind: 'run', scope: 'night-1' }), [])
    same(await ledger.events(0, 10, scopeOfRun('night-1')), [])
    same((await ledger.list({ scopeKind: 'run', scope: 'other' })).length, 1)
    same((await ledger.removeRun('nobody', 2)).isDone, true)
  },
}
