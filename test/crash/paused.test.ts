/** Owners that are only believed to be lost, or only believed to live: paused ones, and pids that are used again. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownIdentity } from '../../packages/reprise/src/durable/identity.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { type OwnerRecord, type TaskRecord, TERMINAL } from '../../packages/reprise/src/ledger/records.js'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { isLocked } from './file-lock.js'
import { KINDS } from './load-plan.js'
import { bundleLoad, type LoadProcess, type Program } from './processes.js'
import { Scenario } from './scenario.js'
import { snapshotOf } from './snapshots.js'

const LONG_MS = 3_600_000
const TASKS_OF_KIND = 5
const ALL = KINDS.length * TASKS_OF_KIND
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-paused-'))
let program: Program
beforeAll(async () => {
  program = await bundleLoad()
})
afterAll(() => {
  program.remove()
  rmSync(directory, { recursive: true })
})

const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10))

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await soon()
}

async function withLedger<T>(scenario: Scenario, act: (ledger: Ledger) => Promise<T>): Promise<T> {
  const ledger = await openSqlite(scenario.file)
  try {
    return await act(ledger)
  } finally {
    await ledger.close()
  }
}

const runningIn = (scenario: Scenario): Promise<readonly TaskRecord[]> =>
  withLedger(scenario, (ledger) => ledger.list({ statuses: ['running'] }))

async function untilItRuns(scenario: Scenario, life: LoadProcess): Promise<void> {
  await life.ready
  await until(() => scenario.noted().filter(({ type }) => type === 'start').length >= 8)
}

/** Not within a transaction: it would keep the lock of the file, and nobody could go on. */
async function stopBetweenTransactions(scenario: Scenario, life: LoadProcess): Promise<void> {
  for (;;) {
    life.child.kill('SIGSTOP')
    if (!(await isLocked(scenario.file))) return
    life.child.kill('SIGCONT')
    await soon()
  }
}

/** A killed process whose tasks run on in the ledger; its row is changed before anybody looks at it. */
async function leftBehind(name: string, forge: (owner: OwnerRecord) => Partial<OwnerRecord>): Promise<Scenario> {
  const scenario = new Scenario({ program, directory, name, seed: 5, tasksOfKind: TASKS_OF_KIND })
  const lost = scenario.start({ calm: true, workMs: 2000, leaseMs: LONG_MS })
  await untilItRuns(scenario, lost)
  lost.kill()
  expect(await lost.end).toBe('killed')
  await withLedger(scenario, async (ledger) => {
    for (const owner of await ledger.owners()) await ledger.heartbeat({ ...owner, ...forge(owner) })
  })
  expect((await runningIn(scenario)).length).toBeGreaterThan(0)
  return scenario
}

describe('a process paused for longer than its lease', { timeout: 120_000 }, () => {
  it('finds its tasks taken over once, and writes nothing', async () => {
    const scenario = new Scenario({ program, directory, name: 'paused', seed: 3, leaseMs: 300 })
    const zombie = scenario.start({ calm: true, workMs: 400 })
    await untilItRuns(scenario, zombie)
    await stopBetweenTransactions(scenario, zombie)
    const taken = await runningIn(scenario)
    expect(taken.length).toBeGreaterThan(0)
    expect(await scenario.start({ calm: true }).end).toBe('ended')
    const [before, events] = await withLedger(scenario, async (ledger) => [
      await snapshotOf(ledger),
      await ledger.events(0, 10_000),
    ])
    for (const { scope, id } of taken) {
      const resumed = events.filter((event) => event.scope === scope && event.id === id && event.type === 'resumed')
      expect(resumed, `${scope}/${id}`).toHaveLength(1)
    }
    zombie.child.kill('SIGCONT')
    expect(await zombie.end).toBe('ended')
    const after = await withLedger(scenario, snapshotOf)
    expect({ ...after, takenAtMs: 0 }).toEqual({ ...before, takenAtMs: 0 })
    expect((await scenario.check()).faults).toEqual([])
  })
})

describe('a dead owner whose pid is used again', { timeout: 120_000 }, () => {
  it('is dead, however long its lease', async () => {
    // The pid is this process's, the start time is not.
    const scenario = await leftBehind('reused', () => ({ pid: process.pid, leaseUntilMs: Date.now() + LONG_MS }))
    expect(await scenario.start({ calm: true, leaseMs: LONG_MS }).end).toBe('ended')
    const findings = await scenario.check()
    expect(findings.faults).toEqual([])
    expect(findings.again).toBeGreaterThan(0)
  })

  it('keeps its tasks as long as it is the same process, and says so', async () => {
    const living = (id: string): OwnerRecord => {
      return { ...ownIdentity(), id, startedAtMs: 0, leaseUntilMs: Date.now() + LONG_MS }
    }
    const forge = ({ id }: OwnerRecord): OwnerRecord => living(id)
    const scenario = await leftBehind('living', forge)
    const owner = (await runningIn(scenario))[0]?.owner as string
    const ownedOf = (ledger: Ledger): Promise<readonly TaskRecord[]> => ledger.list({ owner })
    const owned = await withLedger(scenario, ownedOf)
    const heir = scenario.start({ calm: true, leaseMs: 600 })
    await withLedger(scenario, async (ledger) => {
      await until(async () => {
        await ledger.heartbeat(living(owner))
        const tasks = await ledger.list({})
        return tasks.length === ALL && tasks.every((task) => TERMINAL.has(task.status) || task.owner === owner)
      })
      expect(await ownedOf(ledger)).toEqual(owned)
      await ledger.removeOwner(owner)
    })
    expect(await heir.end).toBe('ended')
    expect((await scenario.check()).faults).toEqual([])
  })
})
