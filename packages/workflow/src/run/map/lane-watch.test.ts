/** Waiting for the end of a lane. Imports the watch alone. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Ledger } from 'reprise/durable'
import { LaneWatch } from './lane-watch.js'

const NO_HALT = { failureThreshold: null, halt: 'soon' } as never

describe('the watch of a lane', () => {
  afterEach(() => vi.useRealTimers())

  test('notices an end that comes while the ledger is asked, without waiting for the next poll', async () => {
    let looks = 0
    const watch: LaneWatch = new LaneWatch(
      {
        tally: async () => {
          looks++
          // The item ends after it was counted, and before the watch waits.
          if (looks === 1) watch.itemRested(false)
          if (looks > 2) throw new Error('looked too often')
          return { fresh: looks === 1 ? 1 : 0, retrying: 0 }
        },
      } as unknown as Ledger,
      'run/map',
      NO_HALT,
      new AbortController().signal,
    )
    // No poll comes.
    vi.useFakeTimers()
    await watch.untilEmpty('run/map/items')
    expect(looks).toBe(2)
  })
})
