/**
 * Processes whose event loop is blocked: for less than a lease they keep their tasks, since a thread renews their lease;
 * for longer the thread stops, others take over, and what the blocked process writes afterwards does not count.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import type { OwnerRecord } from '../../packages/reprise/src/ledger/records.js'
import { openLedger } from '../../packages/reprise/src/open/open-durable.js'
import type { BundledProgram } from '../bundled-program.js'
import { type Place, STORES } from '../gates/stores.js'
import { bundleTold, ToldProcess } from './told-processes.js'

/** Long enough that a busy machine does not stop a process for so long by itself. */
const LEASE_MS = 2000
const KEY = { scopeKind: 'task', scope: 'work', id: 'a' } as const

const unblocked = ({ told }: ToldProcess): number => told.filter(({ type }) => type === 'unblocked').length

let program: BundledProgram
beforeAll(async () => {
  program = await bundleTold()
})
afterAll(() => program.remove())

describe.each(STORES.map((store) => ({ name: store.name.replace(/.* (on|to) /, ''), store })))(
  'a process on $name whose event loop is blocked',
  { timeout: 120_000 },
  ({ store }) => {
    let place: Place
    let ledger: Ledger
    let processes: ToldProcess[]

    beforeEach(async () => {
      place = await store.make()
      ledger = await openLedger(place.address)
      processes = []
    })
    afterEach(async () => {
      for (const { child } of processes) child.kill('SIGKILL')
      await ledger.close()
      await place.remove()
    })

    async function start(): Promise<ToldProcess> {
      const one = new ToldProcess(program, place.address, LEASE_MS)
      processes.push(one)
      await one.until(() => one.has('ready'))
      return one
    }

    const leaseOf = async ({ child }: ToldProcess): Promise<number> => {
      const owners = await ledger.owners()
      return (owners.find(({ pid }) => pid === child.pid) as OwnerRecord).leaseUntilMs
    }

    /** Blocks it, and answers how often its lease was renewed meanwhile. */
    async function renewalsWhileBlocked(one: ToldProcess, forMs: number): Promise<number> {
      const before = unblocked(one)
      one.order({ type: 'block', forMs })
      // What its event loop has begun before the order came may still be written.
      await new Promise((resolve) => setTimeout(resolve, LEASE_MS / 10))
      const leases = new Set([await leaseOf(one)])
      await one.until(async () => {
        const lease = await leaseOf(one)
        if (unblocked(one) === before) leases.add(lease)
        return unblocked(one) > before
      })
      return leases.size - 1
    }

    /** A process that owns the task, with its thread at work. */
    async function owner(): Promise<ToldProcess> {
      const one = await start()
      one.order({ type: 'start', id: 'a' })
      await one.until(() => one.has('began', 'a'))
      while ((await renewalsWhileBlocked(one, LEASE_MS * 0.8)) === 0);
      return one
    }

    it('for less than a lease keeps its task', async () => {
      const blocked = await owner()
      const other = await start()
      for (let times = 0; times < 3; times++) {
        expect(await renewalsWhileBlocked(blocked, LEASE_MS * 0.8)).toBeGreaterThan(0)
      }
      blocked.order({ type: 'finish', id: 'a', value: 'kept' })
      await blocked.until(async () => (await ledger.get(KEY))?.status === 'succeeded')
      expect(await ledger.get(KEY)).toMatchObject({ result: 'kept', progress: { interruptions: 0 } })
      expect(other.has('began')).toBe(false)
      await blocked.close()
      await other.close()
    })

    it('for three leases loses it, writes nothing of it afterwards, and goes on with other work', async () => {
      const blocked = await owner()
      const heir = await start()
      const before = unblocked(blocked)
      blocked.order({ type: 'block', forMs: 3 * LEASE_MS })
      await heir.until(() => heir.has('began', 'a'))
      expect(unblocked(blocked)).toBe(before)
      const taken = await ledger.get(KEY)
      blocked.order({ type: 'finish', id: 'a', value: 'late' })
      // It runs this one itself or leaves it to the other: both are awake by then.
      blocked.order({ type: 'start', id: 'b' })
      await blocked.until(() => blocked.has('began', 'b') || heir.has('began', 'b'))
      expect(await ledger.get(KEY)).toEqual(taken)
      heir.order({ type: 'finish', id: 'a', value: 'heir' })
      for (const one of [blocked, heir]) one.order({ type: 'finish', id: 'b', value: 'done' })
      await blocked.until(async () => (await ledger.get({ ...KEY, id: 'b' }))?.status === 'succeeded')
      await heir.until(async () => (await ledger.get(KEY))?.status === 'succeeded')
      expect(await ledger.get(KEY)).toMatchObject({ result: 'heir' })
      expect((await ledger.attempts(KEY)).map(({ outcome }) => outcome)).toEqual(['interrupted', 'success'])
      await blocked.close()
      await heir.close()
    })

    it('because the whole process was stopped loses its task as well', async () => {
      const stopped = await owner()
      const heir = await start()
      const before = unblocked(stopped)
      stopped.child.kill('SIGSTOP')
      const lease = await leaseOf(stopped)
      await heir.until(() => heir.has('began', 'a'))
      expect(await leaseOf(stopped)).toBe(lease)
      const taken = await ledger.get(KEY)
      stopped.child.kill('SIGCONT')
      stopped.order({ type: 'finish', id: 'a', value: 'late' })
      stopped.order({ type: 'block', forMs: 1 })
      await stopped.until(() => unblocked(stopped) > before)
      expect(await ledger.get(KEY)).toEqual(taken)
      heir.order({ type: 'finish', id: 'a', value: 'heir' })
      await heir.until(async () => (await ledger.get(KEY))?.status === 'succeeded')
      expect(await ledger.get(KEY)).toMatchObject({ result: 'heir' })
      await stopped.close()
      await heir.close()
    })
  },
)
