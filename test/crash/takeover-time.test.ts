/** When a process notices that another one is lost: at the end of its lease, not at its own next look around. */
import { describe, expect, it } from 'vitest'
import { bundledFor, placeOfEach } from '../gates/shared-place.js'
import { STORES } from '../gates/stores.js'
import { bundleTold, startTold, type ToldProcess } from './told-processes.js'

const LEASE_MS = 2000
/** The heir looks around each third of this. */
const LONG_LEASE_MS = 90_000
const KEY = { scopeKind: 'task', scope: 'work', id: 'a' } as const

const program = bundledFor(bundleTold)

describe.each(STORES.map((store) => ({ name: store.name.replace(/.* (on|to) /, ''), store })))(
  'a process that is lost on $name',
  { timeout: 120_000 },
  ({ store }) => {
    const place = placeOfEach(store)
    const start = (leaseMs: number): Promise<ToldProcess> => startTold(place, program(), leaseMs)

    it('is taken over from when its lease ends, though nobody would look around for long', async () => {
      const lost = await start(LEASE_MS)
      lost.order({ type: 'start', id: 'a' })
      await lost.until(() => lost.has('began', 'a'))
      lost.child.kill('SIGKILL')
      await new Promise((resolve) => lost.child.once('close', resolve))
      const [owner] = await place.ledger.owners()
      if (owner === undefined) throw new Error('The lost process has no row')
      expect(owner).toMatchObject({ slots: 4, running: expect.any(Number) as number })
      // As if on another machine, where its end cannot be seen.
      const endsAtMs = (await place.ledger.leaseNow()) + LEASE_MS
      await place.ledger.heartbeat({ ...owner, host: 'elsewhere', leaseUntilMs: endsAtMs })
      const heir = await start(LONG_LEASE_MS)
      await heir.until(() => heir.has('began', 'a'))
      const lateMs = (await place.ledger.leaseNow()) - endsAtMs
      expect(lateMs).toBeGreaterThanOrEqual(0)
      // A second on an idle machine; without a look at the end of the lease it would be half a minute.
      expect(lateMs).toBeLessThan(LONG_LEASE_MS / 6)
      expect(await place.ledger.get(KEY)).toMatchObject({ status: 'running', progress: { interruptions: 1 } })
      heir.order({ type: 'finish', id: 'a', value: 'heir' })
      await heir.until(async () => (await place.ledger.get(KEY))?.status === 'succeeded')
      await heir.close()
    })
  },
)
