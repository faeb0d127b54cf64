/** A lost process costs an attempt where the task says so; a process that was only stopped may still deliver its result. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Durable } from '../../packages/reprise/src/durable/durable.js'
import type { TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { bundleProgram } from '../bundled-program.js'
import { faultsIn } from '../durable/task-faults.js'
import { bundledFor, placeOfEach } from '../gates/shared-place.js'
import { STORES } from '../gates/stores.js'
import { until } from '../gates/until.js'
import { isLocked } from './file-lock.js'
import { gateFaults } from './gate-history.js'
import { faultsOf, scopeOfTasks, type Start } from './history.js'
import { defineLost, STARTS } from './lost-task.js'

const KEY = { scopeKind: 'task', scope: 'slow', id: 'a' } as const
const program = bundledFor(() => bundleProgram(new URL('lost-worker.ts', import.meta.url)))

const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10))

describe.each(STORES.map((store) => ({ name: store.name.replace(/.* (on|to) /, ''), store })))(
  'a task on $name whose lost processes are charged',
  { timeout: 90_000 },
  ({ store }) => {
    let directory: string
    let durable: Durable | undefined
    const place = placeOfEach(store)
    beforeEach(() => {
      directory = mkdtempSync(path.join(tmpdir(), 'reprise-charged-'))
    })
    afterEach(async () => {
      await durable?.close()
      durable = undefined
      rmSync(directory, { recursive: true })
    })

    /** By the checker of all crash tests, and by the checks of `reprise doctor`. */
    async function faults(): Promise<unknown[]> {
      const lines = readFileSync(path.join(directory, STARTS), 'utf8').split('\n').filter(Boolean)
      const starts = lines.map((line) => JSON.parse(line) as Start)
      const expected = { attempts: 4, finished: true, onInterrupt: 'charge', isAllotted: true } as const
      const found = await faultsOf(place.ledger, scopeOfTasks('slow'), starts, expected)
      const rule = { type: 'allotment', name: 'lost', runs: ['slow'], total: 5 } as const
      return [...found, ...(await gateFaults(place.ledger, [rule], [])), ...(await faultsIn(place.ledger, KEY))]
    }

    const task = async (): Promise<TaskRecord> => (await place.ledger.get(KEY)) as TaskRecord
    const rows = async (): Promise<unknown[]> =>
      (await place.ledger.attempts(KEY)).map(({ attempt, execution, outcome }) => `${attempt}.${execution} ${outcome}`)
    const used = async (): Promise<unknown> =>
      (await place.ledger.gates()).find(({ key }) => key === 'budget:lost')?.state

    async function startedByChild(initialDelay: string): Promise<ChildProcess> {
      const submitter = await openDurable(place.address, { concurrency: 1 })
      const handle = defineLost(submitter, initialDelay)
      await submitter.drain()
      await handle.start({ directory, holds: true }, { id: 'a' })
      await submitter.close()
      const child = spawn(process.execPath, [program().file, place.address, initialDelay], { stdio: 'inherit' })
      place.keep(child)
      await until(async () => existsSync(path.join(directory, 'started-1')), 'the first attempt')
      return child
    }

    async function stop(stopped: ChildProcess): Promise<void> {
      for (;;) {
        stopped.kill('SIGSTOP')
        const file = /^sqlite:(.+)$/.exec(place.address)?.[1]
        if (file === undefined || !(await isLocked(file))) return
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
      expect(await faults()).toEqual([])
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
      expect(await faults()).toEqual([])
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
        (await place.ledger.owners()).find(({ pid }) => pid === stopped.pid)?.leaseUntilMs ?? 0
      const leaseUntilMs = await row()
      await until(async () => (await row()) > leaseUntilMs + 200, 'a sign of life')
      expect(await task()).toEqual(before)
      expect(await rows()).toEqual(['1.1 interrupted', '2.1 success'])
      expect(await faults()).toEqual([])
    })
  },
)
