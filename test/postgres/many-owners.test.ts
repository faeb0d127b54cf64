/**
 * Several processes work on the same queues: each task is done once, every queue has its turn, and of one that is killed
 * the others do what it left. Starts real processes and a real server.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { openPostgres } from '../../packages/reprise/src/postgres/open-postgres.js'
import { type BundledProgram, bundleProgram } from '../bundled-program.js'
import { type TestDatabase, testDatabase } from './shared-server.js'

const POLICY = { attempts: 3 }
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-owners-'))
let database: TestDatabase
let program: BundledProgram
const children = new Set<ChildProcess>()

beforeAll(async () => {
  database = await testDatabase()
  program = await bundleProgram(new URL('owner.ts', import.meta.url))
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  program.remove()
  rmSync(directory, { recursive: true })
  await database.drop()
})

async function startOwner(address: string, file: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program.file, address, file], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  children.add(child)
  child.once('exit', () => children.delete(child))
  await once(child, 'message')
  return child
}

async function endOwner(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.send('end')
  await ended
}

/** Records tasks without doing any: nobody here has a function for them. */
async function fill(address: string, queue: string, count: number, input: object = {}): Promise<void> {
  const durable = await openDurable(address, { concurrency: 1 })
  const never = durable.task(queue, POLICY, () => new Promise(() => undefined))
  // What began here is given back at the end, in order.
  await Promise.all(Array.from({ length: count }, (_, index) => never.start(input, { id: `${queue}-${index}` })))
  await durable.close()
}

const executions = (file: string): string[][] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split(' '))
    : []

/** All tasks of these names have succeeded. */
async function untilDone(address: string, names: readonly string[]): Promise<void> {
  const ledger = await openPostgres(address)
  const isDone = async (): Promise<void> => {
    for (const scope of names) {
      const tasks = await ledger.list({ scopeKind: 'task', scope })
      expect(new Set(tasks.map(({ status }) => status))).toEqual(new Set(['succeeded']))
    }
  }
  await vi.waitFor(isDone, { timeout: 60_000, interval: 50 })
  await ledger.close()
}

test('four processes on two queues do every task once, and leave none of the queues behind', async () => {
  const address = `${database.url}?schema=shared`
  const file = path.join(directory, 'shared')
  await fill(address, 'long', 400)
  await fill(address, 'short', 40)
  const owners = await Promise.all(Array.from({ length: 4 }, () => startOwner(address, file)))
  await untilDone(address, ['long', 'short'])
  await Promise.all(owners.map(endOwner))
  const done = executions(file)
  expect(new Set(done.map(([, , id]) => id)).size).toBe(440)
  // One that was begun where it was recorded was interrupted in order, and not counted here.
  expect(done).toHaveLength(440)
  expect(new Set(done.map(([pid]) => pid)).size).toBeGreaterThan(1)
  const lastShort = done.findLastIndex(([, queue]) => queue === 'short')
  const longBefore = done.slice(0, lastShort).filter(([, queue]) => queue === 'long').length
  expect(longBefore).toBeLessThan(300)
})

test('what a killed process had begun is done by another, and nothing else is done twice', async () => {
  const address = `${database.url}?schema=killed`
  const file = path.join(directory, 'killed')
  await fill(address, 'long', 400, { isSlow: true })
  // It is there first, so that it has its share whatever the others do.
  const victim = await startOwner(address, file)
  const owners = await Promise.all(Array.from({ length: 2 }, () => startOwner(address, file)))
  const begun = (): number => executions(file).filter(([pid]) => pid === String(victim.pid)).length
  await vi.waitFor(() => expect(begun()).toBeGreaterThan(8), { timeout: 30_000, interval: 5 })
  const gone = once(victim, 'exit')
  victim.kill('SIGKILL')
  await gone
  await untilDone(address, ['long'])
  await Promise.all(owners.map(endOwner))
  const counts = new Map<string, number>()
  for (const [, , id = ''] of executions(file)) counts.set(id, (counts.get(id) ?? 0) + 1)
  expect(counts.size).toBe(400)
  const twice = [...counts.values()].filter((count) => count > 1)
  expect(twice.length).toBeLessThanOrEqual(4)
  expect(Math.max(...counts.values())).toBeLessThanOrEqual(2)
})
