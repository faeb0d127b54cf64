import { type Ledger, MemoryLedger, type RunRecord } from 'reprise/durable'
import { expect, test } from 'vitest'
import { cleanableRuns } from '../run/clean-runs.js'
import { viewRuns } from './read-runs.js'
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
  ...{ kind: 'workflow', name: 'x', owner: null, fence: 1, resumes: 0, fingerprint: '', detail: {} },
  ...{ createdAtMs: 0, updatedAtMs: 1 },
}

/** The same ledger, and whose history was read, at most how many at once. */
function watched(ledger: Ledger): { ledger: Ledger; read: string[]; most: () => number } {
  const read: string[] = []
  let [now, most] = [0, 0]
  const attemptsOfRun = async (run: string): ReturnType<Ledger['attemptsOfRun']> => {
    read.push(run)
    most = Math.max(most, ++now)
    await new Promise((resolve) => setImmediate(resolve))
    now -= 1
    return ledger.attemptsOfRun(run)
  }
  const proxy = new Proxy(ledger, {
    get: (target, name) => {
      if (name === 'attemptsOfRun') return attemptsOfRun
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
