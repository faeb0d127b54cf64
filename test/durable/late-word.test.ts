/** An owner that leaves says nothing more afterwards, however long its ledger took to hear what it said before. */
import { expect, it } from 'vitest'
import { Durable } from '../../packages/reprise/src/durable/durable.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import { environmentOf } from '../../packages/reprise/src/runtime/executor-options.js'
import { withVerbs } from './with-verbs.js'

it('a heartbeat that hangs while later ones get through is waited for', async () => {
  const store = new MemoryLedger()
  const heard = { beats: 0 }
  let letGo = (): void => undefined
  const hung = new Promise<void>((resolve) => (letGo = resolve))
  const ledger = withVerbs(store, {
    heartbeat: async (owner) => {
      // The first is at the opening.
      if (++heard.beats === 2) await hung
      await store.heartbeat(owner)
    },
  })
  const settings = { concurrency: 1, leaseMs: 60, policyChange: 'refuse' } as const
  const durable = await Durable.open(ledger, environmentOf({}), settings)
  while (heard.beats < 4) await new Promise((resolve) => setTimeout(resolve, 5))
  const closed = durable.close()
  setTimeout(letGo, 30)
  await closed
  await hung
  await new Promise((resolve) => setImmediate(resolve))
  expect(await store.owners()).toEqual([])
})
