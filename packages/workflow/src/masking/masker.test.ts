import fc from 'fast-check'
import type { Json } from 'reprise/durable'
import { describe, expect, test } from 'vitest'
import { type CommandEnd } from '../process/command.js'
import { maskCommandEnd, maskOutput } from './masked-output.js'
import { Masker } from './masker.js'

/** Few letters, so that secrets overlap, repeat and contain each other. */
const letters = fc.constantFrom('a', 'b', 'c', 'é', '\n')
const secret = fc.string({ unit: letters, minLength: 4, maxLength: 9 }).filter((text) => text.trim().length >= 4)
const secrets = fc.array(secret, { minLength: 1, maxLength: 4 })
const text = fc.string({ unit: letters, maxLength: 60 })
const maskerOf = (...values: readonly string[]): Masker =>
  new Masker(Object.fromEntries(values.map((value, index) => [`S${index}`, value])))

function maskChunks(masker: Masker, chunks: readonly Uint8Array[]): string {
  const stream = masker.stream()
  if (stream === null) return Buffer.concat(chunks).toString()
  return Buffer.concat([
    ...chunks.map((chunk) => Buffer.from(stream.write(chunk))),
    Buffer.from(stream.end()),
  ]).toString()
}

/** What it must be, found slowly: every occurrence of every value, united where they overlap or touch. */
function maskSlowly(input: string, values: readonly string[]): string {
  const isSecret = Array.from({ length: input.length }, () => false)
  for (const value of values) {
    for (let at = input.indexOf(value); at !== -1; at = input.indexOf(value, at + 1)) {
      isSecret.fill(true, at, at + value.length)
    }
  }
  return isSecret.map((hidden, index) => (hidden ? (isSecret[index - 1] ? '' : '***') : input[index])).join('')
}

describe('a stream', () => {
  test('is the same however it is cut, and contains no secret', () => {
    const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 12 })
    fc.assert(
      fc.property(secrets, fc.array(fc.oneof(text, secret), { maxLength: 6 }), cuts, (values, parts, places) => {
        const masker = maskerOf(...values)
        const input = Buffer.from(parts.join('') + (values[0] ?? ''))
        const ends = [...places.filter((place) => place < input.length).toSorted((a, b) => a - b), input.length]
        const chunks = ends.map((end, index) => input.subarray(ends[index - 1] ?? 0, end))
        const masked = maskChunks(masker, chunks)
        expect(masked).toBe(masker.maskText(input.toString()))
        expect(
          maskChunks(
            masker,
            [...input].map((byte) => Uint8Array.of(byte)),
          ),
        ).toBe(masked)
        for (const value of values) expect(masked).not.toContain(value)
      }),
      { numRuns: 300 },
    )
  })

  test('has masks where secrets are, and nowhere else', () => {
    const plain = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 4, maxLength: 7 })
    fc.assert(
      fc.property(
        fc.array(plain, { minLength: 1, maxLength: 4 }),
        fc.array(plain, { maxLength: 8 }),
        (values, parts) => {
          const input = parts.join('')
          expect(maskerOf(...values).maskText(input)).toBe(maskSlowly(input, values))
        },
      ),
      { numRuns: 300 },
    )
  })

  test('holds back no more than what may become a secret', () => {
    const stream = maskerOf('secret').stream()
    const write = (chunk: string): string => Buffer.from(stream?.write(Buffer.from(chunk)) ?? []).toString()
    expect([write('password: '), write('sec'), write('ond, se'), write('cret!')]).toEqual([
      'password: ',
      '',
      'second, ',
      '***!',
    ])
  })

  test('hands a chunk with nothing in it on as it is', () => {
    const chunk = Buffer.from('nothing here\n')
    const handed = maskerOf('xyzxyz').stream()?.write(chunk)
    expect(handed?.buffer).toBe(chunk.buffer)
    expect(handed?.length).toBe(chunk.length)
  })

  test('of bytes that are no text stays what it is', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const stream = maskerOf('a secret that is not in it').stream()
        const parts = [stream?.write(bytes), stream?.end()].map((part) => Buffer.from(part ?? []))
        expect(Buffer.concat(parts).equals(bytes)).toBe(true)
      }),
    )
  })
})

describe('a secret is found', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----\n'
  const hidden = (value: string, shown: string): void => {
    expect(maskerOf(value).maskText(`before ${shown} after`)).not.toContain(shown)
  }

  test('in JSON, in JSON in JSON, and escaped for those who know no other characters than ASCII', () => {
    const value = 'pa"ss\\wörd/1'
    hidden(value, JSON.stringify(value).slice(1, -1))
    hidden(value, JSON.stringify(value).slice(1, -1).replaceAll('/', '\\/'))
    hidden(value, 'pa\\"ss\\\\w\\u00f6rd/1')
  })

  test('in addresses and forms', () => {
    const value = 'pa ss/wörd&1?'
    hidden(value, encodeURIComponent(value))
    hidden(value, encodeURIComponent(value).toLowerCase())
    hidden(value, new URLSearchParams({ p: value }).toString().slice(2))
  })

  test('in what a shell prints of its commands', () => {
    hidden("it's me", String.raw`it'\''s me`)
  })

  test('in base64, wherever in a text it begins', () => {
    const base64 = fc.constantFrom('base64' as const, 'base64url' as const)
    fc.assert(
      fc.property(
        fc.string({ minLength: 8, unit: 'grapheme-ascii' }).filter((value) => value.trim() === value),
        ...[fc.string(), fc.string(), base64],
        (value, before, after, encoding) => {
          const encoded = Buffer.from(`${before}${value}${after}`).toString(encoding)
          const masked = maskerOf(value).maskText(encoded)
          expect(masked).toContain('***')
          // Of what the mask does not hide, no whole group of the value is left.
          const left = Buffer.byteLength(before) + Buffer.byteLength(after) + 4
          expect(masked.replaceAll('***', '').length).toBeLessThanOrEqual(Math.ceil((left * 4) / 3) + 4)
        },
      ),
    )
  })

  test('line by line, if the lines say something', () => {
    const masker = maskerOf(key)
    expect(masker.maskText(`x\n${key}y\n`)).toBe('x\n***y\n')
    expect(masker.maskText('  AQEFAASCBKcwggSjAgEAAoIB\r\n')).toBe('  ***\r\n')
    expect(masker.maskText(key.replaceAll('\n', '\r\n'))).toBe('***')
    expect(maskerOf('{\n  "token": "abcdef"\n}\n').maskText('{ }')).toBe('{ }')
  })

  test('without the line break that came with it', () => {
    expect(maskerOf('secret\n').maskText('my secret.')).toBe('my ***.')
  })

  test('whole, though a shorter one is a part of it, or overlaps', () => {
    expect(maskerOf('pass', 'password').maskText('password')).toBe('***')
    expect(maskerOf('abcd', 'cdef').maskText('-abcdef-')).toBe('-***-')
    expect(maskerOf('abcd', 'bc12').maskText('abc12')).toBe('a***')
  })
})

describe('values that are no secrets', () => {
  test('are empty ones and blanks', () => {
    const masker = new Masker({ A: '', B: '  \n' })
    expect([masker.isEmpty, masker.tooShort, masker.stream()]).toEqual([true, [], null])
  })

  test('are those too short to be hidden, and they are named', () => {
    const masker = new Masker({ A: 'abc', B: 'abcd', C: ' x ' })
    expect(masker.tooShort).toEqual(['A', 'C'])
    expect(masker.maskText('abc abcd x')).toBe('abc *** x')
  })
})

describe('values', () => {
  test('are masked in strings, keys and numbers', () => {
    const masker = maskerOf('secret', '123456')
    const value: Json = { a: ['my secret', 1, null, true], secret: { n: 123456, m: 0.1234567, k: 12345 } }
    expect(masker.maskJson(value)).toEqual({ a: ['my ***', 1, null, true], '***': { n: '***', m: '0.***7', k: 12345 } })
  })

  test('keep keys that are dangerous elsewhere', () => {
    const value = JSON.parse('{"__proto__": {"x": "secret"}}') as Json
    expect(JSON.stringify(maskerOf('secret').maskJson(value))).toBe('{"__proto__":{"x":"***"}}')
  })

  test('are the same without secrets', () => {
    const value: Json = { a: ['b'] }
    expect(maskerOf().maskJson(value)).toBe(value)
  })
})

test('a text in which nothing is found is the same text, halves of characters included', () => {
  expect(maskerOf('secret').maskText('\uD800 and sec')).toBe('\uD800 and sec')
})

describe('a text that was cut', () => {
  test('shows no half of a secret, wherever it was cut', () => {
    const long = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 12, maxLength: 30 })
    fc.assert(
      fc.property(long, fc.double({ min: 0.5, max: 1, noNaN: true }), text, text, (value, part, before, after) => {
        const half = value.slice(0, Math.ceil(value.length * part))
        for (const cut of [`${before}${half}…"${after}`, `${before}${half}`])
          expect(maskerOf(value).maskCutText(cut)).not.toContain(half)
      }),
    )
  })

  test('is masked like any other, and left as it is if there is nothing', () => {
    const masker = maskerOf('tok-0123456789', 'short')
    expect(masker.maskCutText('a tok-0123456789 and short b')).toBe('a *** and *** b')
    expect(masker.maskCutText('a tok-01234…')).toBe('a ***…')
    expect(masker.maskCutText('a tok-0 b, shor')).toBe('a tok-0 b, shor')
    expect(maskerOf().maskCutText('tok-0123456789')).toBe('tok-0123456789')
  })
})

describe('the output of a command', () => {
  test('is masked stream by stream, and its end is not lost', async () => {
    const heard: string[] = []
    const output = maskOutput(
      maskerOf('secret'),
      (stream, bytes) => void heard.push(`${stream}: ${Buffer.from(bytes).toString()}`),
    )
    await output.write('stdout', Buffer.from('a sec'))
    await output.write('stderr', Buffer.from('b sec'))
    await output.write('stdout', Buffer.from('ret'))
    await output.end()
    expect(heard).toEqual(['stdout: a ', 'stderr: b ', 'stdout: ***', 'stderr: sec'])
  })

  test('goes straight on without secrets', () => {
    const sink = (): void => undefined
    expect(maskOutput(maskerOf(), sink).write).toBe(sink)
  })

  test('is masked in what is kept of it', () => {
    const spawnError = Object.assign(new Error('curl secret: no such program'), { code: 'ENOENT' })
    const end: CommandEnd = {
      ...{ exitCode: 1, signal: null, stdoutExceeded: false, durationMs: 1 },
      ...{ spawnError, stdout: 'secret', stdoutTail: 'a secret', stderrTail: 'the secret' },
    }
    const masked = maskCommandEnd(maskerOf('secret'), end)
    // What is captured is masked as a value.
    expect(masked.stdout).toBe(end.stdout)
    expect(JSON.stringify({ ...masked, stdout: '' })).not.toContain('secret')
    expect(masked.spawnError).toMatchObject({ message: 'curl ***: no such program', code: 'ENOENT' })
    expect(maskCommandEnd(maskerOf(), end)).toBe(end)
  })
})
