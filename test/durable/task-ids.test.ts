/** Ids of tasks are any text: each is its own task, in memory, on disk and on a server, and in the process after this one. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { MemoryLedger, openDurable } from 'reprise/durable'
import { testDatabase } from '../postgres/shared-server.js'

const database = await testDatabase()
afterAll(() => database.drop())
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-ids-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Pairs that look alike, and what paths, SQL, patterns and objects take for something else. */
const IDS = [
  ...['a', 'A', 'a ', ' a', 'a/b', 'a//b', '../a', '/etc/passwd', '.', '..', '-rf', '~'],
  ...["o'clock", '"; DROP TABLE tasks; --', '%', '_', '*', '$1', '?', '\\', '{}', 'null', '0', '00'],
  ...['é', 'e\u0301', 'ß', 'ss', 'İ', '日本', '🙂', '\u202Eabc', '\u00A0', '__proto__', 'constructor'],
  ...['x'.repeat(200), '🙂'.repeat(200), 'https://example.org/orders?id=7&x=#y'],
]

it.each([
  ['memory', () => new MemoryLedger()],
  ['SQLite', () => `sqlite:${path.join(directory, 'ids.db')}`],
  ['PostgreSQL', () => database.url],
])('ids of any text are tasks of their own, in %s', async (_where, address) => {
  const durable = await openDurable(address())
  const keys = new Set<string>()
  const echo = durable.task('echo', {}, (input: string, { taskId, idempotencyKey }) => {
    keys.add(idempotencyKey)
    return [input, taskId]
  })
  const half = IDS.length / 2
  await echo.startAll(IDS.slice(half).map((id) => ({ input: `of ${id}`, id })))
  for (const id of IDS) expect(await echo.run(`of ${id}`, { id })).toEqual([`of ${id}`, id])
  for (const id of IDS) expect(await echo.status(id)).toMatchObject({ id, state: 'succeeded', attempts: 1 })
  expect(keys.size).toBe(IDS.length)
  await durable.close()
})

it('ids of any text are found again by the next process', async () => {
  const address = `sqlite:${path.join(directory, 'again.db')}`
  const first = await openDurable(address)
  const never = (): Promise<string> => Promise.reject(new Error('not again'))
  const task = first.task('t', { attempts: 1 }, (id: string) => Promise.resolve(`done ${id}`))
  for (const id of IDS) await task.run(id, { id })
  await first.close()
  const second = await openDurable(address)
  const again = second.task('t', { attempts: 1 }, never)
  for (const id of IDS) expect(await again.run(id, { id })).toBe(`done ${id}`)
  await second.close()
})
