/** Tasks killed between two checkpoints: they go on behind the last one that was written. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkLedger } from '../../packages/reprise/src/durable/ledger-check.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { openLedger } from '../../packages/reprise/src/open/open-durable.js'
import { readableRows, readingSqlite } from '../../packages/reprise/src/sqlite/readable-rows.js'
import type { BundledProgram } from '../bundled-program.js'
import { type Place, STORES } from '../gates/stores.js'
import { bundleTold, ToldProcess } from './told-processes.js'

const LEASE_MS = 2000
const KEY = { scopeKind: 'task', scope: 'work', id: 'a' } as const

let program: BundledProgram
beforeAll(async () => {
  program = await bundleTold()
})
afterAll(() => program.remove())

describe.each(STORES.map((store) => ({ name: store.name.replace(/.* (on|to) /, ''), store })))(
  'a task on $name that is killed between two checkpoints',
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

    async function start(): Promise<ToldProcess> {
      const one = new ToldProcess(program, place.address, LEASE_MS)
      processes.push(one)
      await one.until(() => one.has('ready'))
      return one
    }

    it('goes on behind the last one, however often it is killed', async () => {
      let lastCheckpoint: object | null = null
      for (let life = 1; life <= 3; life++) {
        const one = await start()
        if (life === 1) one.order({ type: 'start', id: 'a' })
        await one.until(() => one.has('began', 'a'))
        // The third interruption counts as a failure of the attempt.
        expect(one.told.find(({ type }) => type === 'began')).toMatchObject({ execution: life, lastCheckpoint })
        for (const part of ['x', 'y']) one.order({ type: 'keep', id: 'a', value: `${life}${part}` })
        await one.until(() => one.told.filter(({ type }) => type === 'kept').length === 2)
        lastCheckpoint = { value: `${life}y`, attempt: 1, execution: life }
        if (life === 3) {
          one.order({ type: 'finish', id: 'a', value: 'done' })
          await one.until(async () => (await ledger.get(KEY))?.status === 'succeeded')
          await one.close()
        } else {
          one.child.kill('SIGKILL')
          await new Promise((resolve) => one.child.once('close', resolve))
          expect(await ledger.checkpoint(KEY)).toBe(`${life}y`)
        }
      }
      expect(await ledger.checkpoint(KEY)).toBeUndefined()
      expect(await ledger.get(KEY)).toMatchObject({ result: 'done' })
      const file = /^sqlite:(.+)$/.exec(place.address)?.[1]
      if (file === undefined) return
      const lost: object[] = []
      const found = await readingSqlite(file, (database) =>
        checkLedger(readableRows(database, (one) => lost.push(one))),
      )
      expect({ lost, faults: found.faults }).toEqual({ lost: [], faults: [] })
    })
  },
)
