/** A limit of a queue holds over processes, also while some of them are killed, and nobody waits for a place for ever. */
import { describe, expect, it } from 'vitest'
import { type TaskRecord, TERMINAL } from '../../packages/reprise/src/ledger/records.js'
import { bundleGateWorker, GateWorkers } from './gate-workers.js'
import { type KindName, MOST } from './plan.js'
import { bundledFor, placeOfAll } from './shared-place.js'
import { STORES } from './stores.js'
import { until } from './until.js'

const program = bundledFor(bundleGateWorker)

describe.each(STORES)('$name with a limit', (store) => {
  let workers: GateWorkers
  const place = placeOfAll(store, async ({ address }) => {
    workers = await GateWorkers.start(program(), address, store.workers)
    return () => workers.kill()
  })

  /** As one statement of the store sees them. */
  const owned = (queue: KindName): Promise<readonly TaskRecord[]> =>
    place.ledger.list({ queue, statuses: ['running', 'parked'] })

  const pidOf = async (owner: string | null): Promise<number> =>
    (await place.ledger.owners()).find(({ id }) => id === owner)?.pid ?? 0

  /** Looks until all have ended; the most that had an owner at once, as far as was seen. */
  async function watchToEnd(queue: KindName, count: number, look: () => Promise<void>): Promise<number> {
    let peak = 0
    await until(async () => {
      peak = Math.max(peak, (await owned(queue)).length)
      await look()
      const tasks = await place.ledger.list({ queue })
      return (tasks.length === count && tasks.every(({ status }) => TERMINAL.has(status))) || undefined
    }, 'the end of all tasks')
    return peak
  }

  it('runs no more tasks at once than the limit, while three processes are killed, and loses none', async () => {
    const COUNT = 240
    let kills = 0
    await workers.submit('limited', COUNT, 'pass')
    const peak = await watchToEnd('limited', COUNT, async () => {
      const done = (await place.ledger.list({ queue: 'limited', statuses: ['succeeded'] })).length
      if (kills === 3 || done < 40 * (kills + 1)) return
      const pids = await Promise.all((await owned('limited')).map(({ owner }) => pidOf(owner)))
      // Tasks of a process that was killed have their owner until they are taken over.
      const pid = pids.find((one) => workers.pids.includes(one))
      if (pid === undefined) return
      kills++
      await workers.killOne(pid)
    })
    expect(kills).toBe(3)
    expect(peak).toBeLessThanOrEqual(MOST)
    const ends = await place.ledger.list({ queue: 'limited' })
    expect(ends.filter(({ status }) => status === 'succeeded')).toHaveLength(COUNT)
  }, 120_000)

  it('starts an interrupted attempt again after a kill, though the only place was its own', async () => {
    // Alone in its queue: PostgreSQL passes over a row that another process has locked, such as one of those that all look
    // after the killed process, and would give the place to another task.
    await workers.submit('single', 1, 'hold')
    const first = await until(async () => (await owned('single'))[0], 'the first attempt')
    await workers.killOne(await pidOf(first.owner))
    await until(async () => {
      const [now] = await owned('single')
      const { attempt = 0, execution = 0 } = now?.progress.current ?? {}
      // A busy machine may lose it so often that the interruptions count as a failed attempt.
      return (now?.id === first.id && (execution >= 2 || attempt >= 2)) || undefined
    }, 'the second execution')
    await workers.submit('single', 5, 'hold')
    workers.release()
    expect(await watchToEnd('single', 6, async () => undefined)).toBeLessThanOrEqual(1)
    await workers.close()
    expect(workers.peaks['single hold']).toBe(1)
    expect(workers.peaks['limited pass']).toBeLessThanOrEqual(MOST)
    expect(workers.peaks['limited pass']).toBeGreaterThan(1)
  }, 120_000)
})
