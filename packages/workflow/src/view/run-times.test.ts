import { type AttemptRow, MemoryLedger, type RunRecord, type StoredEvent, type TaskRecord } from 'reprise/durable'
import { expect, test } from 'vitest'
import { RunClock } from '../run/run-clock.js'
import type { RunEvent } from '../run/run-event.js'
import { attemptMs, begunSessions, endedSessions, openSpans, type TimeSpan, timesOf } from './run-times.js'

const RUN = { id: 'r', createdAtMs: 0 } as RunRecord
const started = { type: 'run_started', atMs: 0, detail: {} } as StoredEvent
const finished = (atMs: number): StoredEvent => ({ type: 'run_finished', atMs, detail: {} }) as StoredEvent
const resumed = (atMs: number, heardOfAtMs?: number): StoredEvent =>
  ({ type: 'run_resumed', atMs, detail: heardOfAtMs === undefined ? {} : { heardOfAtMs } }) as unknown as StoredEvent

const row = (id: string, attempt: number, startedAtMs: number, endedAtMs: number, more = {}): AttemptRow => ({
  ...{ scopeKind: 'run', scope: 'r', id, attempt, execution: 1, generation: 1, startedAtMs, endedAtMs },
  ...{ outcome: 'success', delayBeforeMs: 0, failure: null, signature: null, owner: 'me', ...more },
})

/** A store that has these attempts. */
async function storeOf(attempts: readonly AttemptRow[]): Promise<MemoryLedger> {
  const ledger = new MemoryLedger()
  const tasks = [...new Set(attempts.map(({ id }) => id))].map(
    (id) => ({ scopeKind: 'run', scope: 'r', id }) as TaskRecord,
  )
  const policy = { hash: 'p', policy: {} }
  await ledger.create(
    tasks.map((task) => ({
      task: { ...task, queue: 'q', status: 'succeeded', policyHash: 'p' } as TaskRecord,
      policy,
      payloadHash: '',
    })),
  )
  await ledger.transact({ tasks }, () => ({ attempts, result: undefined }))
  return ledger
}

async function sessionsOf(events: StoredEvent[], attempts: AttemptRow[], lastMs: number): Promise<TimeSpan[]> {
  const begun = begunSessions(RUN, events, lastMs)
  const { analytics } = await storeOf(attempts)
  const starts = begun.map(({ fromMs }) => fromMs)
  return endedSessions(begun, await analytics.lastSigns('r', starts))
}

async function times(
  events: StoredEvent[],
  attempts: AttemptRow[],
  lastMs: number,
  open: TaskRecord[] = [],
): Promise<unknown> {
  const periods = await sessionsOf(events, attempts, lastMs)
  const { analytics } = await storeOf(attempts)
  const last = new Map(attempts.map((one) => [one.id, one]))
  return timesOf(periods, await analytics.waitedMs('r', { periods, ...openSpans(open, last) }))
}

test('a run without waits is active from its start to its end', async () => {
  expect(await times([started, finished(100)], [row('a', 1, 5, 95)], 100)).toEqual({
    activeMs: 100,
    waitedMs: 0,
    downMs: 0,
  })
})

test('the time between two attempts of a step is waited', async () => {
  const attempts = [row('a', 1, 0, 10), row('a', 2, 60, 70)]
  expect(await times([started, finished(80)], attempts, 80)).toEqual({ activeMs: 30, waitedMs: 50, downMs: 0 })
})

test('a wait in which another step runs is not waited by the run', async () => {
  const attempts = [row('a', 1, 0, 10), row('a', 2, 60, 70), row('b', 1, 20, 50)]
  expect(await times([started, finished(70)], attempts, 70)).toEqual({ activeMs: 50, waitedMs: 20, downMs: 0 })
})

test('a fresh set of attempts, or another start of the same attempt, was not waited for', async () => {
  const again = [row('a', 1, 0, 10), row('a', 1, 60, 70, { execution: 2 })]
  expect(await times([started, finished(70)], again, 70)).toMatchObject({ waitedMs: 0 })
  const reset = [row('a', 2, 0, 10), row('a', 1, 60, 70, { generation: 2 })]
  expect(await times([started, finished(70)], reset, 70)).toMatchObject({ waitedMs: 0 })
})

test('between a stop and a resume the run is down, and the wait goes on after it', async () => {
  const events = [started, finished(30), resumed(1000), finished(1100)]
  const attempts = [row('a', 1, 0, 10), row('a', 2, 1040, 1100)]
  expect(await times(events, attempts, 1100)).toEqual({ activeMs: 70, waitedMs: 60, downMs: 970 })
})

test('a process that was killed lived until its last heartbeat, or until what it recorded last', async () => {
  const interrupted = row('a', 1, 10, 1000, { outcome: 'interrupted' })
  const again = row('a', 1, 1000, 1100, { execution: 2 })
  const heard = [started, resumed(1000, 200), finished(1100)]
  expect(await times(heard, [interrupted, again], 1100)).toEqual({ activeMs: 300, waitedMs: 0, downMs: 800 })
  const unheard = [started, resumed(1000), finished(1100)]
  const sessions = await sessionsOf(unheard, [interrupted, again], 1100)
  expect(sessions).toEqual([
    { fromMs: 0, toMs: 10 },
    { fromMs: 1000, toMs: 1100 },
  ])
  expect([attemptMs(interrupted, sessions), attemptMs(again, sessions)]).toEqual([0, 100])
  // One that was heard of after it was taken over was not alive for this run any more.
  expect(await times([started, resumed(1000, 5000), finished(1100)], [], 1100)).toMatchObject({ downMs: 0 })
})

test('what waits and runs now counts up to the time of looking', async () => {
  const retry = { failures: 1 }
  const waiting = {
    id: 'a',
    status: 'waiting',
    generation: 1,
    progress: { retry, current: null },
  } as unknown as TaskRecord
  expect(await times([started], [row('a', 1, 0, 10)], 50, [waiting])).toEqual({ activeMs: 10, waitedMs: 40, downMs: 0 })
  const current = { attempt: 2, execution: 1, startedAtMs: 30 }
  const running = { ...waiting, status: 'running', progress: { retry, current } } as unknown as TaskRecord
  expect(await times([started], [row('a', 1, 0, 10)], 50, [running])).toEqual({ activeMs: 30, waitedMs: 20, downMs: 0 })
  const parked = { ...waiting, id: 'b', status: 'parked', createdAtMs: 20 } as unknown as TaskRecord
  expect(await times([started], [row('a', 1, 0, 10)], 50, [parked])).toEqual({ activeMs: 20, waitedMs: 30, downMs: 0 })
})

test('told event by event the figures are the same, and go on from those of earlier processes', () => {
  const clock = new RunClock()
  const step = (type: string, name: string, timeMs: number): RunEvent => ({ type, step: name, timeMs }) as RunEvent
  const before = { activeMs: 1000, waitedMs: 200, downMs: 30 }
  clock.tell({ type: 'run_started', timeMs: 0, steps: [], ...before } as unknown as RunEvent)
  clock.tell(step('attempt_started', 'a', 0))
  clock.tell(step('waiting', 'a', 10))
  expect(clock.at(15)).toEqual({ activeMs: 1010, waitedMs: 205, downMs: 30 })
  clock.tell(step('attempt_started', 'b', 20))
  clock.tell(step('step_finished', 'b', 50))
  clock.tell(step('attempt_started', 'a', 60))
  clock.tell(step('step_finished', 'a', 70))
  expect(clock.at(70)).toEqual({ activeMs: 1050, waitedMs: 220, downMs: 30 })
  clock.tell({ type: 'run_finished', timeMs: 71, activeMs: 1, waitedMs: 2, downMs: 3 } as RunEvent)
  expect(clock.at(500)).toEqual({ activeMs: 1, waitedMs: 2, downMs: 3 })
})

test('a watcher that comes while a step waits counts only what it sees itself', () => {
  const clock = new RunClock()
  clock.tell({
    type: 'run_started',
    timeMs: 100,
    steps: [],
    activeMs: 40,
    waitedMs: 60,
    downMs: 0,
  } as unknown as RunEvent)
  clock.tell({ type: 'waiting', step: 'a', timeMs: 40 } as RunEvent)
  expect(clock.at(130)).toEqual({ activeMs: 40, waitedMs: 90, downMs: 0 })
})

test.each(['retrying', 'parked'])(
  'of a run that is resumed while a step is %s, the rest of the wait is waited',
  (state) => {
    const clock = new RunClock()
    const steps = [
      { id: 'a', name: 'a', state },
      { id: 'b', name: 'b', state: 'pending' },
    ]
    clock.tell({
      type: 'run_started',
      timeMs: 100,
      steps,
      activeMs: 5,
      waitedMs: 10,
      downMs: 85,
    } as unknown as RunEvent)
    expect(clock.at(130)).toEqual({ activeMs: 5, waitedMs: 40, downMs: 85 })
    clock.tell({ type: 'attempt_started', step: 'a', timeMs: 150 } as RunEvent)
    expect(clock.at(157)).toEqual({ activeMs: 12, waitedMs: 60, downMs: 85 })
  },
)

test('times of another clock may be given with the events, whose own are of a clock that is set', () => {
  const clock = new RunClock()
  clock.tell(
    { type: 'run_started', timeMs: 1e12, steps: [], activeMs: 0, waitedMs: 0, downMs: 0 } as unknown as RunEvent,
    7,
  )
  clock.tell({ type: 'waiting', step: 'a', timeMs: 5e11 } as RunEvent, 17)
  expect(clock.at(47)).toEqual({ activeMs: 10, waitedMs: 30, downMs: 0 })
})
