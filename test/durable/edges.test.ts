/** Where programs meet durable tasks: failures nobody waits for, workers, changed policies, and answers of people. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../packages/reprise/src/sqlite/driver.js'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { rejection, turns, until, ProcessModel } from './process-model.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-edges-'))
afterAll(() => rmSync(directory, { recursive: true }))

const program = fileURLToPath(new URL('exits-alone.ts', import.meta.url))
const start = (how: string) => {
  const child = spawn(process.execPath, ['--conditions=reprise-source', '--import', 'tsx', program, how])
  const said = { out: '', err: '' }
  child.stdout.on('data', (text: Buffer) => (said.out += text.toString()))
  child.stderr.on('data', (text: Buffer) => (said.err += text.toString()))
  return { child, said, ended: once(child, 'close') as Promise<[number | null]> }
}

describe('a process', { timeout: 60_000 }, () => {
  it.each(['silent', 'work'])('whose ledger fails while nobody waits ends with a code that tells: %s', async (how) => {
    const { said, ended } = start(how)
    expect((await ended)[0]).toBe(1)
    expect(said.err).toContain('The ledger memory: failed by plan')
  })

  it('that works stays although nothing is due, until it is told to stop', async () => {
    const { child, said, ended } = start('idle')
    await until(() => said.out.includes('works'), 'the worker works')
    child.kill('SIGTERM')
    expect((await ended)[0]).toBe(0)
    expect(said.out).toBe('works\nstopped\n')
  })
})

describe('a task under a policy that has changed', () => {
  const before = { attempts: 5, initialDelay: '1h' } as const
  const after = { attempts: 2, initialDelay: '1s', jitter: false } as const
  const fail = (): never => {
    throw new Error('no')
  }

  async function left(model: ProcessModel): Promise<void> {
    const host = await model.open()
    await host.durable.task('t', before, fail).start(null, { id: 'a' })
    await turns()
    await host.durable.close()
  }

  it('takes the new one when it is reset, since nothing of it is under way', async () => {
    const model = new ProcessModel()
    await left(model)
    const { durable } = await model.open()
    const task = durable.task('t', after, () => 'fine')
    await task.cancel('a')
    await task.reset('a')
    expect(await task.run(null, { id: 'a' })).toBe('fine')
    await durable.close()
  })

  it('is not hurried without a word', async () => {
    const model = new ProcessModel()
    await left(model)
    const { durable } = await model.open()
    const task = durable.task('t', after, () => 'fine')
    expect(await rejection(task.retryNow('a'))).toMatchObject({ kind: 'policy_changed' })
    expect((await model.task('t', 'a')).dueAtMs).toBeGreaterThan(model.now)
    await durable.close()
  })

  it('is decided only by a program that would run it, or accepts to', async () => {
    const model = new ProcessModel()
    const lost = await model.open()
    const hang = (): Promise<never> => new Promise(() => undefined)
    await lost.durable.task('t', before, hang, { onInterrupt: 'fail' }).start(null, { id: 'a' })
    await turns()
    await lost.kill()
    const strict = await model.open()
    strict.durable.task('t', before, () => 'fine', { onInterrupt: 'fail' })
    expect((await strict.durable.resume()).undecided).toHaveLength(1)
    await strict.durable.close()
    const refusing = await model.open()
    const other = refusing.durable.task('t', after, () => 'fine')
    expect(await rejection(other.decide('a', 'rerun'))).toMatchObject({ kind: 'policy_changed' })
    await refusing.durable.close()
    const accepting = await model.open({ policyChange: 'accept' })
    const taken = accepting.durable.task('t', after, () => 'fine')
    await taken.decide('a', 'rerun')
    expect(await taken.run(null, { id: 'a' })).toBe('fine')
    await accepting.durable.close()
  })
})

describe('a person who says that it is done', () => {
  it('may say with what result', async () => {
    const model = new ProcessModel()
    const lost = await model.open()
    const hang = (): Promise<never> => new Promise(() => undefined)
    await lost.durable.task('t', {}, hang, { onInterrupt: 'fail' }).start(null, { id: 'a' })
    await turns()
    await lost.kill()
    const { durable } = await model.open()
    const task = durable.task<null, { receipt: number }>('t', {}, hang, { onInterrupt: 'fail' })
    await durable.resume()
    expect(await rejection(task.decide('a', 'done', new Date(0) as never))).toBeInstanceOf(TypeError)
    await task.decide('a', 'done', { receipt: 7 })
    expect(await task.run(null, { id: 'a' })).toEqual({ receipt: 7 })
    await durable.close()
  })
})

describe('who runs a task of a process that is gone', () => {
  it('does not wait until somebody notices', async () => {
    const model = new ProcessModel()
    const lost = await model.open()
    await lost.durable.task('t', {}, () => new Promise<never>(() => undefined)).start(null, { id: 'a' })
    await turns()
    await lost.kill()
    const { durable } = await model.open()
    // Neither `resume` nor a third of the lease.
    expect(await durable.task('t', {}, () => 'fine').run(null, { id: 'a' })).toBe('fine')
    await durable.close()
  })
})

describe('who waits for a task', () => {
  it('is told when the process drains and the task has not ended', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const task = durable.task('t', { initialDelay: '1h' }, () => {
      throw new Error('no')
    })
    const waiting = rejection(task.run(null, { id: 'a' }))
    await turns()
    await durable.drain()
    expect(await waiting).toMatchObject({ kind: 'closed' })
    await durable.close()
  })
})

describe('a database of another program', () => {
  it.each([0, 1, 99])('is not touched, whatever version it says: %s', async (version) => {
    const file = path.join(directory, `foreign-${version}.db`)
    const foreign = await openDatabase(file)
    foreign.exec(`CREATE TABLE theirs (a); PRAGMA user_version = ${version}`)
    foreign.close()
    await expect(openSqlite(file)).rejects.toThrow(/database of another program/)
  })
})
