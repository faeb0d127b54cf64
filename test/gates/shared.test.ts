/** Budgets and breakers of durable tasks are exact over processes: nothing is given twice, and no count is lost (I4, I9). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tripBreaker } from '../../packages/reprise/src/durable/gate-control.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { type Json, type TaskRecord, TERMINAL } from '../../packages/reprise/src/ledger/records.js'
import { openLedger } from '../../packages/reprise/src/open/open-durable.js'
import type { BundledProgram } from '../bundled-program.js'
import { bundleGateWorker, GateWorkers } from './gate-workers.js'
import { CAPACITY, type Doing, type KindName, PLACES, PROBES, RATIO, SHARE, THRESHOLD, TOTAL } from './plan.js'
import { type Place, STORES } from './stores.js'
import { until } from './until.js'

const TASKS = 48

let program: BundledProgram

beforeAll(async () => {
  program = await bundleGateWorker()
})
afterAll(() => program?.remove())

interface Made {
  readonly first: number
  readonly later: number
}

/** Attempts by the rows that were written with them; one that was interrupted, and ran again, is the same attempt. */
async function madeBy(ledger: Ledger, run: KindName): Promise<Made> {
  const rows = (
    await Promise.all((await ledger.list({ scopeKind: 'task', scope: run })).map((task) => ledger.attempts(task)))
  )
    .flat()
    .filter(({ execution, outcome }) => execution === 1 && outcome !== 'denied')
  const first = rows.filter(({ attempt }) => attempt === 1).length
  return { first, later: rows.length - first }
}

async function stateOf(ledger: Ledger, key: string): Promise<Json> {
  return (await ledger.gates()).find((gate) => gate.key === key)?.state ?? null
}

/** How they stopped, once all have; null for a success. */
async function endsOf(ledger: Ledger, run: KindName, ids: readonly string[]): Promise<(string | null)[]> {
  const isAsked = new Set(ids)
  return until(async () => {
    const tasks = (await ledger.list({ scopeKind: 'task', scope: run })).filter(({ id }) => isAsked.has(id))
    return tasks.every(({ status }) => TERMINAL.has(status)) ? tasks.map(({ stopReason }) => stopReason) : undefined
  }, `the end of all tasks ${run}`)
}

const count = (reasons: readonly (string | null)[], reason: string | null): number =>
  reasons.filter((one) => one === reason).length

describe.each(STORES)('$name', (store) => {
  let place: Place
  let ledger: Ledger
  let workers: GateWorkers

  beforeAll(async () => {
    place = await store.make()
    ledger = await openLedger(place.address)
    workers = await GateWorkers.start(program, place.address, store.workers)
  }, 90_000)

  afterAll(async () => {
    workers?.kill()
    await ledger?.close()
    await place?.remove()
  })

  const run = async (kind: KindName, tasks: number, doing: Doing): Promise<(string | null)[]> =>
    endsOf(ledger, kind, await workers.submit(kind, tasks, doing))

  it('are given all of a count, and no more', async () => {
    const reasons = await run('counted', TASKS, 'fail')
    expect(await madeBy(ledger, 'counted')).toEqual({ first: TASKS, later: TOTAL })
    expect(await stateOf(ledger, 'budget:count')).toEqual({ used: TOTAL, keys: [] })
    expect(count(reasons, 'budget_denied') + count(reasons, 'attempts_exhausted')).toBe(TASKS)
  })

  it('are charged all of an allotment at their failures, and no more', async () => {
    const reasons = await run('allotted', TASKS, 'fail')
    expect(await madeBy(ledger, 'allotted')).toEqual({ first: TASKS, later: TOTAL })
    expect(await stateOf(ledger, 'budget:allotment')).toEqual({ used: TOTAL, keys: [] })
    expect(count(reasons, 'budget_denied')).toBe(TASKS)
    const tasks = await ledger.list({ scopeKind: 'task', scope: 'allotted' })
    const charged = tasks.map(({ progress }) => progress.allotted ?? 0)
    expect(charged.reduce((sum, own) => sum + own, 0)).toBe(TOTAL)
    expect(Math.max(...charged)).toBeLessThanOrEqual(SHARE)
    for (const { progress } of tasks) expect(progress.budgetReason).toMatch(/^(key_)?count_exhausted$/)
  })

  it('are given all tokens of a bucket, and no more', async () => {
    const reasons = await run('metered', TASKS, 'fail')
    const { first, later } = await madeBy(ledger, 'metered')
    expect(first + later).toBe(CAPACITY)
    expect(await stateOf(ledger, 'budget:bucket')).toMatchObject({ tokens: 0 })
    expect(count(reasons, 'budget_denied')).toBeGreaterThanOrEqual(TASKS - CAPACITY)
  })

  it('are given their share of a ratio, every call and every retry counted', async () => {
    await run('rationed', TASKS, 'fail')
    const { first, later } = await madeBy(ledger, 'rationed')
    expect(first).toBe(TASKS)
    expect(later).toBeLessThanOrEqual(TASKS * RATIO)
    const { slots } = (await stateOf(ledger, 'budget:ratio')) as { slots: [number, number, number][] }
    expect(slots.reduce((sum, [, firsts]) => sum + firsts, 0)).toBe(first)
    expect(slots.reduce((sum, [, , withdrawn]) => sum + withdrawn, 0)).toBe(later)
  })

  it('run no more at once than there are places, and give every one back', async () => {
    const reasons = await run('placed', TASKS, 'pass')
    const { first } = await madeBy(ledger, 'placed')
    expect(count(reasons, null)).toBe(first)
    expect(first).toBeGreaterThanOrEqual(PLACES)
    expect(await stateOf(ledger, 'budget:places')).toEqual({ inUse: 0 })
  })

  it('open a breaker with the failure that makes the threshold full, and not before', async () => {
    await run('guarded', THRESHOLD - 1, 'fail')
    expect(await stateOf(ledger, 'breaker:shared')).toMatchObject({ phase: 'closed', failures: THRESHOLD - 1 })
    await run('guarded', 1, 'fail')
    expect(await stateOf(ledger, 'breaker:shared')).toMatchObject({ phase: 'open', failures: THRESHOLD })
    const reasons = await run('guarded', TASKS, 'pass')
    expect(count(reasons, 'breaker_open')).toBe(TASKS)
    expect(await madeBy(ledger, 'guarded')).toEqual({ first: THRESHOLD, later: 0 })
  })

  it('let so many probes through as there are slots, and take back that of a process that was killed', async () => {
    const probing = async (): Promise<TaskRecord[]> => {
      const tasks = await ledger.list({ scopeKind: 'task', scope: 'guarded', statuses: ['running'] })
      return tasks.filter(({ progress }) => progress.current?.probe !== undefined)
    }
    const refused = async (): Promise<number> =>
      (await ledger.list({ scopeKind: 'task', scope: 'guarded', statuses: ['failed'] })).length
    const before = await refused()
    await tripBreaker(ledger, 'shared', { reason: 'over soon', recoveryTimeout: 1 })
    const ids = await workers.submit('guarded', TASKS, 'hold')
    await until(
      async () => ((await refused()) - before === TASKS - PROBES ? true : undefined),
      'the refusal of the rest',
    )
    const probes = await probing()
    expect(probes.length).toBe(PROBES)
    expect(await stateOf(ledger, 'breaker:shared')).toMatchObject({ phase: 'half_open', probes: PROBES })

    const owner = (await ledger.owners()).find(({ id }) => id === probes[0]?.owner)
    const lost = probes.filter((task) => task.owner === owner?.id)
    await workers.killOne(owner?.pid as number)
    // Whoever takes its tasks gives the slots back, and needs them to run the tasks again.
    const taken = await until(async () => {
      const now = await probing()
      const isAgain = (task: TaskRecord): boolean =>
        lost.every(({ id }) => id !== task.id) || task.progress.current?.execution === 2
      return now.length === PROBES && now.every(isAgain) ? now : undefined
    }, 'the takeover')
    expect(taken.map(({ id }) => id).toSorted()).toEqual(probes.map(({ id }) => id).toSorted())
    expect(await stateOf(ledger, 'breaker:shared')).toMatchObject({ phase: 'half_open', probes: PROBES, successes: 0 })

    workers.release()
    const reasons = await endsOf(ledger, 'guarded', ids)
    expect(count(reasons, null)).toBe(PROBES)
    expect(count(reasons, 'breaker_open')).toBe(TASKS - PROBES)
    const closed = { phase: 'closed', failures: 0, probes: 0 }
    expect(await stateOf(ledger, 'breaker:shared')).toMatchObject(closed)
    await workers.close()
    expect(workers.peaks['guarded hold']).toBe(PROBES)
    expect(workers.peaks['placed pass']).toBeLessThanOrEqual(PLACES)
  })
})
