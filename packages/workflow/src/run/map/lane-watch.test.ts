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

  test('looks at the share of failures when the tenth item has ended, though that one has succeeded', async () => {
    const classes = { fresh: 100, retrying: 0, undecided: 0, succeeded: 5, failed: 4, cancelled: 0, total: 109 }
    let halted = false
    const gates: Record<string, unknown> = {}
    const ledger = {
      tally: async () => ({ ...classes }),
      tallies: async () => [{ name: 'run/map/items', ...classes }],
      list: async () => [],
      transact: async (_keys: unknown, decide: (view: unknown) => { gates?: unknown[]; result: unknown }) => {
        const decided = decide({ gate: (key: string) => (gates[key] ??= { key, kind: 'queue', state: {} }) })
        halted ||= JSON.stringify(decided.gates ?? []).includes('failure_threshold')
        return decided.result
      },
    } as unknown as Ledger
    const errors = { failureThreshold: 0.3, halt: 'now' } as never
    const watch = new LaneWatch(ledger, 'run/map', errors, new AbortController().signal)
    vi.useFakeTimers()
    const over = watch.untilOver('run/map/items', 'run/map/items')
    // Nine have ended: too few to stop for 4 of 9.
    await vi.advanceTimersByTimeAsync(0)
    expect(halted).toBe(false)
    classes.succeeded++
    watch.itemRested(false)
    // Long before the next poll.
    await vi.advanceTimersByTimeAsync(100)
    expect(halted).toBe(true)
    await over
  })
})
