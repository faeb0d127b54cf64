import { describe, expect, it } from 'vitest'
import { ResultError } from './errors.js'
import { retryAfterMs } from './retry-after.js'

const NOW = Date.UTC(2026, 0, 15, 12, 0, 0)
const after = (error: unknown, nowMs = NOW): number | undefined => retryAfterMs(error, nowMs)
const header = (value: unknown): number | undefined => after({ headers: { 'retry-after': value } })
const throwing = (): object =>
  new Proxy(
    {},
    {
      get() {
        throw new Error('hostile')
      },
      ownKeys() {
        throw new Error('hostile')
      },
    },
  )

describe('where it is found', () => {
  it.each([
    ['the headers of an error', { headers: { 'retry-after': '7' } }],
    ['headers in any case', { headers: { 'Content-Type': 'x', 'RETRY-AFTER': '7' } }],
    ['headers with a get method', { headers: new Map([['retry-after', '7']]) }],
    ['the headers of a response', { response: { headers: { 'Retry-After': '7' } } }],
    [
      'the Response of a result that failed',
      new ResultError('k', new Response('', { headers: { 'Retry-After': '7' } })),
    ],
    ['a thrown Response', new Response('', { headers: { 'Retry-After': '7' } })],
    ['the cause', new Error('x', { cause: { response: { headers: { 'retry-after': '7' } } } })],
    ['retryAfter as a number of seconds', { retryAfter: 7 }],
    ['retryAfter as text', { retryAfter: '7' }],
    ['retryAfterMs', { retryAfterMs: 7000 }],
    [
      'a header beside fields that say nothing',
      { retryAfterMs: -1, retryAfter: 'soon', headers: { 'retry-after': '7' } },
    ],
    ['a header that is called get as well', { headers: { get: 'x', 'retry-after': '7' } }],
  ])('%s', (_name, error) => {
    expect(after(error)).toBe(7000)
  })

  it.each([
    ['nothing', new Error('x')],
    ['a cause of the cause', new Error('x', { cause: new Error('y', { cause: { retryAfter: 7 } }) })],
    ['a header inherited', { headers: Object.create({ 'retry-after': '7' }) as object }],
    ['a header beyond the 200th', { headers: Object.assign(Array.from({ length: 200 }), { 'retry-after': '7' }) }],
    ['headers without it', { headers: new Headers() }],
  ])('is not %s', (_name, error) => {
    expect(after(error)).toBeUndefined()
  })
})

describe('seconds', () => {
  it('are whole numbers or decimals, with space around them', () => {
    expect(header('0')).toBe(0)
    expect(header('120')).toBe(120_000)
    expect(header(' 1.5 ')).toBe(1500)
    expect(header(120)).toBe(120_000)
  })

  it('are finite, however many', () => {
    for (const huge of ['9'.repeat(400), Number.POSITIVE_INFINITY, 1e308]) {
      expect(header(huge)).toBe(Number.MAX_SAFE_INTEGER)
    }
    expect(after({ retryAfterMs: Number.POSITIVE_INFINITY })).toBe(Number.MAX_SAFE_INTEGER)
  })

  it.each([
    '',
    ' ',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '.5',
    '1.',
    '1,5',
    'soon',
    '12 monkeys',
    'NaN',
    'Infinity',
    -1,
    Number.NaN,
  ])('are not %j', (value) => {
    expect(header(value)).toBeUndefined()
  })
})

describe('dates', () => {
  const IMF = 'Sun, 06 Nov 1994 08:49:37 GMT'
  const before = Date.UTC(1994, 10, 6, 8, 49, 30)

  it.each([IMF, 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])('are read in the form of %s', (date) => {
    expect(after({ retryAfter: date }, before)).toBe(7000)
  })

  it('in the past mean now', () => {
    expect(header(IMF)).toBe(0)
  })

  it('agree with the calendar from 1970 to 2400, in two forms', () => {
    const wrong: string[] = []
    for (let ms = 0; ms < Date.UTC(2400, 11, 31); ms += 86_400_000 + 61_000) {
      const imf = new Date(ms).toUTCString()
      const [weekday, day, month, year, time] = imf.split(/,? /)
      const asctime = `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`
      for (const date of [imf, asctime]) if (after({ retryAfter: date }, -1) !== ms + 1) wrong.push(date)
    }
    expect(wrong).toEqual([])
  })

  it('with a year of two digits lie at most 50 years ahead', () => {
    const shortYear = (year: string, nowMs: number): number => {
      const aheadMs = after({ retryAfter: `Thursday, 15-Jan-${year} 12:00:00 GMT` }, nowMs)!
      return new Date(nowMs + aheadMs).getUTCFullYear()
    }
    expect(shortYear('26', NOW - 1)).toBe(2026)
    expect(shortYear('75', NOW)).toBe(2075)
    expect(shortYear('76', NOW + 86_400_000)).toBe(2076)
    expect(header('Thursday, 15-Jan-77 12:00:00 GMT')).toBe(0)
    expect(header('Thursday, 15-Jan-99 12:00:00 GMT')).toBe(0)
    expect(header('Thursday, 15-Jan-25 12:00:00 GMT')).toBe(0)
    expect(shortYear('05', Date.UTC(2099, 5, 1))).toBe(2105)
    expect(shortYear('99', Date.UTC(2098, 5, 1))).toBe(2099)
  })

  it('may have a leap day and a leap second', () => {
    expect(after({ retryAfter: 'Thu, 29 Feb 2024 00:00:00 GMT' }, 0)).toBe(Date.UTC(2024, 1, 29))
    expect(after({ retryAfter: 'Sat, 31 Dec 2016 23:59:60 GMT' }, 0)).toBe(Date.UTC(2017, 0, 1))
  })

  it.each([
    ...['Sun, 00 Nov 2094 08:49:37 GMT', 'Sun, 31 Nov 2094 08:49:37 GMT', 'Sun, 29 Feb 2095 08:49:37 GMT'],
    ...['Sun, 06 Foo 2094 08:49:37 GMT', 'Sun, 06 Anf 2094 08:49:37 GMT', 'Sun, 06 Nov 2094 24:00:00 GMT'],
    ...['Sun, 06 Nov 2094 08:60:00 GMT', 'Sun, 06 Nov 2094 08:00:61 GMT', 'Sun, 06 Nov 2094 08:49:37', '2094-11-06'],
    ...['Sun, 06 Nov 294 08:49:37 GMT', 'Sun Nov  6 08:49:37 94', 'Sun Nov  6 8:49:37: 2094', '2094-11-06T08:49:37Z'],
  ])('that are none say nothing: %s', (date) => {
    expect(header(date)).toBeUndefined()
  })
})

describe('hostile input', () => {
  it('is answered without a throw', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const get = (): never => {
      throw new Error('hostile')
    }
    const all = [undefined, null, 0, 'x', Symbol('x'), proxy, throwing(), { headers: proxy }, { headers: throwing() }]
    for (const error of [...all, { headers: { get } }, { headers: { get: () => Symbol('x') } }, { headers: 'text' }]) {
      expect(after(error)).toBeUndefined()
    }
    expect(header({ toString: get })).toBeUndefined()
    expect(header('1'.repeat(1_000_000))).toBe(Number.MAX_SAFE_INTEGER)
    expect(header(`${' '.repeat(1_000_000)}x`)).toBeUndefined()
  })
})
