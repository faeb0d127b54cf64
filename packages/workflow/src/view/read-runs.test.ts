import { type Ledger, MemoryLedger, type RunRecord } from 'reprise/durable'
import { expect, test } from 'vitest'
import { cleanableRuns } from '../run/clean-runs.js'
import { sampleTask } from '../../../reprise/src/testing/sample-task.js'
import { recordedPlan } from '../run/recorded-plan.js'
import { viewRun, viewRuns } from './read-runs.js'
import { clockReading } from '../../../../test/clock-reading.js'

const NOW = 1_000_000

/** Runs without sums of their times, so that these come from their history; r0 ended first. */
async function ledgerWith(count: number, status: RunRecord['status']): Promise<Ledger> {
  const ledger = new MemoryLedger({ clock: clockReading(() => NOW) })
  const ids = Array.from({ length: count }, (_, index) => `r${index}`)
  await ledger.transact({ tasks: [], runs: ids }, () => ({
    runs: ids.map((id, index) => ({
      run: { ...RUN, id, correlationId: id, status, endedAtMs: endOf(status, index) },
      definition: null,
    })),
    result: undefined,
  }))
  return ledger
}

function endOf(status: RunRecord['status'], index: number): number | null {
  return status === 'interrupted' ? null : index + 1
}

const RUN = {
  ...{ kind: 'workflow', name: 'x', owner: null, fence: 1, resumes: 0, fingerprint: '' },
  detail: { cwd: '/', documentDir: '/', params: {} },
  ...{ createdAtMs: 0, updatedAtMs: 1 },
}

/** The same ledger, and whose history was read, at most how many at once. */
function watched(ledger: Ledger): { ledger: Ledger; read: string[]; most: () => number } {
  const read: string[] = []
  let [now, most] = [0, 0]
  const events: Ledger['events'] = async (afterSeq, limit, scope) => {
    read.push(scope?.scope ?? '')
    most = Math.max(most, ++now)
    await new Promise((resolve) => setImmediate(resolve))
    now -= 1
    return ledger.events(afterSeq, limit, scope)
  }
  const proxy = new Proxy(ledger, {
    get: (target, name) => {
      if (name === 'events') return events
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  return { ledger: proxy, read, most: () => most }
}

test('to remove one run, the history of others is not read', async () => {
  const { ledger, read } = watched(await ledgerWith(20, 'cancelled'))
  expect((await cleanableRuns(ledger, NOW, ['r7'])).map(({ id }) => id)).toEqual(['r7'])
  expect(read).toEqual(['r7'])
})

test('to remove old runs, the history of young ones is not read', async () => {
  const { ledger, read } = watched(await ledgerWith(20, 'failed'))
  expect(await cleanableRuns(ledger, 3)).toHaveLength(2)
  expect(read.toSorted()).toEqual(['r0', 'r1'])
})

test('a run that has not ended is not removed, though it is named', async () => {
  expect(await cleanableRuns(await ledgerWith(1, 'interrupted'), NOW, ['r0'])).toEqual([])
})

test('history is read only of runs that are shown, and of a few at once', async () => {
  const runs = watched(await ledgerWith(40, 'interrupted'))
  expect(await viewRuns(runs.ledger, { state: 'running' })).toEqual([])
  expect(runs.read).toEqual([])
  expect(await viewRuns(runs.ledger, { state: 'interrupted', limit: 3 })).toHaveLength(3)
  expect(runs.read).toHaveLength(3)
  expect(await viewRuns(runs.ledger, { state: 'interrupted' })).toHaveLength(40)
  expect(runs.most()).toBeLessThanOrEqual(8)
})

test('a list of runs counts steps as the page of a run does, and no fallback', async () => {
  const ledger = new MemoryLedger({ clock: clockReading(() => NOW) })
  const definition = { steps: ['a', 'b', 'c', 'd'].map((id) => ({ id, run: ['true'] })) }
  const run = {
    ...RUN,
    id: 'r',
    correlationId: 'r',
    status: 'failed',
    endedAtMs: 9,
    detail: { ...RUN.detail, steps: 4 },
  } as const
  await ledger.transact({ tasks: [], runs: ['r'] }, () => ({ runs: [{ run, definition }], result: undefined }))
  const { progress } = sampleTask()
  const recovered = { ...progress, retry: { ...progress.retry, failures: 1, launched: 2 } }
  const ended = { scopeKind: 'run', scope: 'r', status: 'succeeded', dueAtMs: null } as const
  const tasks = [
    sampleTask({ ...ended, id: 'a', progress: recovered, result: { exit_code: 0, attempts: 2 } }),
    sampleTask({ ...ended, id: 'b', result: { exit_code: 0, attempts: 0, skipped: 'when' } }),
    sampleTask({ ...ended, id: 'c', status: 'failed', stopReason: 'attempts_exhausted' }),
    sampleTask({ ...ended, id: 'c.fallback', result: { exit_code: 0, attempts: 1 } }),
  ]
  await ledger.create(tasks.map((task) => ({ task, policy: { hash: 'p1', policy: {} }, payloadHash: '' })))
  const expected = { recovered: 1, skipped: 1, failed: 1, pending: 1 }
  expect((await viewRuns(ledger))[0]?.counts).toEqual(expected)
  const reader = {
    ledger,
    planOf: () => recordedPlan(run, definition),
    logsOf: () => () => null,
    lastLineIn: () => '',
    viewMap: () => Promise.reject(new Error('no map is expected')),
  }
  expect((await viewRun(reader, 'r'))?.counts).toEqual(expected)
})
