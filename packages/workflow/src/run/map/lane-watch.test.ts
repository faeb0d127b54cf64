/** Waiting for the end of a lane. Imports the watch alone. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Ledger } from 'reprise/durable'
import { LaneWatch } from './lane-watch.js'

const LANE = { queue: 'run/map/items', lookForLost: () => undefined, lookAtWaiting: () => Promise.resolve() }
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

  /** A map whose items end as a test says. */
  const shareOf = (succeeded: number, failed: number) => {
    const classes = {
      fresh: 100,
      retrying: 0,
      undecided: 0,
      succeeded,
      failed,
      cancelled: 0,
      total: 100 + succeeded + failed,
    }
    const found = { isHalted: false }
    const gates: Record<string, unknown> = {}
    const ledger = {
      tally: async () => ({ ...classes }),
      tallies: async () => [{ name: 'run/map/items', ...classes }],
      list: async () => [],
      transact: async (_keys: unknown, decide: (view: unknown) => { gates?: unknown[]; result: unknown }) => {
        const decided = decide({ gate: (key: string) => (gates[key] ??= { key, kind: 'queue', state: {} }) })
        found.isHalted ||= JSON.stringify(decided.gates ?? []).includes('failure_threshold')
        return decided.result
      },
    } as unknown as Ledger
    const errors = { failureThreshold: 0.3, halt: 'now' } as never
    const watch = new LaneWatch(ledger, 'run/map', errors, new AbortController().signal)
    return { classes, found, watch }
  }

  test('looks at the share of failures when the tenth item has ended, though that one has succeeded', async () => {
    const { classes, found, watch } = shareOf(5, 4)
    vi.useFakeTimers()
    const over = watch.untilOver('run/map/items', LANE)
    // Nine have ended: too few to stop for 4 of 9.
    await vi.advanceTimersByTimeAsync(0)
    expect(found.isHalted).toBe(false)
    classes.succeeded++
    watch.itemRested(false)
    // Long before the next poll.
    await vi.advanceTimersByTimeAsync(100)
    expect(found.isHalted).toBe(true)
    await over
  })

  test('looks at every end until ten items have ended: short items would all end before a look that waits', async () => {
    const { classes, found, watch } = shareOf(6, 2)
    vi.useFakeTimers()
    const over = watch.untilOver('run/map/items', LANE)
    for (const failed of [3, 4]) {
      await vi.advanceTimersByTimeAsync(1)
      expect(found.isHalted).toBe(false)
      classes.failed = failed
      watch.itemRested(true)
    }
    await vi.advanceTimersByTimeAsync(1)
    expect(found.isHalted).toBe(true)
    await over
  })
})
