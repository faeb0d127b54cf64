import { expect, test } from 'vitest'
import { withDates } from './json-times.js'

test('a time is a whole number of milliseconds with its date beside it', () => {
  expect(withDates({ id: 'a', startedAtMs: 1.4, steps: [{ timeMs: 86_400_000.5 }] })).toEqual({
    id: 'a',
    startedAtMs: 1,
    startedAt: '1970-01-01T00:00:00.001Z',
    steps: [{ timeMs: 86_400_001, time: '1970-01-02T00:00:00.001Z' }],
  })
})

test('a time that is not there has a date that is not there', () => {
  expect(withDates({ endedAtMs: null })).toEqual({ endedAtMs: null, endedAt: null })
  expect(JSON.stringify(withDates({ endedAtMs: undefined }))).toBe('{}')
  expect(withDates({ openUntilMs: 0, atMs: Number.MIN_SAFE_INTEGER })).toEqual({
    openUntilMs: 0,
    openUntil: '1970-01-01T00:00:00.000Z',
    // Before every date.
    atMs: Number.MIN_SAFE_INTEGER,
    at: null,
  })
})

test('a list of times has a list of dates', () => {
  expect(withDates({ resumedAtMs: [0, 1] })).toEqual({
    resumedAtMs: [0, 1],
    resumedAt: ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.001Z'],
  })
})

test('a duration is a whole number of milliseconds, also within a list or an object', () => {
  expect(withDates({ activeMs: 0.6, latencyMs: { p50: 1.2, p99: null }, delaysMs: [0.4] })).toEqual({
    activeMs: 1,
    latencyMs: { p50: 1, p99: null },
    delaysMs: [0],
  })
})

test('what users have written is left as it is', () => {
  const given = { params: { dueAtMs: 1.5 }, policy: { initialDelay: 0.5, xMs: 0.5 }, env: { A_AtMs: '1' } }
  expect(withDates(given)).toEqual(given)
  expect(withDates('text')).toBe('text')
})
