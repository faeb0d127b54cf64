/** Breakers that several processes have in common: counts add up, and slots of half-open are one set for all. */
import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../packages/reprise/src/core/budgets/token-bucket.js'
import { resetBreaker } from '../../packages/reprise/src/durable/gate-control.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import type { Decided, Keys, Ledger, View } from '../../packages/reprise/src/ledger/ledger.js'
import type { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import type { Json } from '../../packages/reprise/src/ledger/records.js'
import { withVerbs } from './with-verbs.js'
import { deferred, type Host, turns, ProcessModel } from './process-model.js'

type Doing = () => unknown

type Opened = Host & {
  readonly seen: string[]
  readonly task: TaskHandle<string, unknown>
  /** Runs a task that does this, or does it again where a dead process left it; a rejection is an answer too. */
  run(doing: Doing, id?: string): Promise<unknown>
}

let ids = 0
/** By id of the task: any process may run it. */
const doings = new Map<string, Doing>()

async function open(model: ProcessModel, breaker: object = {}, name = 't'): Promise<Opened> {
  const seen: string[] = []
  const onEvent = (event: { type: string; from?: string; to?: string }): void => {
    if (event.type === 'breaker_changed') seen.push(`${event.from}→${event.to}`)
  }
  const host = await model.open({ observers: [{ onEvent }] })
  const limits = { key: 'shared', failureThreshold: 4, recoveryTimeout: '60s', halfOpenMaxCalls: 1, ...breaker }
  const task = host.durable.task<string, unknown>(name, { attempts: 1, breaker: limits }, (id) => doings.get(id)?.())
  const run = async (doing: Doing, id = `n${ids++}`): Promise<unknown> => {
    doings.set(id, doing)
    return task.run(id, { id }).catch((error: unknown) => error)
  }
  return { ...host, seen, task, run }
}

const fail = (): never => {
  throw new Error('no')
}
const fine = (): string => 'fine'
const hang = (): Promise<never> => new Promise(() => undefined)
const REFUSED = { stopReason: 'breaker_open', attempts: 0 }

async function stateOf(model: ProcessModel): Promise<Json | undefined> {
  return (await model.ledger.gates()).find(({ key }) => key === 'breaker:shared')?.state
}

/** The breaker has opened, and its time has passed. */
async function recovering(model: ProcessModel, ...hosts: Opened[]): Promise<void> {
  for (let failure = 0; failure < 4; failure++) await hosts[failure % hosts.length]?.run(fail)
  await model.clock.advance(60_000)
}

describe('a breaker of two processes', () => {
  it('opens with the failure that makes the threshold full, whoever has it', async () => {
    const model = new ProcessModel()
    const [one, other] = [await open(model), await open(model)]
    for (const host of [one, other, one]) await host.run(fail)
    expect(await stateOf(model)).toMatchObject({ phase: 'closed', failures: 3 })
    await other.run(fail)
    expect(await stateOf(model)).toMatchObject({ phase: 'open', failures: 4 })
    for (const host of [one, other]) expect(await host.run(fine)).toMatchObject(REFUSED)
    for (const host of [one, other]) expect(host.seen).toEqual(['closed→open'])
    for (const { durable } of [one, other]) await durable.close()
  })

  it('forgets the failures of both with a success of one', async () => {
    const model = new ProcessModel()
    const [one, other] = [await open(model), await open(model)]
    for (const host of [one, one, one]) await host.run(fail)
    await other.run(fine)
    await one.run(fail)
    expect(await stateOf(model)).toMatchObject({ phase: 'closed', failures: 1 })
    for (const { durable } of [one, other]) await durable.close()
  })

  it('lets so many probes through as it has slots, over both', async () => {
    const model = new ProcessModel()
    const limits = { halfOpenMaxCalls: 2 }
    const [one, other] = [await open(model, limits), await open(model, limits)]
    await recovering(model, one, other)
    const ends = [deferred<string>(), deferred<string>()]
    const probes = [one.run(() => ends[0]?.promise), other.run(() => ends[1]?.promise)]
    await turns()
    expect(await stateOf(model)).toMatchObject({ phase: 'half_open', probes: 2 })
    const late = await open(model, limits)
    for (const host of [one, other, late]) expect(await host.run(fine)).toMatchObject(REFUSED)
    for (const end of ends) end.resolve('fine')
    expect(await Promise.all(probes)).toEqual(['fine', 'fine'])
    expect(await stateOf(model)).toMatchObject({ phase: 'closed', failures: 0 })
    for (const host of [one, other, late]) expect(await host.run(fine)).toBe('fine')
    expect(one.seen).toEqual(['closed→open', 'open→half_open', 'half_open→closed'])
    expect(late.seen).toEqual(['half_open→closed'])
    for (const { durable } of [one, other, late]) await durable.close()
  })

  it('is not closed by a probe of one while that of the other has opened it again', async () => {
    const model = new ProcessModel()
    const limits = { halfOpenMaxCalls: 2 }
    const [one, other] = [await open(model, limits), await open(model, limits)]
    await recovering(model, one)
    const end = deferred<string>()
    const probe = one.run(() => end.promise)
    await turns()
    await other.run(fail)
    end.resolve('done')
    expect(await probe).toBe('done')
    expect(await stateOf(model)).toMatchObject({ phase: 'open', openUntilMs: model.now + 60_000 })
    for (const host of [one, other]) expect(await host.run(fine)).toMatchObject(REFUSED)
    for (const { durable } of [one, other]) await durable.close()
  })

  it('counts nothing of what was begun before a person changed it, in a process that came after it either', async () => {
    const model = new ProcessModel()
    const one = await open(model)
    const end = deferred()
    const flying = one.run(() => end.promise)
    await turns()
    await resetBreaker(model.ledger, 'shared', { reason: 'all is well' })
    const late = await open(model)
    for (let failure = 0; failure < 3; failure++) await late.run(fail)
    end.reject(new Error('late'))
    await flying
    expect(await stateOf(model)).toMatchObject({ phase: 'closed', failures: 3 })
    for (const { durable } of [one, late]) await durable.close()
  })
})

describe('the slot of a probe', () => {
  it('goes back when its process was killed and another takes its task over, and the task needs a new one', async () => {
    const model = new ProcessModel()
    const [one, other] = [await open(model), await open(model)]
    await recovering(model, one)
    void one.run(hang, 'killed')
    await turns()
    expect(await other.run(fine)).toMatchObject(REFUSED)
    await one.kill()
    expect(await other.run(fine)).toMatchObject(REFUSED)
    const before = await model.task('t', 'killed')
    expect(before.progress.current).toMatchObject({ probe: { breaker: 'shared' } })
    const end = deferred<string>()
    const again = other.run(() => end.promise, 'killed')
    await other.durable.resume()
    await turns()
    expect(await stateOf(model)).toMatchObject({ phase: 'half_open', probes: 1 })
    expect(await other.run(fine)).toMatchObject(REFUSED)
    end.resolve('fine')
    expect(await again).toBe('fine')
    expect(await stateOf(model)).toMatchObject({ phase: 'closed' })
    await other.durable.close()
  })

  it('goes back to a program that uses the breaker and knows nothing of the task', async () => {
    const model = new ProcessModel()
    const [one, other] = [await open(model), await open(model, {}, 'another')]
    await recovering(model, one)
    const end = deferred<string>()
    const probe = one.run(() => end.promise, 'unknown')
    await turns()
    expect(await other.run(fine)).toMatchObject(REFUSED)
    await one.expire()
    await other.durable.resume()
    expect(await stateOf(model)).toMatchObject({ phase: 'half_open', probes: 0 })
    expect((await model.task('t', 'unknown')).progress.current).not.toHaveProperty('probe')
    await other.durable.resume()
    const heir = deferred<string>()
    const next = other.run(() => heir.promise)
    await turns()
    // It was only believed to be lost: what it did is recorded, and the breaker hears of it from nobody.
    end.resolve('fine')
    expect(await probe).toBe('fine')
    expect(await stateOf(model)).toMatchObject({ phase: 'half_open', probes: 1, successes: 0 })
    heir.resolve('fine')
    await next
    expect(await stateOf(model)).toMatchObject({ phase: 'closed' })
    for (const { durable } of [one, other]) await durable.close()
  })

  it('goes back once when another process cancels the task', async () => {
    const model = new ProcessModel()
    const limits = { halfOpenMaxCalls: 2 }
    const [one, other] = [await open(model, limits), await open(model, limits)]
    await recovering(model, one)
    const end = deferred<string>()
    const probes = [one.run(() => end.promise, 'probe'), one.run(hang, 'hangs')]
    await turns()
    await other.task.cancel('probe')
    expect(await stateOf(model)).toMatchObject({ phase: 'half_open', probes: 1 })
    end.resolve('too late')
    expect(await probes[0]).toMatchObject({ stopReason: 'aborted' })
    await turns()
    expect(await stateOf(model)).toMatchObject({ phase: 'half_open', probes: 1, successes: 0 })
    await other.task.reset('probe')
    await turns()
    await other.task.cancel('hangs')
    for (const { durable } of [one, other]) await durable.close()
  })

  it('goes back when its process stops in order', async () => {
    const model = new ProcessModel()
    const [one, other] = [await open(model), await open(model)]
    await recovering(model, one)
    void one.run(hang, 'probe')
    await turns()
    other.line.hold()
    await one.durable.stop()
    expect(await stateOf(model)).toMatchObject({ phase: 'half_open', probes: 0 })
    other.line.release()
    await other.durable.stop()
  })
})

/** Every transaction is decided once in vain; `between` happens before it is decided again. */
function undone(between: (ledger: MemoryLedger) => Promise<void> = async () => undefined) {
  return (ledger: MemoryLedger): Ledger =>
    withVerbs(ledger, {
      transact: async <T>(keys: Keys, decide: (view: View) => Decided<T>): Promise<T> => {
        const undo = new Error('undone')
        const first = ledger.transact(keys, (view) => {
          decide(view)
          throw undo
        })
        await first.catch((error: unknown) => {
          if (error !== undo) throw error
        })
        await between(ledger)
        return ledger.transact(keys, decide)
      },
    })
}

describe('a transaction that has to be done again', () => {
  it('counts a failure once', async () => {
    const model = new ProcessModel(undone())
    const host = await open(model)
    for (let failure = 0; failure < 3; failure++) await host.run(fail)
    expect(await stateOf(model)).toMatchObject({ phase: 'closed', failures: 3 })
    await host.run(fail)
    expect(await stateOf(model)).toMatchObject({ phase: 'open', failures: 4 })
    expect(host.seen).toEqual(['closed→open'])
    await host.durable.close()
  })

  it('counts it on top of what others have written meanwhile, though that is what it wrote itself', async () => {
    const gate = { key: 'breaker:shared', kind: 'breaker' } as const
    const counted = { phase: 'closed', failures: 1, openUntilMs: null, epoch: 0, probes: 0, successes: 0 }
    let isOnce = true
    const model = new ProcessModel(
      undone(async (ledger) => {
        if (!isOnce) return
        isOnce = false
        await ledger.transact({ tasks: [], gates: [gate.key] }, () => ({
          gates: [{ ...gate, state: counted }],
          result: 0,
        }))
      }),
    )
    const host = await open(model)
    await host.run(fail)
    expect(await stateOf(model)).toMatchObject({ phase: 'closed', failures: 2 })
    await host.durable.close()
  })

  it('charges the first attempt of all once, though the ledger has nothing of the budget yet', async () => {
    const redone = (ledger: MemoryLedger): Ledger =>
      withVerbs(ledger, {
        claim: (request, decide) =>
          ledger.claim(request, (task, view, seat) => {
            decide(task, view, seat)
            return decide(task, view, seat)
          }),
      })
    const model = new ProcessModel(redone)
    const budgets = { shared: tokenBucket({ capacity: 5, refillPerSecond: 0.001 }) }
    const { durable } = await model.open({ budgets })
    await durable.task('t', { attempts: 1, budget: 'shared' }, fine).run(null)
    expect((await model.ledger.gates())[0]?.state).toMatchObject({ tokens: 4 })
    await durable.close()
  })
})

describe('a breaker that an earlier version wrote', () => {
  it('is open again where it was half-open, since nobody knows of its slots', async () => {
    const model = new ProcessModel()
    const state = { phase: 'half_open', failures: 4, openUntilMs: model.now - 1 }
    await model.ledger.transact({ tasks: [] }, () => ({
      gates: [{ key: 'breaker:shared', kind: 'breaker', state }],
      result: 0,
    }))
    const host = await open(model)
    const end = deferred<string>()
    const probe = host.run(() => end.promise)
    await turns()
    expect(await host.run(fine)).toMatchObject(REFUSED)
    end.resolve('fine')
    expect(await probe).toBe('fine')
    expect(await stateOf(model)).toMatchObject({ phase: 'closed', failures: 0, probes: 0 })
    await host.durable.close()
  })
})
