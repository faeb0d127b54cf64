/** Where parts of the durable driver meet: clocks, leases, looks, inputs, and what others do meanwhile. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDurable } from 'reprise/durable'
import { openSqlite } from 'reprise/sqlite'
import { virtualClock } from 'reprise/testing'
import { describe, expect, it } from 'vitest'
import type { Budget } from '../../packages/reprise/src/core/budget.js'
import { Durable } from '../../packages/reprise/src/durable/durable.js'
import { type Identity, ownIdentity } from '../../packages/reprise/src/durable/identity.js'
import { LedgerError } from '../../packages/reprise/src/ledger/errors.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import { environmentOf } from '../../packages/reprise/src/runtime/executor-options.js'
import { withVerbs } from './with-verbs.js'
import { deferred, rejection, turns, until, ProcessModel } from './process-model.js'
import { clockReading } from '../clock-reading.js'

const hang = (): Promise<never> => new Promise(() => undefined)

describe('an attempt that waits for a look', () => {
  it('is not run as if it were the look when the new policy has none', async () => {
    const model = new ProcessModel()
    const first = await model.open()
    await first.durable.task('t', {}, hang, { onInterrupt: { verify: () => 'rerun' } }).start(null, { id: 'a' })
    await turns()
    await first.kill()
    const second = await model.open()
    second.durable.task('t', {}, hang, { onInterrupt: { verify: hang } })
    await second.durable.resume()
    await second.kill()
    const third = await model.open({ policyChange: 'accept' })
    const runs: string[] = []
    const task = third.durable.task('t', {}, (_input, { attempt, execution }) => {
      runs.push(`${attempt}.${execution}`)
      return 7
    })
    await third.durable.resume()
    expect(await task.run(null, { id: 'a' })).toBe(7)
    expect(runs).toEqual(['1.2'])
    await third.durable.close()
  })
})

describe('an input', () => {
  it('is what it was when the task was asked for', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const seen: number[] = []
    const task = durable.task<{ n: number }, null>('t', {}, ({ n }) => {
      seen.push(n)
      return null
    })
    const input = { n: 0 }
    const starts: Promise<unknown>[] = []
    for (let n = 1; n <= 3; n++) {
      input.n = n
      starts.push(task.start(input))
    }
    await Promise.all(starts)
    await until(() => seen.length === 3)
    expect(seen.toSorted((a, b) => a - b)).toEqual([1, 2, 3])
    await durable.close()
  })

  it('is the same for the next attempt, whatever the operation did to its own', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    const policy = { attempts: 2, initialDelay: 0 } as const
    const seen: number[] = []
    const task = durable.task<{ n: number }, null>('t', policy, (input) => {
      seen.push(input.n++)
      if (seen.length === 1) throw new Error('once')
      return null
    })
    await task.run({ n: 1 })
    expect(seen).toEqual([1, 1])
    await durable.close()
  })
})

describe('an owner that lives', () => {
  const START_MS = 1_000_000_000

  async function two(
    leases: readonly [number, number],
  ): Promise<{ clock: ReturnType<typeof virtualClock>; ledger: Ledger; all: Durable[]; ids: Identity[] }> {
    const clock = virtualClock({ startMs: START_MS })
    const ledger = new MemoryLedger({ clock: clockReading(() => clock.wallMs()) })
    const ids = [ownIdentity(), ownIdentity()]
    const all: Durable[] = []
    for (const [index, identity] of ids.entries()) {
      const settings = { concurrency: 5, leaseMs: leases[index] ?? 0, policyChange: 'refuse', identity } as const
      all.push(await Durable.open(ledger, environmentOf({ clock }), settings))
    }
    return { clock, ledger, all, ids }
  }

  it('keeps its tasks though another has chosen a shorter lease', async () => {
    const { clock, all } = await two([600_000, 60_000])
    const [slow, quick] = all as [Durable, Durable]
    await slow.task('t', {}, hang).start(null, { id: 'a' })
    await turns()
    quick.task('t', {}, hang)
    await quick.resume()
    // It renews every 200 s.
    await clock.advance(60_000)
    expect(await quick.resume()).toMatchObject({ resumed: 0 })
    for (const one of all) await one.close()
  })

  it('keeps what it takes on after others have taken what it had by force', async () => {
    const { all, ids, ledger } = await two([600_000, 600_000])
    const [mine, other] = all as [Durable, Durable]
    const task = mine.task('t', {}, hang)
    await task.start(null, { id: 'a' })
    await turns()
    other.task('t', {}, hang)
    expect(await other.resume({ force: true })).toMatchObject({ resumed: 1 })
    await turns()
    // It has not renewed its lease since, and the row of it is gone.
    await task.start(null, { id: 'b' })
    await turns()
    expect(await ledger.get({ scopeKind: 'task', scope: 't', id: 'b' })).toMatchObject({
      status: 'running',
      owner: ids[0]?.id,
    })
    expect(await other.resume()).toMatchObject({ resumed: 0 })
    for (const one of all) await one.close()
  })
})

describe('a ledger with a clock of its own', () => {
  it('is not asked without end while a task waits', async () => {
    let looks = 0
    const memory = new MemoryLedger({ clock: clockReading(() => Date.now() - 60_000) })
    const ledger = withVerbs(memory, {
      nextDueAtMs: (queues, except) => {
        looks++
        return memory.nextDueAtMs(queues, except)
      },
    })
    const durable = await openDurable(ledger)
    let runs = 0
    const task = durable.task('t', { attempts: 2, initialDelay: '300ms', jitter: false, backoff: 'fixed' }, () => {
      if (++runs === 1) throw new Error('once')
      return 1
    })
    await task.run(null)
    expect(looks).toBeLessThan(20)
    await durable.close()
  })
})

describe('closing', () => {
  it('does not fail because somebody was looking at what others do', async () => {
    const model = new ProcessModel()
    const elsewhere = await model.open()
    await elsewhere.durable.task('t', {}, hang).start(null, { id: 'a' })
    await turns()
    const gate = deferred()
    const looking = deferred()
    const line = withVerbs(model.ledger, {
      get: async () => {
        looking.resolve()
        await gate.promise
        throw new LedgerError('closed', 'closed')
      },
      close: async () => {
        gate.resolve()
        await turns()
      },
    })
    const settings = {
      concurrency: 5,
      leaseMs: 60_000,
      policyChange: 'refuse',
      identity: { ...ownIdentity(), host: 'x' },
    } as const
    const durable = await Durable.open(line, environmentOf({ clock: model.clock }), settings)
    const waiter = rejection(durable.task('t', {}, hang).run(null, { id: 'a' }))
    await looking.promise
    await durable.close()
    expect(await waiter).toMatchObject({ kind: 'closed' })
    await elsewhere.durable.close()
  })
})

describe('an address', () => {
  it('is not told with its password, whatever that is made of', async () => {
    for (const password of ['pa/ss', 'pa@ss', 'pa:ss']) {
      const error = await rejection(openDurable(`mysql://ada:${password}@db.example/app`))
      expect(String(error)).not.toContain('ss@')
    }
  })
})

describe('questions about many tasks', () => {
  it('are refused by a ledger that is closed, as everything else is', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'reprise-review-'))
    const ledger = await openSqlite(join(directory, 'a.db'))
    await ledger.close()
    try {
      expect(await rejection(ledger.owners())).toMatchObject({ problem: 'closed' })
      expect(await rejection(ledger.analytics.totals())).toMatchObject({ problem: 'closed' })
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})

describe('who waits for a task of another process', () => {
  it('hears of its end though the store was held at the first look', async () => {
    const model = new ProcessModel()
    const elsewhere = await model.open()
    const end = deferred<number>()
    const theirs = elsewhere.durable.task('t', {}, () => end.promise)
    await theirs.start(null, { id: 'a' })
    await turns()
    let looks = 0
    const line = withVerbs(model.ledger, {
      // Nobody writes after the end.
      changeMark: async () => 1,
      get: async (key) => {
        if (++looks === 1) throw new LedgerError('busy', 'held')
        return model.ledger.get(key)
      },
    })
    const identity = { ...ownIdentity(), host: 'x' }
    const settings = { concurrency: 5, leaseMs: 60_000, policyChange: 'refuse', identity } as const
    const durable = await Durable.open(line, environmentOf({ clock: model.clock }), settings)
    let result: unknown
    const waiting = durable.task('t', {}, hang).run(null, { id: 'a' })
    const told = waiting.then((value) => (result = value)).catch(() => undefined)
    end.resolve(7)
    try {
      await until(() => result === 7)
    } finally {
      await durable.close()
      await elsewhere.durable.close()
      await told
    }
  })

  it('hears that it was cancelled elsewhere while it stands in line here', async () => {
    const model = new ProcessModel()
    const budget = (): Budget => ({
      allowAttempt: () => ({ allowed: false, reason: 'full' }),
      park: () => () => undefined,
    })
    const here = await model.open({ budgets: { shared: budget() } })
    const there = await model.open({ budgets: { shared: budget() } })
    let failure: unknown
    const told = here.durable
      .task('t', { budget: 'shared' }, hang)
      .run(null, { id: 'a' })
      .catch((error: unknown) => (failure = error))
    await until(async () => (await model.ledger.get({ scopeKind: 'task', scope: 't', id: 'a' }))?.status === 'parked')
    await there.durable.task('t', { budget: 'shared' }, hang).cancel('a')
    try {
      await until(() => failure !== undefined)
    } finally {
      await here.durable.close()
      await there.durable.close()
      await told
    }
    expect(failure).toMatchObject({ stopReason: 'aborted' })
  })
})

describe('a file that was named from a directory', () => {
  it('is still the same file when the program goes to another one', () => {
    const directory = mkdtempSync(join(tmpdir(), 'reprise-review-'))
    const script = `
      import { openDurable } from 'reprise/durable'
      const root = process.cwd()
      process.chdir(${JSON.stringify(directory)})
      const durable = await openDurable('sqlite:./a.db')
      process.chdir(root)
      console.log(await durable.task('t', {}, () => 'done').run(null))
      await durable.close()`
    const options = ['--conditions=reprise-source', '--import', 'tsx', '--input-type=module', '-e', script]
    try {
      const { stdout } = spawnSync(process.execPath, options, { encoding: 'utf8', cwd: process.cwd() })
      expect(stdout).toContain('done')
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})
