import { describe, expect, it } from 'vitest'
import { signatureOf } from './signature.js'

const of = (message: string, name = 'Error'): string => signatureOf({ name, message })

describe('the signature of a failure', () => {
  it.each([
    ['numbers', 'row 17 of 2345 failed after 1.5 s', 'Error: row # of # failed after # s'],
    ['hex', 'block 0xDEADBEEF at 9f86d081884c7d65', 'Error: block # at #'],
    ['uuids', 'no order 6BA7B810-9dad-11d1-80b4-00c04fd430c8', 'Error: no order #'],
    ['ids of letters and digits', 'no user usr_8fj2k3x9 of 01HXYZ4T7QK', 'Error: no user usr_# of #'],
    ['double quotes', 'no field "a b\\c"', 'Error: no field "…"'],
    ['single quotes', "no such table: 'users_12'", "Error: no such table: '…'"],
    ['backquotes', 'unknown `x` and `y`', 'Error: unknown `…` and `…`'],
    ['a quotation without end', `bad JSON "${'x'.repeat(900)}"`, 'Error: bad JSON "…"'],
    ['paths', 'ENOENT: no such file, open /var/lib/a-1/b.json', 'Error: ENOENT: no such file, open <path>'],
    [
      'paths of another kind',
      'cannot read C:\\Users\\ada\\x.txt, ~/y or ../z',
      'Error: cannot read <path>, <path> or <path>',
    ],
    [
      'what is behind a host',
      'GET https://api.example.com/v1/orders/9?token=s3cret failed',
      'Error: GET https://api.example.com/… failed',
    ],
    ['who asks', 'no answer from postgres://ada:hunter2@db:5432/shop', 'Error: no answer from postgres://db:#/…'],
    ['addresses', 'connect ECONNREFUSED 127.0.0.1:5432', 'Error: connect ECONNREFUSED #'],
    ['times', 'expired at 2024-05-06T07:08:09.123Z, or 2024-05-06 07:08', 'Error: expired at #, or #'],
    ['line ends', 'first\n\tsecond\u0000third', 'Error: first second third'],
  ])('has placeholders for %s', (_what, message, signature) => {
    expect(of(message)).toBe(signature)
  })

  it('tells exit codes and HTTP statuses apart, which are causes of their own', () => {
    const failures = [
      { name: 'CommandError', message: 'exit code 1: no route', exitCode: 1 },
      { name: 'CommandError', message: 'exit code 75: no route', exitCode: 75 },
      { name: 'HttpError', message: 'GET http://a/b → 503', status: 503 },
      { name: 'HttpError', message: 'GET http://a/b → 404', status: 404 },
    ]
    expect(failures.map(signatureOf)).toEqual([
      'CommandError (exit 1): exit code #: no route',
      'CommandError (exit 75): exit code #: no route',
      'HttpError (status 503): GET http://a/… → #',
      'HttpError (status 404): GET http://a/… → #',
    ])
  })

  it.each([
    "can't open the printer's tray",
    'socket hang up',
    'read/write error and/or timeout',
    'façade effaced: deadbeef is a word',
    '✓ 你好',
  ])('leaves words alone: %s', (message) => {
    expect(of(message)).toBe(`Error: ${message}`)
  })

  it('keeps short names with a number recognisable', () => {
    expect(of('sha256 of utf8 text over HTTP2')).toBe('Error: sha# of utf# text over HTTP#')
  })

  it('tells errors of different names apart, and has one for no error', () => {
    expect(of('x', 'TypeError')).not.toBe(of('x', 'RangeError'))
    expect(signatureOf(null)).toBe('none')
  })

  it('is the same for failures that differ in placeholders alone', () => {
    const messages = [1, 22, 333].map((n) => of(`order ${n} of "customer ${n}" at /data/${n}: status ${500 + n}`))
    expect(new Set(messages).size).toBe(1)
  })

  it('is short and well-formed, whatever was thrown', () => {
    const half = '\u{1F600}'.slice(0, 1)
    for (const text of ['a '.repeat(1e5), half, `${'x'.repeat(499)}\u{1F600}`, `${'#'.repeat(299)}\u{1F600}`]) {
      const signature = of(text, text)
      expect(signature.length).toBeLessThanOrEqual(300)
      expect(Buffer.from(signature, 'utf8').toString('utf8')).toBe(signature)
    }
  })

  it('takes no longer for hostile text', () => {
    const parts = [
      "'",
      '"',
      '`',
      '/',
      'a',
      '0',
      '0a',
      'f',
      '-',
      '://',
      'a@',
      '\\',
      ' ',
      '2024-01-01',
      '.',
      '#',
      '#.',
      "a'",
    ]
    const texts = parts.flatMap((a) => parts.map((b) => (a + b).repeat(1e4)))
    const startMs = performance.now()
    for (const text of texts) of(text, text)
    // One that looked at all of it, even once per quotation mark, would need minutes for these 324; they take 0.05 s.
    expect(performance.now() - startMs).toBeLessThan(5000)
  })
})
