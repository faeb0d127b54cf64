import { describe, expect, it } from 'vitest'
import { OptionsError } from '../core/errors.js'
import { type RetentionInput, retentionOf, pauseAfterMs } from './retention.js'

const read = (input: unknown): unknown => retentionOf(input as RetentionInput)

describe('the option retention', () => {
  it('keeps every task for ever unless asked, and bounds the history of each', () => {
    expect(retentionOf()).toEqual({ maxHistoryPerTask: 100 })
    expect(retentionOf({})).toEqual({ maxHistoryPerTask: 100 })
    expect(read({ succeeded: undefined })).toEqual({ maxHistoryPerTask: 100 })
  })

  it('reads durations as people write them', () => {
    const input = {
      succeeded: '7d',
      cancelled: '1h30m',
      failed: 86_400_000,
      events: '1m',
      maxHistoryPerTask: 20,
    } as const
    expect(retentionOf(input)).toEqual({
      succeededMs: 604_800_000,
      cancelledMs: 5_400_000,
      failedMs: 86_400_000,
      eventsMs: 60_000,
      maxHistoryPerTask: 20,
    })
  })

  it.each([
    [{ succeded: '7d' }, 'retention.succeded: unknown field (did you mean `succeeded`?)'],
    [{ succeeded: '7 moons' }, `retention.succeeded: "7 moons" is not a duration from 0ms to 365d such as '500ms'`],
    [{ failed: null }, "(leave it out to keep them for ever, or say '30d')"],
    [
      { failed: '59s' },
      'retention.failed: 59s is too short: whoever waits for a task must have time to hear of its end',
    ],
    [{ failed: 0 }, "(say '1m' or more)"],
    [{ maxHistoryPerTask: 9 }, 'retention.maxHistoryPerTask: 9 is not a whole number from 10 to 100000'],
    [{ maxHistoryPerTask: Infinity }, 'retention.maxHistoryPerTask: Infinity is not a whole number'],
    ['7d', 'retention: "7d" is not an object with fields'],
    [{ succeeded: 'x', failed: 'y' }, '; retention.failed: "y" is not'],
  ])('refuses %j, and says what to write instead', (input, message) => {
    expect(() => read(input)).toThrow(OptionsError)
    expect(() => read(input)).toThrow(message)
  })

  it('sweeps again soon while there is more to remove', () => {
    const nothing = {
      tasks: 0,
      attempts: 0,
      events: 0,
      deadLetters: 0,
      shortened: 0,
      policies: 0,
      owners: 0,
      reclaimedBytes: 0,
    }
    expect(pauseAfterMs({ ...nothing, more: true })).toBeLessThan(pauseAfterMs({ ...nothing, more: false }))
  })
})
