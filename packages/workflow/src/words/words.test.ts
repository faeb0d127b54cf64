import { expect, test } from 'vitest'
import { roundedDuration } from './duration.js'
import { failureText, stopWords } from './failure-words.js'
import { byteText, countText, factor, percent, plainNumber, possible } from './figures.js'
import { resample, roundUp, timeTicks } from './scale.js'

test.each([
  [0, '0ms'],
  [0.4, '0ms'],
  [999.4, '999ms'],
  [999.6, '1s'],
  [1234, '1.2s'],
  [59_940, '59.9s'],
  [59_960, '1m'],
  [5_400_000, '1h30m'],
])('%f ms reads %s', (ms, text) => {
  expect(roundedDuration(ms)).toBe(text)
})

test.each([
  [{ name: 'Error', message: 'first\nsecond' }, 'first'],
  [{ name: 'Error', message: '\n\n  second' }, 'second'],
  [{ name: 'Error', message: '', code: 'ECONNRESET' }, 'ECONNRESET'],
  [{ name: 'TypeError', message: '' }, 'TypeError'],
  [{ name: 'ExitError', message: 'no route', exitCode: 75 }, 'exit code 75: no route'],
  [{ name: 'ExitError', message: 'exited with code 75', exitCode: 75 }, 'exited with code 75'],
  [{ name: 'ExitError', message: 'exit code 175', exitCode: 75 }, 'exit code 75: exit code 175'],
  [null, ''],
])('%o reads %s', (failure, text) => {
  expect(failureText(failure)).toBe(text)
})

test('counts and sizes are short, and never more exact than they read', () => {
  expect([0, 999, 1000, 1_234_567].map(countText)).toEqual(['0', '999', '1 000', '1 234 567'])
  expect([0, 840, 1024, 12_345, 3_500_000, 5e12].map(byteText)).toEqual([
    '0 B',
    '840 B',
    '1.0 KiB',
    '12 KiB',
    '3.3 MiB',
    '4.5 TiB',
  ])
})

// ── numbers ──────────────────────────────────────────────────────────────────────────────────────

test.each([
  [1, '100 %'],
  [0.99999, '99.99 %'],
  [0.99, '99.00 %'],
  [0.8006, '80.0 %'],
  [0.07, '7.0 %'],
  [0.00123, '0.12 %'],
  [0.00001, '<0.01 %'],
  [0, '0 %'],
  [1.14, '114 %'],
])('a share of %f reads %s: never all or nothing if it is not', (share, text) => {
  expect(percent(share)).toBe(text)
})

test('no more than all that is possible is shown', () => {
  expect([0.5, 1.14].map(possible)).toEqual(['50.0 %', '100 %'])
})

test('factors have three digits, other numbers those that say something', () => {
  expect([0, 1, 9.999, 12.34, 104.2].map(factor)).toEqual(['0.00', '1.00', '10.00', '12.3', '104'])
  expect([750, 0.5, 1 / 3].map(plainNumber)).toEqual(['750', '0.5', '0.33'])
})

// ── scales ───────────────────────────────────────────────────────────────────────────────────────

test('an axis ends at a round number that nothing exceeds', () => {
  expect([0, 0.07, 1, 749, 1001, 6850].map(roundUp)).toEqual([1, 0.08, 1, 800, 1200, 8000])
})

test('ticks stand at round times, however long it takes', () => {
  expect(timeTicks(180, 8)).toEqual([0, 30, 60, 90, 120, 150, 180])
  expect(timeTicks(160, 5)).toEqual([0, 60, 120])
  for (const end of [1, 59, 4000, 90_000, 900_000]) expect(timeTicks(end, 6).length).toBeLessThanOrEqual(6)
})

test('more or fewer parts than values keep their means', () => {
  expect(resample([1, 3, 5, 7], 2)).toEqual([2, 6])
  expect(resample([1, 3], 4)).toEqual([1, 1, 3, 3])
})

const FAILURE = { name: 'Error', message: 'x' }

test.each([
  [{ stopReason: 'not_retryable', failure: FAILURE }, 'not retried: the failure matches nothing in `retry_on`'],
  [
    { stopReason: 'not_retryable', failure: { ...FAILURE, retryable: false } },
    'not retried: another attempt would fail the same way',
  ],
  [{ stopReason: 'attempts_exhausted', attemptsAllowed: 3 }, 'every attempt failed'],
  [{ stopReason: 'attempts_exhausted', attemptsAllowed: 1 }, 'its only attempt failed'],
  [{ stopReason: 'timeout', failure: FAILURE }, 'its time limit leaves no time for another attempt'],
  [{ stopReason: 'timeout', failure: { ...FAILURE, code: 'timeout' } }, 'its time limit has passed'],
  [{ stopReason: 'retry_budget_exhausted' }, 'another wait would exceed its retry budget'],
] as const)('%j is told as: %s', (stopped, words) => {
  expect(stopWords(stopped)).toBe(`${words} (${stopped.stopReason})`)
})
