/** A lost process costs an attempt where the task says so; a process that was only stopped may still deliver its result. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Durable } from '../../packages/reprise/src/durable/durable.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import type { TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { openDurable, openLedger } from '../../packages/reprise/src/open/open-durable.js'
import { type BundledProgram, bundleProgram } from '../bundled-program.js'
import { faultsIn } from '../durable/task-faults.js'
import { testDatabase } from '../postgres/shared-server.js'
import { isLocked } from './file-lock.js'
import { defineLost } from './lost-task.js'

const KEY = { scopeKind: 'task', scope: 'slow', id: 'a' } as const
let program: BundledProgram
beforeAll(async () => {
  program = await bundleProgram(new URL('lost-worker.ts', import.meta.url))
})
afterAll(() => program?.remove())

const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10))

async function until<T>(look: () => Promise<T | false | undefined>, what: string): Promise<T> {
  const endMs = performance.now() + 60_000
  while (performance.now() < endMs) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await soon()
  }
  throw new Error(`${what} did not come true`)
}

interface Place {
  readonly address: string
  /** The file that a stopped process must not have locked. */
  readonly file?: string
  drop(): Promise<void>
}

describe.each<[string, (directory: string) => Promise<Place>]>([
  [
    'SQLite',
    async (directory) => {
      const file = path.join(directory, 'lost.db')
      return { address: `sqlite:${file}`, file, drop: async () => undefined }
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const database = await testDatabase()
      return { address: database.url, drop: () => database.drop() }
    },
  ],
])('a task whose lost processes are charged, on %s', { timeout: 90_000 }, (_name, make) => {
  let directory: string
  let place: Place
  let ledger: Ledger
  let child: ChildProcess | undefined
  let durable: Durable | undefined
  beforeEach(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'reprise-charged-'))
    place = await make(directory)
    ledger = await openLedger(place.address)
  })
  afterEach(async () => {
    child?.kill('SIGKILL')
    await durable?.close()
    await ledger?.close()
    await place?.drop()
    rmSync(directory, { recursive: true })
  })

  const task = async (): Promise<TaskRecord> => (await ledger.get(KEY)) as TaskRecord
  const rows = async (): Promise<unknown[]> =>
    (await ledger.attempts(KEY)).map(({ attempt, execution, outcome }) => `${attempt}.${execution} ${outcome}`)
  const used = async (): Promise<unknown> => (await ledger.gates()).find(({ key }) => key === 'budget:lost')?.state

  async function startedByChild(initialDelay: string): Promise<ChildProcess> {
    const submitter = await openDurable(place.address, { concurrency: 1 })
    const handle = defineLost(submitter, initialDelay)
    await submitter.drain()
    await handle.start({ directory, holds: true }, { id: 'a' })
    await submitter.close()
    child = spawn(process.execPath, [program.file, place.address, initialDelay], { stdio: 'inherit' })
    await until(async () => existsSync(path.join(directory, 'started-1')), 'the first attempt')
    return child
  }

  async function stop(stopped: ChildProcess): Promise<void> {
    for (;;) {
      stopped.kill('SIGSTOP')
      if (place.file === undefined || !(await isLocked(place.file))) return
      stopped.kill('SIGCONT')
      await soon()
    }
  }

  it('goes on with the next attempt after kill -9, which is charged once', async () => {
    const lost = await startedByChild('20ms')
    lost.kill('SIGKILL')
    durable = await openDurable(place.address, { lease: '600ms' })
    const handle = defineLost(durable, '20ms')
    expect(await handle.run({ directory, holds: true }, { id: 'a' })).toBe(process.pid)
    expect(await rows()).toEqual(['1.1 interrupted', '2.1 success'])
    expect(await used()).toMatchObject({ used: 1 })
    expect(await faultsIn(ledger, KEY)).toEqual([])
  })

  it('takes the result of a process that was stopped past its lease, while nobody has claimed the task', async () => {
    const stopped = await startedByChild('10m')
    await stop(stopped)
    const fence = (await task()).fence
    durable = await openDurable(place.address, { lease: '600ms' })
    defineLost(durable, '10m')
    await until(async () => (await task()).status === 'waiting', 'the takeover')
    expect(await task()).toMatchObject({ fence, owner: null, progress: { lost: { attempt: 1, execution: 1 } } })
    expect(await used()).toMatchObject({ used: 1 })
    writeFileSync(path.join(directory, 'go'), '')
    stopped.kill('SIGCONT')
    await until(async () => (await task()).status === 'succeeded', 'the late result')
    expect(await task()).toMatchObject({ result: stopped.pid, fence })
    expect(await rows()).toEqual(['1.1 interrupted', '1.2 success'])
    expect(await used()).toMatchObject({ used: 1 })
    expect(await faultsIn(ledger, KEY)).toEqual([])
  })

  it('does not take it once another process has begun the next attempt', async () => {
    const stopped = await startedByChild('20ms')
    await stop(stopped)
    durable = await openDurable(place.address, { lease: '600ms' })
    const handle = defineLost(durable, '20ms')
    expect(await handle.run({ directory, holds: true }, { id: 'a' })).toBe(process.pid)
    const before = await task()
    writeFileSync(path.join(directory, 'go'), '')
    stopped.kill('SIGCONT')
    // It has gone on, and has written its lease again.
    const row = async (): Promise<number> =>
      (await ledger.owners()).find(({ pid }) => pid === stopped.pid)?.leaseUntilMs ?? 0
    const leaseUntilMs = await row()
    await until(async () => (await row()) > leaseUntilMs + 200, 'a sign of life')
    expect(await task()).toEqual(before)
    expect(await rows()).toEqual(['1.1 interrupted', '2.1 success'])
  })
})
