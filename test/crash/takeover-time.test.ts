/** When a process notices that another one is lost: at the end of its lease, not at its own next look around. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { openLedger } from '../../packages/reprise/src/open/open-durable.js'
import type { BundledProgram } from '../bundled-program.js'
import { type Place, STORES } from '../gates/stores.js'
import { bundleTold, ToldProcess } from './told-processes.js'

const LEASE_MS = 2000
/** The heir looks around each third of this. */
const LONG_LEASE_MS = 90_000
const KEY = { scopeKind: 'task', scope: 'work', id: 'a' } as const

let program: BundledProgram
beforeAll(async () => {
  program = await bundleTold()
})
afterAll(() => program.remove())

describe.each(STORES.map((store) => ({ name: store.name.replace(/.* (on|to) /, ''), store })))(
  'a process that is lost on $name',
  { timeout: 120_000 },
  ({ store }) => {
    let place: Place
    let ledger: Ledger
    const processes: ToldProcess[] = []
    beforeEach(async () => {
      place = await store.make()
      ledger = await openLedger(place.address)
    })
    afterEach(async () => {
      for (const { child } of processes.splice(0)) child.kill('SIGKILL')
      await ledger.close()
      await place.remove()
    })

    async function start(leaseMs: number): Promise<ToldProcess> {
      const one = new ToldProcess(program, place.address, leaseMs)
      processes.push(one)
      await one.until(() => one.has('ready'))
      return one
    }

    it('is taken over from when its lease ends, though nobody would look around for long', async () => {
      const lost = await start(LEASE_MS)
      lost.order({ type: 'start', id: 'a' })
      await lost.until(() => lost.has('began', 'a'))
      lost.child.kill('SIGKILL')
      await new Promise((resolve) => lost.child.once('close', resolve))
      const [owner] = await ledger.owners()
      if (owner === undefined) throw new Error('The lost process has no row')
      expect(owner).toMatchObject({ slots: 4, running: expect.any(Number) as number })
      // As if on another machine, where its end cannot be seen.
      const endsAtMs = (await ledger.leaseNow()) + LEASE_MS
      await ledger.heartbeat({ ...owner, host: 'elsewhere', leaseUntilMs: endsAtMs })
      const heir = await start(LONG_LEASE_MS)
      await heir.until(() => heir.has('began', 'a'))
      const lateMs = (await ledger.leaseNow()) - endsAtMs
      expect(lateMs).toBeGreaterThanOrEqual(0)
      // A second on an idle machine; without a look at the end of the lease it would be half a minute.
      expect(lateMs).toBeLessThan(LONG_LEASE_MS / 6)
      expect(await ledger.get(KEY)).toMatchObject({ status: 'running', progress: { interruptions: 1 } })
      heir.order({ type: 'finish', id: 'a', value: 'heir' })
      await heir.until(async () => (await ledger.get(KEY))?.status === 'succeeded')
      await heir.close()
    })
  },
)
