/** Tasks killed between two checkpoints: they go on behind the last one that was written. */
import { describe, expect, it } from 'vitest'
import { checkLedger } from '../../packages/reprise/src/durable/ledger-check.js'
import { readableRows, readingSqlite } from '../../packages/reprise/src/sqlite/readable-rows.js'
import { bundledFor, placeOfEach } from '../gates/shared-place.js'
import { STORES } from '../gates/stores.js'
import { bundleTold, startTold, type ToldProcess } from './told-processes.js'

const LEASE_MS = 2000
const KEY = { scopeKind: 'task', scope: 'work', id: 'a' } as const

const program = bundledFor(bundleTold)

describe.each(STORES.map((store) => ({ name: store.name.replace(/.* (on|to) /, ''), store })))(
  'a task on $name that is killed between two checkpoints',
  { timeout: 120_000 },
  ({ store }) => {
    const place = placeOfEach(store)
    const start = (): Promise<ToldProcess> => startTold(place, program(), LEASE_MS)

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
          await one.until(async () => (await place.ledger.get(KEY))?.status === 'succeeded')
          await one.close()
        } else {
          one.child.kill('SIGKILL')
          await new Promise((resolve) => one.child.once('close', resolve))
          expect(await place.ledger.checkpoint(KEY)).toBe(`${life}y`)
        }
      }
      expect(await place.ledger.checkpoint(KEY)).toBeUndefined()
      expect(await place.ledger.get(KEY)).toMatchObject({ result: 'done' })
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
