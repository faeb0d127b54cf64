/** Who is believed to be lost, by which clock, and what a person can do about it. */
import { describe, expect, it } from 'vitest'
import { virtualClock, type VirtualClock } from 'reprise/testing'
import { Durable } from '../../packages/reprise/src/durable/durable.js'
import { type Identity, ownIdentity } from '../../packages/reprise/src/durable/identity.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import type { OwnerRecord } from '../../packages/reprise/src/ledger/records.js'
import { environmentOf } from '../../packages/reprise/src/runtime/executor-options.js'
import { clockReading } from '../clock-reading.js'
import { turns } from './process-model.js'

const LEASE_MS = 30_000
const START_MS = 1_000_000_000

/** A machine with a clock on the wall that can be set, and a ledger that judges leases by it. */
class Machine {
  readonly clock: VirtualClock = virtualClock({ startMs: START_MS })
  readonly ledger: Ledger
  private setBy = 0

  constructor() {
    const clock = clockReading(
      () => this.clock.wallMs(),
      () => this.clock.wallMs() + this.setBy,
    )
    this.ledger = new MemoryLedger({ clock })
  }

  setWall(byMs: number): void {
    this.setBy += byMs
  }

  /** The heartbeats are the test's: real timers do not run here. */
  async open(identity: Identity): Promise<Durable> {
    const environment = environmentOf({ clock: this.clock })
    const settings = { concurrency: 5, leaseMs: LEASE_MS, policyChange: 'refuse', identity } as const
    return Durable.open(this.ledger, environment, settings)
  }

  async beat(identity: Identity): Promise<void> {
    const leaseUntilMs = (await this.ledger.leaseNow()) + LEASE_MS
    await this.ledger.heartbeat({ ...identity, startedAtMs: START_MS, leaseUntilMs } satisfies OwnerRecord)
  }
}

const hang = (): Promise<never> => new Promise(() => undefined)

/** Somebody runs a task; `here` looks on. */
async function leaseFixture(
  change: Partial<Identity> = {},
): Promise<{ machine: Machine; owner: Identity; here: Durable }> {
  const machine = new Machine()
  const owner = { ...ownIdentity(), ...change }
  const there = await machine.open(owner)
  await there.task('t', {}, hang).start(null, { id: 'a' })
  await turns()
  const here = await machine.open(ownIdentity())
  here.task('t', {}, hang)
  return { machine, owner, here }
}

describe('an owner whose process is seen to live', () => {
  it('keeps its tasks when the clock on the wall jumps ahead by days', async () => {
    const { machine, here } = await leaseFixture()
    machine.setWall(3 * 86_400_000)
    expect(await here.resume()).toMatchObject({ resumed: 0, others: [{ pid: process.pid }] })
    await machine.clock.advance(LEASE_MS - 1)
    expect(await here.resume()).toMatchObject({ resumed: 0 })
  })

  it('loses them when it has said nothing for a lease, though its lease by the wall goes on', async () => {
    const { machine, here } = await leaseFixture()
    expect(await here.resume()).toMatchObject({ resumed: 0, others: [{ leaseLeftMs: LEASE_MS }] })
    machine.setWall(-2 * 3_600_000)
    await machine.clock.advance(LEASE_MS - 1000)
    expect(await here.resume()).toMatchObject({ resumed: 0, others: [{ leaseLeftMs: 1000 }] })
    await machine.clock.advance(1000)
    expect(await here.resume()).toMatchObject({ resumed: 1, others: [] })
  })

  it('is heard with every beat', async () => {
    const { machine, owner, here } = await leaseFixture()
    for (let beat = 0; beat < 10; beat++) {
      await machine.clock.advance(LEASE_MS / 2)
      await machine.beat(owner)
      expect(await here.resume()).toMatchObject({ resumed: 0 })
    }
  })
})

describe('an owner that cannot be seen from here', () => {
  it('loses its tasks when its lease is over by the clock that all share', async () => {
    const { machine, here } = await leaseFixture({ host: 'elsewhere' })
    await machine.clock.advance(LEASE_MS - 1)
    expect(await here.resume()).toMatchObject({ resumed: 0, others: [{ host: 'elsewhere', leaseLeftMs: 1 }] })
    await machine.clock.advance(1)
    expect(await here.resume()).toMatchObject({ resumed: 1 })
  })
})

describe('an owner whose process is gone', () => {
  it('loses its tasks at once', async () => {
    const { here } = await leaseFixture({ processStart: '1' })
    expect(await here.resume()).toMatchObject({ resumed: 1 })
  })

  it('is not named among the others, though its tasks are left alone by a program that does not know them', async () => {
    const { machine } = await leaseFixture({ processStart: '1' })
    const unknowing = await machine.open(ownIdentity())
    const { resumed, others } = await unknowing.resume()
    expect([resumed, others.length]).toEqual([0, 1]) // the program that knows the task lives
    expect(await machine.ledger.owners()).toHaveLength(3)
  })
})

describe('a resume by force', () => {
  it('takes the lease earlier, and the fence keeps the old owner from writing', async () => {
    const { machine, here } = await leaseFixture()
    const before = await machine.ledger.get({ scopeKind: 'task', scope: 't', id: 'a' })
    expect(await here.resume({ force: true })).toMatchObject({ resumed: 1 })
    const after = await machine.ledger.get({ scopeKind: 'task', scope: 't', id: 'a' })
    expect(after?.fence).toBeGreaterThan(before?.fence as number)
    expect(after?.owner).not.toBe(before?.owner)
  })
})
