/** Options of durable tasks, and what the context tells an operation. */
import { describe, expect, it } from 'vitest'
import { isRepriseError } from 'reprise'
import { openDurable, TaskRefusedError } from 'reprise/durable'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import type { Budget, Decision } from '../../packages/reprise/src/core/budget.js'
import { rejection, turns, ProcessModel } from './process-model.js'

const fail = (): never => {
  throw Object.assign(new RangeError('no luck'), { code: 'E_LUCK' })
}

describe('an option', () => {
  it.each<[Record<string, unknown>, RegExp]>([
    [{ concurency: 3 }, /options of openDurable: concurency: unknown option \(did you mean `concurrency`\?\)/],
    [{ concurrency: 0 }, /concurrency: 0 is not a whole number of 1 or more/],
    [{ lease: 5 }, /lease: 5 is not a duration from 100ms to 1d such as '30s'/],
    [{ lease: '2d', concurrency: 0 }, /lease: "2d" is not .*; concurrency: 0 is not/],
    [{ leaseMs: 5000 }, /leaseMs: unknown option \(did you mean `lease`\?\)/],
    [{ breakers: { k: 5 } }, /breakers\.k: 5 is not an object with fields/],
    [{ breakers: { k: { failureThreshold: 0 } } }, /breakers\.k\.failureThreshold: 0 is not/],
    [
      { retention: { failed: 1 }, budgets: { b: {} } },
      /budgets\.b: an object is not a budget.*; retention\.failed: 1ms is/,
    ],
    [{ onFailure: 5 }, /onFailure: 5 is not a function/],
    [5 as never, /options of openDurable: 5 is not an object with concurrency, /],
    [{ policyChange: 'maybe' }, /policyChange: "maybe" is not 'refuse' or 'accept'/],
    [{ breakers: 'x' }, /breakers: "x" is not an object/],
    [{ synchronous: 'off' }, /synchronous: "off" is not 'full' or 'normal'/],
    [{ observers: [{}] }, /options of openDurable: observers: a list is not a list of observers/],
    [{ policies: {} }, /policies: unknown option/],
    [{ identity: 'worker' }, /identity: "worker" is not an object with role, site or version/],
    [
      { identity: { rol: 'a', site: '' } },
      /identity\.rol: unknown option .*; identity\.site: "" is not a text of 1 to/,
    ],
  ])('that is wrong is named: %j', async (options, message) => {
    const error = await rejection(openDurable('memory:', options))
    expect((error as Error).message).toMatch(message)
    expect(isRepriseError(error, 'invalid_options')).toBe(true)
  })

  it('may be a ledger that is open already', async () => {
    const ledger = new MemoryLedger()
    const durable = await openDurable(ledger)
    expect(await durable.task('t', {}, () => 1).run(null, { id: 'a' })).toBe(1)
    expect(await ledger.get({ scopeKind: 'task', scope: 't', id: 'a' })).toMatchObject({ status: 'succeeded' })
    await durable.close()
  })

  it.each([
    ['mysql://me:sec@ret@host/db?password=secret', 'mysql://me:…@host/db?…'],
    ['app:secret@127.0.0.1:5432/db', 'app:…@127.0.0.1:5432/db'],
    ['postgres:/app:secret@host/db', 'postgres:…@host/db'],
    ['host=db password=secret', 'host=db password=…'],
    ['sqlite://./a.db', 'sqlite://./a.db'],
    ['sqlite:file:a.db', 'sqlite:file:a.db'],
    ['sqlite:a\0b', 'sqlite:a\\u0000b'],
    ['', ''],
  ])(
    'that is an address nobody knows is answered with those that are known, without its secrets: %j',
    async (address, shown) => {
      const error = (await rejection(openDurable(address))) as Error
      expect(error.message).toBe(
        `There is no ledger at "${shown}": say sqlite:PATH, such as sqlite:./tasks.db, postgres://…, or memory:`,
      )
    },
  )

  it('that is a path is answered with the address of that file', async () => {
    const error = (await rejection(openDurable('./tasks.db'))) as Error
    expect(error.message).toBe('There is no ledger at "./tasks.db": say sqlite:./tasks.db')
  })

  it.each([undefined, null, 5, {}, new URL('sqlite:./a.db')])('that is no address is refused: %s', async (address) => {
    expect(((await rejection(openDurable(address as never))) as Error).message).toMatch(/must be an address/)
  })

  it('that protects is not ignored because it is misspelt', async () => {
    const durable = await openDurable('memory:')
    const define = (options: unknown) => () => durable.task('t', {}, () => 1, options as never)
    expect(define({ onInterupt: 'fail' })).toThrow(
      /options of the task t: onInterupt: unknown option \(did you mean `onInterrupt`\?\)/,
    )
    expect(define(null)).toThrow(/options of the task t: null is not an object/)
    const task = durable.task('u', {}, () => 1)
    for (const options of ['order-42', { ID: 'a' }, { id: 5 }, null]) {
      expect(await rejection(task.run(null, options as never))).toMatchObject({ code: 'invalid_options' })
      expect(await rejection(task.start(null, options as never))).toMatchObject({ code: 'invalid_options' })
    }
    for (const options of [{ forse: true }, { force: 'yes' }, 5])
      expect(await rejection(durable.resume(options as never))).toMatchObject({ code: 'invalid_options' })
    await durable.close()
  })

  it.each<[unknown, RegExp]>([
    [{ group: 'sums' }, /group: "sums" is not an object with the functions `keys` and `follow`/],
    [{ group: { keys: () => ({}) } }, /task t: group\.follow: undefined is not a function$/],
    [{ onInterrupt: 'charg' }, /onInterrupt: "charg" is not 'rerun', 'charge', 'fail' or \{ verify: function \}/],
    [{ onInterrupt: [] }, /onInterrupt: a list is not 'rerun'/],
    [{ onInterrupt: {} }, /onInterrupt\.verify: is missing: say a function/],
    [
      { onInterrupt: { verify: () => 'unknown', verfy: 1 } },
      /onInterrupt\.verfy: unknown option \(did you mean `verify`\?\)/,
    ],
  ])('of a task that is wrong is named with its place: %j', async (options, message) => {
    const durable = await openDurable('memory:')
    expect(() => durable.task('t', {}, () => 1, options as never)).toThrow(message)
    await durable.close()
  })

  it('of a registration that is wrong says which argument it is', async () => {
    const durable = await openDurable('memory:')
    const policy = (() => 1) as never
    expect(() => durable.task('t', policy, undefined as never)).toThrow(
      "The third argument of task('t', policy, run): undefined is not a function",
    )
    durable.task('t', {}, () => 1)
    expect(() => durable.task('t', {}, () => 2)).toThrow('There is a task t already: register each name once')
    await durable.close()
  })

  it('of many tasks is named with its place in the list, before anything is recorded', async () => {
    const durable = await openDurable('memory:')
    const task = durable.task('t', {}, (input: unknown) => Promise.resolve(String(input)) as never)
    const messageOf = async (tasks: unknown): Promise<string> =>
      ((await rejection(task.startAll(tasks as never))) as Error).message
    expect(await messageOf({ input: 1 })).toBe(
      'startAll of the task t: an object is not a list such as [{ input, id }]',
    )
    expect(await messageOf([{ input: 1, id: 'a' }, { id: 'b' }])).toBe(
      'tasks[1].input is undefined: what is kept must be JSON',
    )
    expect(await messageOf([{ input: 1, id: 'a' }, { input: { at: new Date(0) } }])).toMatch(
      /^tasks\[1\]\.input\.at is an object of class Date/,
    )
    expect(await messageOf([{ input: 1, ID: 'a' }])).toMatch(/of tasks\[0\] in startAll of the task t: ID: unknown/)
    expect(await messageOf([{ input: 1, id: '' }])).toMatch(/of tasks\[0\] in startAll of the task t: id: "" is not/)
    expect(await task.status('a')).toBeUndefined()
    await durable.close()
  })

  it('`breakers` settles what a breaker is, for every policy that names it', async () => {
    const breakers = { api: { failureThreshold: 1, recoveryTimeout: '1h' } }
    const durable = await openDurable('memory:', { breakers })
    const first = durable.task('first', { attempts: 1, breaker: { key: 'api', failureThreshold: 50 } }, fail)
    const second = durable.task('second', { attempts: 1, breaker: { key: 'api' } }, () => 'fine')
    await rejection(first.run(null, { id: 'a' }))
    expect(await rejection(second.run(null, { id: 'a' }))).toMatchObject({ stopReason: 'breaker_open' })
    await durable.close()
  })
})

describe('an operation', () => {
  it('is told how the attempt before it failed, by the same words before and after a restart', async () => {
    const model = new ProcessModel()
    const policy = { attempts: 3, initialDelay: '1s', jitter: false } as const
    const seen: unknown[] = []
    const operation = (
      _input: null,
      { attempt, previousError }: { attempt: number; previousError?: Error | undefined },
    ) => {
      seen.push([attempt, previousError?.name, previousError?.message, (previousError as { code?: string })?.code])
      return fail()
    }
    let host = await model.open()
    await host.durable.task('t', policy, operation).start(null, { id: 'a' })
    await turns()
    await model.clock.advance(1000)
    await turns()
    await host.durable.close()
    host = await model.open()
    host.durable.task('t', policy, operation)
    await model.clock.advance(2000)
    await turns()
    const told = ['RangeError', 'no luck', 'E_LUCK']
    expect(seen).toEqual([
      [1, undefined, undefined, undefined],
      [2, ...told],
      [3, ...told],
    ])
    await host.durable.close()
  })

  it('has its whole time from its first start on, however long it waited for a process', async () => {
    const model = new ProcessModel()
    const policy = { attempts: 2, timeout: '10s' } as const
    const early = await model.open({ concurrency: 1 })
    const busy = early.durable.task('busy', {}, () => new Promise<never>(() => undefined))
    const late = early.durable.task('late', policy, (_input: null, { remainingMs }) => remainingMs ?? null)
    await busy.start(null, { id: 'a' })
    await turns()
    await late.start(null, { id: 'a' })
    await model.clock.advance(3_600_000)
    await busy.cancel('a')
    await turns()
    expect(await late.run(null, { id: 'a' })).toBe(10_000)
    await early.durable.close()
  })

  it('is not begun in a process that drains, and who asks for it is told', async () => {
    const model = new ProcessModel()
    const { durable } = await model.open()
    let runs = 0
    const task = durable.task('t', {}, () => ++runs)
    expect(await task.run(null, { id: 'a' })).toBe(1)
    await durable.drain()
    expect(await task.run(null, { id: 'a' })).toBe(1)
    const error = await rejection(task.run(null, { id: 'b' }))
    expect(error).toBeInstanceOf(TaskRefusedError)
    expect(error).toMatchObject({ kind: 'closed' })
    expect(runs).toBe(1)
    await durable.close()
  })

  it('is decided by done or rerun, and nothing else', async () => {
    const { durable } = await new ProcessModel().open()
    const task = durable.task('t', {}, () => 1)
    await task.run(null, { id: 'a' })
    expect(await rejection(task.decide('a', 'maybe' as never))).toMatchObject({ name: 'TypeError' })
    expect(await rejection(task.decide('a', 'done'))).toMatchObject({ kind: 'finished' })
    await durable.close()
  })
})

/** Lets nobody in by himself, and all at once when it is told. */
class Door implements Budget {
  private waiting: ((decision: Decision) => void)[] = []
  private isOpen = false
  given = 0
  allowAttempt(): Decision {
    return { allowed: false, reason: 'closed' }
  }
  park(_request: unknown, wake: (decision: Decision) => void): () => void {
    this.waiting.push(wake)
    if (this.isOpen) setImmediate(() => this.open())
    return () => undefined
  }
  settle(): void {
    this.given--
  }
  open(): void {
    this.isOpen = true
    for (const wake of this.waiting.splice(0)) {
      this.given++
      wake({ allowed: true, reason: 'allowed' })
    }
  }
}

describe('tasks that are let out of a line together', () => {
  it('still run no more at a time than the process may', async () => {
    const model = new ProcessModel()
    const door = new Door()
    const { durable } = await model.open({ concurrency: 3, budgets: { door } })
    let [now, most] = [0, 0]
    const task = durable.task('t', { budget: 'door' }, async (input: number) => {
      most = Math.max(most, ++now)
      await turns(2)
      now--
      return input
    })
    const inputs = Array.from({ length: 20 }, (_, index) => index)
    for (const input of inputs) await task.start(input, { id: `i${input}` })
    await turns()
    const results = inputs.map((input) => task.run(input, { id: `i${input}` }))
    await turns()
    // No more than may run are taken out of the ledger to stand in line.
    const inLine = await model.ledger.list({ statuses: ['parked'] })
    expect(inLine.length).toBeGreaterThan(0)
    expect(inLine.length).toBeLessThan(inputs.length)
    door.open()
    expect(await Promise.all(results)).toEqual(inputs)
    expect(most).toBe(3)
    expect(door.given).toBe(0)
    await durable.close()
  })

  it('give back what they were let through with if the process stops first', async () => {
    const model = new ProcessModel()
    const door = new Door()
    const host = await model.open({ concurrency: 1, budgets: { door } })
    const busy = host.durable.task('busy', {}, () => new Promise<never>(() => undefined))
    const task = host.durable.task('t', { budget: 'door' }, () => 'ran')
    await task.start(null, { id: 'a' })
    await turns()
    await busy.start(null, { id: 'a' })
    await turns()
    door.open()
    await turns()
    expect(await model.task('t', 'a')).toMatchObject({ status: 'parked' })
    await host.durable.close()
    expect(await model.task('t', 'a')).toMatchObject({ status: 'waiting', owner: null })
    expect(door.given).toBe(0)
  })
})

describe('what a process says of itself', () => {
  it('is in its row, and told to others', async () => {
    const ledger = new MemoryLedger()
    const identity = { role: 'worker', site: 'eu', version: '1.4.2' }
    const first = await openDurable(ledger, { identity, concurrency: 7 })
    const second = await openDurable(ledger)
    expect(await ledger.owners()).toContainEqual(expect.objectContaining({ ...identity, slots: 7, running: 0 }))
    expect((await second.resume()).others).toEqual([expect.objectContaining({ ...identity, slots: 7, running: 0 })])
    const [other] = (await first.resume()).others
    expect(other).not.toHaveProperty('role')
    await first.close()
    await second.close()
  })
})
