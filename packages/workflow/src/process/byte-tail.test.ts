import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ByteHead } from './byte-head.js'
import { ByteTail } from './byte-tail.js'

const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 })
const bytesOf = (parts: readonly Uint8Array[]): Buffer => Buffer.concat(parts)

test('a tail is the end of what was said, however it came', () => {
  fc.assert(
    fc.property(chunks, fc.integer({ min: 1, max: 64 }), (parts, most) => {
      // Bytes that are characters, so that the text can be compared byte by byte.
      const plain = parts.map((part) => part.map((byte) => byte & 0x7f))
      const tail = new ByteTail(most)
      for (const part of plain) tail.push(part)
      expect(tail.text()).toBe(bytesOf(plain).subarray(-most).toString('latin1'))
    }),
  )
})

test('a tail breaks no character at its cut', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), fc.integer({ min: 4, max: 40 }), (text, most) => {
      const whole = Buffer.from(text)
      const tail = new ByteTail(most)
      for (const byte of whole) tail.push(Uint8Array.of(byte))
      const expected = whole.toString()
      expect(expected.endsWith(tail.text())).toBe(true)
      expect(Buffer.byteLength(tail.text())).toBeGreaterThan(Math.min(whole.length, most) - 4)
    }),
  )
})

test('bytes that are no UTF-8 are replaced', () => {
  const tail = new ByteTail(10)
  tail.push(Uint8Array.of(0x61, 0xff, 0x62))
  expect(tail.text()).toBe('a\uFFFDb')
})

test('a chunk larger than the tail leaves its end', () => {
  const tail = new ByteTail(3)
  tail.push(Buffer.from('ab'))
  tail.push(Buffer.from('0123456789'))
  expect(tail.text()).toBe('789')
})

test('a head is the beginning, and says whether there was more', () => {
  fc.assert(
    fc.property(chunks, fc.integer({ min: 0, max: 200 }), (parts, most) => {
      const plain = parts.map((part) => part.map((byte) => byte & 0x7f))
      const head = new ByteHead(most)
      for (const part of plain) head.push(part)
      const whole = bytesOf(plain)
      expect(head.text()).toBe(whole.subarray(0, most).toString('latin1'))
      expect(head.exceeded).toBe(whole.length > most)
    }),
  )
})
