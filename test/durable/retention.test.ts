/** What is removed while a driver works: a task is there with all that belongs to it, or gone with all of it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { TaskRefusedError } from '../../packages/reprise/src/durable/errors.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { deferred, rejection, until, ProcessModel } from './process-model.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-retention-'))
afterAll(() => rmSync(directory, { recursive: true }))
let files = 0
const newFile = (): string => path.join(directory, `${files++}.db`)

const EVER = { beforeMs: Infinity, limit: 7 } as const
const once = { attempts: 1 } as const

/** As another process that only tidies up. */
const openBeside = (file: string): Promise<Ledger> => openSqlite(file, { synchronous: 'normal' })

describe('while a driver works', () => {
  it('a task that is reset and forgotten at once goes on whole, or is gone whole', async () => {
    const file = newFile()
    const durable = await openDurable(`sqlite:${file}`, { synchronous: 'normal' })
    const ids = Array.from({ length: 150 }, (_, index) => `t${index}`)
    const failing = new Set(ids)
    const task = durable.task('t', once, (_input: null, { taskId }) => {
      if (failing.has(taskId)) throw new Error('no luck')
      return 'fine'
    })
    await Promise.all(ids.map((id) => rejection(task.run(null, { id }))))
    failing.clear()
    const other = await openBeside(file)
    let forgotten = (await other.forget({ ...EVER, status: 'failed' })).tasks
    const forgetting = (async () => {
      for (let tasks = 1; tasks > 0; forgotten += tasks) ({ tasks } = await other.forget({ ...EVER, status: 'failed' }))
    })()
    const answers = new Map<string, unknown>()
    // From the other end, a few at a time, so that the two meet.
    for (let left = ids.length; left > 0; left -= 5) {
      const some = ids.slice(Math.max(0, left - 5), left)
      await Promise.all(some.map((id) => task.reset(id).catch((error: unknown) => answers.set(id, error))))
    }
    await forgetting
    await until(async () => (await other.analytics.totals()).byStatus.waiting === undefined, 'the end of all')
    await until(async () => (await other.analytics.totals()).byStatus.running === undefined, 'the end of all')
    const gone = [...answers.keys()]
    expect(gone.length).toBe(forgotten)
    expect(gone.length).toBeGreaterThan(0)
    expect(gone.length).toBeLessThan(ids.length)
    for (const error of answers.values()) expect(error).toBeInstanceOf(TaskRefusedError)
    for (const id of ids) {
      const history = await other.analytics.history({ scopeKind: 'task', scope: 't', id })
      if (gone.includes(id)) expect(history).toBeUndefined()
      else
        expect(history?.attempts.map(({ generation, outcome }) => [generation, outcome])).toEqual([
          [1, 'failure'],
          [2, 'success'],
        ])
    }
    const letters = (await other.deadLetters()).map(({ id }) => id)
    const events = (await other.events(0, 1000)).map(({ id }) => id)
    for (const id of [...letters, ...events]) expect(gone).not.toContain(id)
    await other.close()
    await durable.close()
  })

  it('a history is shortened without a gap in the count, and a reset keeps the record of it', async () => {
    const file = newFile()
    const durable = await openDurable(`sqlite:${file}`, { synchronous: 'normal' })
    const task = durable.task('t', { attempts: 45, initialDelay: 0 }, (): never => {
      throw new Error('no luck')
    })
    const other = await openBeside(file)
    const key = { scopeKind: 'task', scope: 't', id: 'a' } as const
    const compactUntilFailed = (generation: number): Promise<void> =>
      until(async () => {
        await other.compact({ maxHistoryPerTask: 10, limit: 9 })
        const state = await task.status('a')
        return state?.state === 'failed' && state.generation === generation
      }, `the end of generation ${generation}`)
    await task.start(null, { id: 'a' })
    await compactUntilFailed(1)
    await task.reset('a')
    await compactUntilFailed(2)
    await other.compact({ maxHistoryPerTask: 10, limit: 9 })
    const left = await other.attempts(key)
    expect(left.length).toBeLessThanOrEqual(10)
    expect(left.length + ((await other.get(key))?.compacted?.attempts ?? 0)).toBe(90)
    expect(left.map(({ attempt }) => attempt)).toEqual(left.map((_, index) => 45 - left.length + 1 + index))
    expect(await other.analytics.totals()).toMatchObject({ attempts: left.length, compactedAttempts: 90 - left.length })
    const compactions = (await other.analytics.history(key))?.events.filter(({ type }) => type === 'compacted')
    expect(compactions?.length).toBeGreaterThan(0)
    await other.close()
    await durable.close()
  })

  it('a forgotten id is free: asked for again, it runs again', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    let runs = 0
    const task = durable.task('t', once, () => ++runs)
    expect(await task.run(null, { id: 'a' })).toBe(1)
    expect(await task.run(null, { id: 'a' })).toBe(1)
    expect((await model.ledger.forget({ ...EVER, status: 'succeeded' })).tasks).toBe(1)
    expect(await task.run(null, { id: 'a' })).toBe(2)
    expect(await rejection(task.cancel('b'))).toMatchObject({ message: 'There is no task t/b' })
    await durable.close()
  })

  // The least retention of a minute makes it rare: a process has to be stopped for so long.
  it('who waits in another process for a task that is forgotten hears of it', async () => {
    const model = new ProcessModel()
    const [first, second] = [await model.open(), await model.open()]
    const end = deferred<string>()
    const task = first.durable.task('t', once, () => end.promise)
    const running = task.run(null, { id: 'a' })
    await until(async () => (await task.status('a'))?.state === 'running')
    let settled = false
    const joined = second.durable.task('t', once, () => 'never').run(null, { id: 'a' })
    joined.then(
      () => (settled = true),
      () => (settled = true),
    )
    await until(() => second.line.owner !== undefined)
    end.resolve('done')
    await running
    await model.ledger.forget({ ...EVER, status: 'succeeded' })
    try {
      await until(() => settled, 'an answer')
    } finally {
      await first.durable.close()
      await second.durable.close()
    }
  })
})
