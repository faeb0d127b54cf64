import { describe, expect, it } from 'vitest'
import { formatDuration, parseDuration, readDuration } from './duration.js'
import { PolicyError } from './errors.js'

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['1h30m', 5_400_000],
    ['2m30s', 150_000],
    ['1d', 86_400_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['1m500ms', 60_500],
    ['90m', 5_400_000],
    ['1.5s', 1500],
    ['0.1s', 100],
    ['1.1s', 1100],
    ['1.5ms', 1.5],
    ['0s', 0],
    ['365d', 31_536_000_000],
    ['1h 30m', 5_400_000],
    ['5min', 300_000],
    ['5 minutes', 300_000],
    ['1day', 86_400_000],
    ['2 days 3 hours', 183_600_000],
    ['1w', 604_800_000],
    ['2weeks 1d', 1_296_000_000],
    ['1hr', 3_600_000],
    ['90 secs', 90_000],
    ['1min 30sec 5msec', 90_005],
    ['200 milliseconds', 200],
    ['1 s', 1000],
    [250, 250],
    [0, 0],
  ])('reads %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each([
    '5',
    'abc',
    '-1s',
    '',
    ' ',
    '1.5.2s',
    'NaN',
    'Infinity',
    '1  s',
    '1h  30m',
    '1h ',
    '5 months',
    '1y',
    '1minx',
    '53w',
    '30m 1h',
    '1h, 30m',
    ' 1s',
    '1s ',
    '1s\n',
    '30s1m',
    '1s1s',
    '.5s',
    '1.s',
    '1e3s',
    '1S',
    '١s',
    '366d',
    '1e400',
    '9'.repeat(400),
    `${'0'.repeat(100)}1s`,
  ])('refuses %j', (text) => {
    expect(() => parseDuration(text)).toThrow(PolicyError)
  })

  it.each([Number.NaN, Infinity, -1, -0.001, 31_536_000_001, 2 ** 53 + 1])('refuses the number %d', (ms) => {
    expect(() => parseDuration(ms)).toThrow(PolicyError)
  })

  it('names the value and accepted examples', () => {
    expect(() => parseDuration('abc')).toThrow(
      `"abc" is not a duration from 0ms to 365d such as '500ms', '30s' or '1h30m'`,
    )
    expect(() => parseDuration('5')).toThrow(`"5" is not a duration from 0ms to 365d such as '5s' or '5ms'`)
    expect(() => parseDuration('abc')).toThrow(expect.objectContaining({ code: 'invalid_policy' }))
  })

  it('answers in no time whatever the text', () => {
    const texts = ['1'.repeat(1_000_000), '1.'.repeat(500_000), '1s'.repeat(500_000), `${'1'.repeat(63)}x`]
    const start = performance.now()
    for (const text of texts) expect(() => parseDuration(text)).toThrow(PolicyError)
    expect(performance.now() - start).toBeLessThan(2000)
  })
})

describe('readDuration', () => {
  it('returns the problem instead of throwing it', () => {
    expect(readDuration('1s')).toBe(1000)
    expect(readDuration(null)).toContain('null is not a duration')
    expect(readDuration({})).toContain('an object is not a duration')
    expect(readDuration(1n)).toContain('1 is not a duration')
  })

  it('refuses a number where its unit cannot be known', () => {
    expect(readDuration(5, false)).toBe(`5 is not a duration from 0ms to 365d such as '5s' or '5ms'`)
    expect(readDuration('5s', false)).toBe(5000)
  })

  it('has no negative zero', () => {
    expect(readDuration(-0)).toBe(0)
  })
})

describe('formatDuration', () => {
  it.each([
    [0, '0ms'],
    [1, '1ms'],
    [500, '500ms'],
    [1000, '1s'],
    [1500, '1s500ms'],
    [61_500, '1m1s500ms'],
    [5_400_000, '1h30m'],
    [86_400_000, '1d'],
    [93_784_005, '1d2h3m4s5ms'],
    [31_536_000_000, '365d'],
    [1.5, '1.5ms'],
    [60_000.25, '1m0.25ms'],
    [0.1 + 0.2, '0.3ms'],
    [0.0001, '0ms'],
    [-0, '0ms'],
    [-1500, '-1s500ms'],
    [Infinity, 'Infinity'],
    [Number.NaN, 'NaN'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })
})
