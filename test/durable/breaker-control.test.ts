/** Breakers that a person resets or trips while processes use them. */
import { describe, expect, it } from 'vitest'
import type { Budget, Decision } from '../../packages/reprise/src/core/budget.js'
import { listGates, resetBreaker, tripBreaker } from '../../packages/reprise/src/durable/gate-control.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import type { Json } from '../../packages/reprise/src/ledger/records.js'
import { deferred, type Host, rejection, turns, ProcessModel } from './process-model.js'

const BREAKER = { failureThreshold: 2, recoveryTimeout: '60s', halfOpenMaxCalls: 1 } as const
const REASON = 'the provider is back'

/** What the operation of a task does, by its input. */
type Doing = () => unknown

type Opened = Host & {
  task: TaskHandle<string, unknown>
  /** Runs a task that does this; what it rejects with is the answer too. */
  run(doing: Doing): Promise<unknown>
}

let ids = 0

async function open(model: ProcessModel, budget?: Budget): Promise<Opened> {
  const host = await model.open(budget === undefined ? {} : { budgets: { door: budget } })
  const doings = new Map<string, Doing>()
  const policy = { attempts: 1, breaker: BREAKER, ...(budget !== undefined && { budget: 'door' }) } as const
  const task = host.durable.task<string, unknown>('t', policy, (name) => doings.get(name)?.())
  const run = async (doing: Doing): Promise<unknown> => {
    const name = `n${ids++}`
    doings.set(name, doing)
    return task.run(name, { id: name }).catch((error: unknown) => error)
  }
  return { ...host, task, run }
}

const fail = (): never => {
  throw new Error('no')
}
const fine = (): string => 'fine'
const REFUSED = { stopReason: 'breaker_open', attempts: 0 }

async function stateOf(model: ProcessModel): Promise<Json | undefined> {
  return (await model.ledger.gates()).find(({ key }) => key === 'breaker:t')?.state
}

/** Two processes, and in both the breaker is open. */
async function bothOpen(model: ProcessModel): Promise<[Opened, Opened]> {
  const hosts: [Opened, Opened] = [await open(model), await open(model)]
  for (let failure = 0; failure < 2; failure++) await hosts[0].run(fail)
  for (const host of hosts) expect(await host.run(fine)).toMatchObject(REFUSED)
  return hosts
}

describe('a breaker that is reset', () => {
  it('is closed in every process that had it open, at once', async () => {
    const model = new ProcessModel()
    const hosts = await bothOpen(model)
    await resetBreaker(model.ledger, 't', { reason: REASON })
    for (const host of hosts) expect(await host.run(fine)).toBe('fine')
    for (const { durable } of hosts) await durable.close()
  })

  it('is open before and closed after it, by the record', async () => {
    const model = new ProcessModel()
    const [host, other] = await bothOpen(model)
    const openUntilMs = model.now + 60_000
    const change = await resetBreaker(model.ledger, 't', { reason: `  ${REASON} ` })
    expect(change).toEqual({
      gate: 'breaker:t',
      action: 'reset',
      reason: REASON,
      before: { phase: 'open', failures: 2, openUntilMs },
      after: { phase: 'closed', failures: 0, openUntilMs: null },
    })
    const told = (await model.ledger.events(0, 100)).filter(({ type }) => type === 'gate_changed')
    expect(told).toMatchObject([{ scopeKind: '', scope: '', id: '', atMs: model.now, detail: change }])
    await host.durable.close()
    await other.durable.close()
  })

  it('opens again by what happens afterwards, and stays so: one word counts once', async () => {
    const model = new ProcessModel()
    const [host, other] = await bothOpen(model)
    await resetBreaker(model.ledger, 't', { reason: REASON })
    await other.run(fail)
    await host.run(fail)
    await host.run(fail)
    for (const one of [host, other, host]) expect(await one.run(fine)).toMatchObject(REFUSED)
    await host.kill()
    const heir = await open(model)
    expect(await heir.run(fine)).toMatchObject(REFUSED)
    await heir.durable.close()
    await other.durable.close()
  })

  it('counts nothing that was begun before', async () => {
    const model = new ProcessModel()
    const host = await open(model)
    const ends = [deferred(), deferred(), deferred()]
    const flying = ends.map(({ promise }) => host.run(() => promise))
    await turns()
    await host.run(fail)
    await resetBreaker(model.ledger, 't', { reason: REASON })
    for (const end of ends) end.reject(new Error('late'))
    for (const end of await Promise.all(flying)) expect(end).toMatchObject({ stopReason: 'attempts_exhausted' })
    expect(await stateOf(model)).toMatchObject({ phase: 'closed', failures: 0, openUntilMs: null })
    expect(await host.run(fine)).toBe('fine')
    await host.durable.close()
  })

  it('lets all through while a probe is on its way, and hears the probe no more', async () => {
    const model = new ProcessModel()
    const [host, other] = await bothOpen(model)
    await model.clock.advance(60_000)
    const end = deferred()
    const probe = host.run(() => end.promise)
    await turns()
    expect(await host.run(fine)).toMatchObject(REFUSED)
    await resetBreaker(model.ledger, 't', { reason: REASON })
    expect(await host.run(fine)).toBe('fine')
    end.reject(new Error('late'))
    await probe
    expect(await host.run(fine)).toBe('fine')
    await host.durable.close()
    await other.durable.close()
  })

  it('stays closed over a kill that comes before anybody has heard of it', async () => {
    const model = new ProcessModel()
    const [host, other] = await bothOpen(model)
    await resetBreaker(model.ledger, 't', { reason: REASON })
    await host.kill()
    await other.kill()
    const heir = await open(model)
    expect(await heir.run(fine)).toBe('fine')
    await heir.durable.close()
  })

  it('is told to the observers of the process that takes it in', async () => {
    const model = new ProcessModel()
    const seen: unknown[] = []
    const onEvent = (event: { type: string }): void => void (event.type === 'breaker_changed' && seen.push(event))
    const { durable } = await model.open({ observers: [{ onEvent }] })
    const task = durable.task<boolean, string>('t', { attempts: 1, breaker: BREAKER }, (ok) => (ok ? 'fine' : fail()))
    for (let failure = 0; failure < 2; failure++) await rejection(task.run(false))
    await resetBreaker(model.ledger, 't', { reason: REASON })
    expect(await task.run(true)).toBe('fine')
    expect(seen).toMatchObject([
      { from: 'closed', to: 'open' },
      { from: 'open', to: 'closed' },
    ])
    await durable.close()
  })
})

describe('a breaker that is tripped', () => {
  it('refuses in every process that uses it, for its own time unless another is given', async () => {
    const model = new ProcessModel()
    const hosts = [await open(model), await open(model)]
    for (const host of hosts) expect(await host.run(fine)).toBe('fine')
    await tripBreaker(model.ledger, 't', { reason: 'maintenance' })
    expect(await stateOf(model)).toMatchObject({ phase: 'open', failures: 0, openUntilMs: model.now + 60_000 })
    for (const host of hosts) expect(await host.run(fine)).toMatchObject(REFUSED)
    await tripBreaker(model.ledger, 't', { reason: 'only for a moment', recoveryTimeout: '5s' })
    await model.clock.advance(4999)
    for (const host of hosts) expect(await host.run(fine)).toMatchObject(REFUSED)
    await model.clock.advance(1)
    for (const host of hosts) expect(await host.run(fine)).toBe('fine')
    for (const { durable } of hosts) await durable.close()
  })

  it('leaves attempts that run alone, and takes nothing from their results', async () => {
    const model = new ProcessModel()
    const host = await open(model)
    const end = deferred<string>()
    const flying = host.run(() => end.promise)
    await turns()
    await tripBreaker(model.ledger, 't', { reason: 'maintenance' })
    end.resolve('done')
    expect(await flying).toBe('done')
    expect(await host.run(fine)).toMatchObject(REFUSED)
    await host.durable.close()
  })

  it('refuses while a probe is on its way, whose success closes nothing', async () => {
    const model = new ProcessModel()
    const [host, other] = await bothOpen(model)
    await model.clock.advance(60_000)
    const end = deferred<string>()
    const probe = host.run(() => end.promise)
    await turns()
    await tripBreaker(model.ledger, 't', { reason: 'still down' })
    end.resolve('done')
    expect(await probe).toBe('done')
    expect(await host.run(fine)).toMatchObject(REFUSED)
    await host.durable.close()
    await other.durable.close()
  })

  it('refuses a task that stood in line when it was', async () => {
    const model = new ProcessModel()
    const line: ((grant: Decision) => void)[] = []
    const door: Budget = {
      allowAttempt: () => ({ allowed: false, reason: 'wait' }),
      park: (_request, wake) => {
        line.push(wake)
        return () => undefined
      },
    }
    const host = await open(model, door)
    const first = host.run(fine)
    await turns()
    line.shift()?.({ allowed: true, reason: 'allowed' })
    expect(await first).toBe('fine')
    const parked = host.run(fine)
    await turns()
    await tripBreaker(model.ledger, 't', { reason: 'maintenance' })
    line.shift()?.({ allowed: true, reason: 'allowed' })
    expect(await parked).toMatchObject(REFUSED)
    await host.durable.close()
  })

  it('is open for a process that begins afterwards', async () => {
    const model = new ProcessModel()
    const host = await open(model)
    await host.run(fine)
    await tripBreaker(model.ledger, 't', { reason: 'maintenance' })
    await host.durable.close()
    const heir = await open(model)
    expect(await heir.run(fine)).toMatchObject(REFUSED)
    await heir.durable.close()
  })
})

describe('a breaker that nobody changed by hand', () => {
  it('stays open though a record of an earlier version says that it is closed (I9)', async () => {
    const model = new ProcessModel()
    const [host, other] = await bothOpen(model)
    const closed = { phase: 'closed', failures: 0, openUntilMs: null }
    const gate = { key: 'breaker:t', kind: 'breaker', state: closed } as const
    const claim = (): Promise<number> =>
      model.ledger.transact({ tasks: [], gates: [gate.key] }, () => ({ gates: [gate], result: 0 }))
    await claim()
    expect(await host.run(fine)).toMatchObject(REFUSED)
    // The same word of a person's counts, though it changes nothing in the ledger.
    await claim()
    await resetBreaker(model.ledger, 't', { reason: REASON })
    expect(await host.run(fine)).toBe('fine')
    await host.durable.close()
    await other.durable.close()
  })

  it('is listed with what it was made with', async () => {
    const model = new ProcessModel()
    const host = await open(model)
    await host.run(fail)
    expect((await listGates(model.ledger)).breakers).toEqual([
      {
        name: 't',
        state: { phase: 'closed', failures: 1, openUntilMs: null },
        lastFailureAtMs: model.now,
        settings: { failureThreshold: 2, recoveryTimeoutMs: 60_000, halfOpenMaxCalls: 1 },
      },
    ])
    await host.durable.close()
  })
})
