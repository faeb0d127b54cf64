/** A queue that a breaker holds, over processes: nothing starts or fails while it is open, whoever is killed meanwhile. */
import { describe, expect, it } from 'vitest'
import { tripBreaker } from '../../packages/reprise/src/durable/gate-control.js'
import type { TaskStatus } from '../../packages/reprise/src/ledger/records.js'
import { bundleGateWorker, GateWorkers } from './gate-workers.js'
import { bundledFor, placeOfAll } from './shared-place.js'
import { STORES } from './stores.js'
import { until } from './until.js'

const TASKS = 32
const OPEN_MS = 4000

const program = bundledFor(bundleGateWorker)

describe.each(STORES)('$name with an open breaker', (store) => {
  let workers: GateWorkers
  const place = placeOfAll(store, async ({ address }) => {
    workers = await GateWorkers.start(program(), address, store.workers)
    return () => workers.kill()
  })

  const count = async (status: TaskStatus): Promise<number> =>
    (await place.ledger.list({ queue: 'held', statuses: [status] })).length

  it('keeps all tasks through two kills, and runs them when the breaker lets them', async () => {
    // A breaker is recorded with the first attempt that asks it.
    await workers.submit('held', 1, 'pass')
    await until(async () => (await count('succeeded')) === 1 || undefined, 'the first task')
    await tripBreaker(place.ledger, 'held', { reason: 'an outage', recoveryTimeout: OPEN_MS })
    const breaker = (await place.ledger.gates()).find(({ key }) => key === 'breaker:held')
    const { openUntilMs = 0 } = (breaker?.state ?? {}) as { openUntilMs?: number }
    await workers.submit('held', TASKS, 'pass')
    for (const pid of workers.pids.slice(0, 2)) await workers.killOne(pid)
    const waiting = await count('waiting')
    if ((await place.ledger.now()) < openUntilMs) expect(waiting).toBe(TASKS)
    await until(async () => (await count('succeeded')) === TASKS + 1 || undefined, 'the end of all')
    expect(await count('failed')).toBe(0)
    const tasks = await place.ledger.list({ queue: 'held' })
    const rows = (await Promise.all(tasks.map((task) => place.ledger.attempts(task)))).flat()
    expect(rows).toHaveLength(TASKS + 1)
    // The time of a server is known here to a few milliseconds.
    const late = rows.filter(({ startedAtMs }) => startedAtMs >= openUntilMs - 10)
    expect(late).toHaveLength(TASKS)
    await workers.close()
  }, 120_000)
})
