/** The same on a file: what was recorded is there for the next process, and a process that has closed ends by itself. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { countBudget } from '../../packages/reprise/src/core/budgets/count.js'
import { Durable } from '../../packages/reprise/src/durable/durable.js'
import type { OwnerRecord } from '../../packages/reprise/src/ledger/records.js'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { environmentOf, type ExecutorOptions } from '../../packages/reprise/src/runtime/executor-options.js'
import { ownIdentity } from '../../packages/reprise/src/durable/identity.js'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { Line, rejection, turns, until } from './process-model.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-durable-'))
afterAll(() => rmSync(directory, { recursive: true }))
let files = 0
const newFile = (): string => path.join(directory, `${files++}.db`)

/** A process that can be lost. */
async function open(
  file: string,
  options: Pick<ExecutorOptions, 'budgets'> = {},
): Promise<{ durable: Durable; lose(): Promise<void> }> {
  const environment = environmentOf(options)
  const ledger = await openSqlite(file, { clock: environment.clock, synchronous: 'normal' })
  const line = new Line(ledger, false)
  const settings = {
    concurrency: 10,
    leaseMs: 86_400_000,
    policyChange: 'refuse',
    identity: { ...ownIdentity(), host: `host-${files++}` },
  } as const
  const durable = await Durable.open(line.ledger, environment, settings)
  const lose = async (): Promise<void> => {
    line.cut()
    await ledger.heartbeat({ ...(line.owner as OwnerRecord), leaseUntilMs: 0 })
    await ledger.close()
  }
  return { durable, lose }
}

const hang = (): Promise<never> => new Promise(() => undefined)

describe('on a file', () => {
  it('nobody else can read what tasks were given', async () => {
    const file = newFile()
    const durable = await openDurable(`sqlite:${file}`)
    await durable.task('t', {}, () => 1).run(null, { id: 'a' })
    for (const name of [file, `${file}-wal`, `${file}-shm`]) expect(statSync(name).mode & 0o777).toBe(0o600)
    await durable.close()
  })

  it('an interface is an input like another', async () => {
    interface Order {
      readonly id: number
    }
    const file = newFile()
    const durable = await openDurable(`sqlite:${file}`)
    const task = durable.task('t', {}, ({ id }: Order) => ({ id }))
    expect(await task.run({ id: 7 }, { id: 'a' })).toEqual({ id: 7 })
    await durable.close()
  })

  it('results and failures are there for the next process', async () => {
    const file = newFile()
    const first = await openDurable(`sqlite:${file}`)
    const policy = { attempts: 2, initialDelay: 0 } as const
    const fail = (): never => {
      throw new RangeError('no "luck"')
    }
    await first
      .task('good', policy, (input: { n: number }) => ({ n: input.n + 1, text: 'ä\u0000😀' }))
      .run({ n: 1 }, { id: 'a' })
    await rejection(first.task('bad', policy, fail).run(null, { id: 'a' }))
    await first.close()
    const second = await openDurable(`sqlite:${file}`)
    expect(await second.task('good', policy, () => ({ n: 0, text: '' })).run({ n: 1 }, { id: 'a' })).toEqual({
      n: 2,
      text: 'ä\u0000😀',
    })
    const error = await rejection(second.task('bad', policy, () => 'fine').run(null, { id: 'a' }))
    expect(error).toMatchObject({ stopReason: 'attempts_exhausted', attempts: 2, failure: { message: 'no "luck"' } })
    await second.close()
  })

  it('what a lost process left goes on, with its counts and its budget', async () => {
    const file = newFile()
    const policy = { attempts: 5, initialDelay: '1ms', jitter: false, budget: 'shared' } as const
    const first = await open(file, { budgets: { shared: countBudget({ total: 2 }) } })
    const task = first.durable.task('t', policy, (_input: null, { attempt }) => {
      if (attempt === 1) throw new Error('no')
      return hang()
    })
    await task.start(null, { id: 'a' })
    await until(async () => (await task.status('a'))?.attempts === 2)
    await first.lose()
    const second = await open(file, { budgets: { shared: countBudget({ total: 2 }) } })
    const seen: [number, number][] = []
    const again = second.durable.task('t', policy, (_input: null, { attempt, execution }): never => {
      seen.push([attempt, execution])
      throw new Error('no')
    })
    expect(await second.durable.resume()).toMatchObject({ resumed: 1 })
    const error = await rejection(again.run(null, { id: 'a' }))
    expect(error).toMatchObject({ stopReason: 'budget_denied', attempts: 3 })
    expect(seen).toEqual([
      [2, 2],
      [3, 1],
    ])
    await second.durable.close()
  })

  it('a stop while tasks are being claimed leaves none behind', async () => {
    for (let gap = 0; gap < 6; gap++) {
      const file = newFile()
      const first = await openDurable(`sqlite:${file}`, { synchronous: 'normal' })
      const task = first.task('t', {}, hang)
      void task.start(null, { id: 'a' }).catch(() => undefined)
      void task.run(null, { id: 'b' }).catch(() => undefined)
      await turns(gap)
      await first.close()
      const ledger = await openSqlite(file)
      expect(await ledger.list({ statuses: ['running', 'parked'] })).toEqual([])
      await ledger.close()
      const second = await openDurable(`sqlite:${file}`, { synchronous: 'normal' })
      const again = second.task('t', {}, () => 'done')
      expect(await Promise.all(['a', 'b'].map((id) => again.run(null, { id })))).toEqual(['done', 'done'])
      await second.close()
    }
  })

  it.each([1, 10, 50])('2 000 tasks all end with at most %s at a time', { timeout: 60_000 }, async (concurrency) => {
    const durable = await openDurable(`sqlite:${newFile()}`, { concurrency, synchronous: 'normal' })
    let [running, most] = [0, 0]
    const task = durable.task('t', { attempts: 2, initialDelay: 0 }, async (input: number, { attempt }) => {
      most = Math.max(most, ++running)
      await turns(1)
      running--
      if (attempt === 1 && input % 10 === 0) throw new Error('once')
      return input
    })
    const inputs = Array.from({ length: 2000 }, (_, index) => index)
    expect(await Promise.all(inputs.map((input) => task.run(input, { id: `i${input}` })))).toEqual(inputs)
    expect(most).toBeLessThanOrEqual(concurrency)
    await durable.close()
  })
})

describe('a process that has closed', () => {
  async function endOf(how: 'close' | 'fail'): Promise<unknown> {
    const program = fileURLToPath(new URL('exits.ts', import.meta.url))
    const args = ['--conditions=reprise-source', '--import', 'tsx', program, newFile(), how]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (data: Buffer) => (said += data.toString()))
    const timer = setTimeout(() => child.kill('SIGKILL'), 60_000)
    const ended = await new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)))
    clearTimeout(timer)
    return [ended, said]
  }

  it('ends by itself, whatever waited or ran', async () => {
    expect(await endOf('close')).toEqual([0, 'closed\n'])
  })

  it('ends by itself though its ledger failed', async () => {
    expect(await endOf('fail')).toEqual([0, 'closed\n'])
  })
})
