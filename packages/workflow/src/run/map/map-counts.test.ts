import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countsOf, failedOf } from './map-counts.js'
import { isStillHalted, thresholdHalt } from './map-halt.js'

const CLASSES = ['fresh', 'retrying', 'undecided', 'succeeded', 'failed', 'cancelled'] as const
const classes = fc.tuple(...CLASSES.map(() => fc.nat(1000))).map((numbers) => {
  const [fresh = 0, retrying = 0, undecided = 0, succeeded = 0, failed = 0, cancelled = 0] = numbers
  const total = fresh + retrying + undecided + succeeded + failed + cancelled
  return { total, fresh, retrying, undecided, succeeded, failed, cancelled }
})

test('the states of items add up to the total, whatever is said to run', () => {
  const running = fc.record({ fresh: fc.nat(2000), retrying: fc.nat(2000) })
  const onItemFailure = fc.constantFrom('dlq' as const, 'skip' as const, 'stop' as const)
  fc.assert(
    fc.property(classes, running, onItemFailure, (given, runs, rule) => {
      const { total, ...states } = countsOf(given, runs, { onItemFailure: rule })
      expect(Object.values(states).every((count) => count >= 0)).toBe(true)
      expect(Object.values(states).reduce((sum, count) => sum + count, 0)).toBe(total)
    }),
  )
})

test('failed items are skipped ones with skip, and dead ones otherwise', () => {
  const given = { total: 5, fresh: 0, retrying: 0, undecided: 1, succeeded: 1, failed: 3, cancelled: 0 }
  const none = { fresh: 0, retrying: 0 }
  expect(countsOf(given, none, { onItemFailure: 'skip' })).toMatchObject({ skipped: 3, dead: 0 })
  const counts = countsOf(given, none, { onItemFailure: 'dlq' })
  expect(counts).toMatchObject({ skipped: 0, dead: 3 })
  expect(failedOf(counts)).toBe(4)
})

test('a share of failures stops the map strictly above the threshold, once ten items have ended', () => {
  fc.assert(
    fc.property(classes, fc.double({ min: 0, max: 1, noNaN: true }), (given, failureThreshold) => {
      const lost = given.failed + given.undecided
      const ended = given.succeeded + lost
      const isStopped = thresholdHalt(given, { failureThreshold }) !== undefined
      expect(isStopped).toBe(ended >= 10 && lost / ended > failureThreshold)
    }),
  )
  expect(thresholdHalt({ ...EMPTY, failed: 2, succeeded: 8 }, { failureThreshold: 0.2 })).toBeUndefined()
  expect(thresholdHalt({ ...EMPTY, failed: 9 }, { failureThreshold: 0.2 })).toBeUndefined()
  expect(thresholdHalt({ ...EMPTY, failed: 10 }, { failureThreshold: null })).toBeUndefined()
})

const EMPTY = { total: 0, fresh: 0, retrying: 0, undecided: 0, succeeded: 0, failed: 0, cancelled: 0 }

test('a stopped map may go on once its failures are below the limit that stopped it', () => {
  const none = { maxFailures: null, failureThreshold: null }
  const reached = { kind: 'max_failures', failed: 3, limit: 3 } as const
  expect(isStillHalted(reached, 3, EMPTY, { ...none, maxFailures: 3 })).toBe(true)
  expect(isStillHalted(reached, 2, EMPTY, { ...none, maxFailures: 3 })).toBe(false)
  expect(isStillHalted(reached, 3, EMPTY, { ...none, maxFailures: 9 })).toBe(false)
  expect(isStillHalted(reached, 3, EMPTY, none)).toBe(false)
  const byCode = { kind: 'halt_on', item: '0000000.a', exitCode: 255 } as const
  expect(isStillHalted(byCode, 1, EMPTY, none)).toBe(true)
  expect(isStillHalted(byCode, 0, EMPTY, none)).toBe(false)
})
