import fc from 'fast-check'
import type { Json } from 'reprise/durable'
import { describe, expect, it } from 'vitest'
import type { CaptureFormat } from '../plan/plan.js'
import { captured, captureExceeded } from './capture.js'
import { jsonFaultAt } from './json-fault.js'

describe('what a step has put out', () => {
  it.each<[CaptureFormat, Json, Json]>([
    ['text', 'a\nb\n', 'a\nb'],
    ['text', 'a\r\n', 'a'],
    ['text', 'a\n\n', 'a\n'],
    ['text', '', ''],
    ['text', { a: 1 }, '{"a":1}'],
    ['text', null, ''],
    ['json', ' {"a": [1, null]}\n', { a: [1, null] }],
    ['json', '"x"', 'x'],
    ['json', { a: 1 }, { a: 1 }],
    ['lines', 'a\nb\n', ['a', 'b']],
    ['lines', 'a\r\n\r\nb', ['a', '', 'b']],
    ['lines', '', []],
    ['lines', '\n', ['']],
    ['lines', ['a', 1, { b: 2 }], ['a', '1', '{"b":2}']],
    ['number', ' 42\n', 42],
    ['number', '-1.5e3', -1500],
    ['number', '+.5', 0.5],
    ['number', 7, 7],
  ])('as %s: %j is %j', (format, output, value) => {
    expect(captured(format, output)).toEqual(value)
  })

  it.each<[CaptureFormat, Json, RegExp]>([
    ['json', '', /not JSON: it is empty/],
    ['json', '{"a": 1,\n "b": }', /unexpected "}" at line 2, column 7; it begins with "\{\\"a\\": 1/],
    ['json', '[1, 2', /it ends too early at line 1, column 6/],
    ['json', 'Error: not found', /unexpected "E" at line 1, column 1; it begins with "Error: not found"/],
    ['json', 'x'.repeat(500), /begins with "x{80}…"$/],
    ['json', '[1e400]', /a number that is too large/],
    ['json', '['.repeat(70) + ']'.repeat(70), /nested deeper than 60 levels/],
    ['number', '12 items', /not a number: "12 items"/],
    ['number', '', /not a number: ""/],
    ['number', '0x10', /not a number: "0x10"/],
    ['number', 'Infinity', /not a number/],
    ['number', '1e999', /too large to be kept exactly: "1e999"/],
    ['number', '9007199254740993', /too large to be kept exactly/],
    ['number', [1], /is a list, not a number/],
  ])('as %s: %j is refused', (format, output, message) => {
    expect(() => captured(format, output)).toThrow(message)
  })

  it('a key `__proto__` of captured JSON is a key', () => {
    const value = captured('json', '{"__proto__": {"a": 1}}') as object
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.keys(value)).toEqual(['__proto__'])
  })

  it('too much of it says how much is allowed, and what to do', () => {
    expect(captureExceeded(1024).message).toBe(
      'the output is longer than the 1024 bytes that can be captured: write it to a file, and capture the path',
    )
  })
})

describe('the place where a text stops being JSON', () => {
  it.each([
    ['{"a" 1}', 5],
    ['{a: 1}', 1],
    ['[1,]', 3],
    ['{"a": 1,}', 8],
    ['[1 2]', 3],
    ['"a\nb"', 2],
    ['"a\\x"', 2],
    ['"open', 5],
    ['01', 0],
    ['1.', 0],
    ['{} x', 3],
    ['tru', 0],
    ["['a']", 1],
    ['', 0],
  ])('of %j is %i', (text, at) => {
    expect(jsonFaultAt(text)).toBe(at)
  })

  it('is none for JSON, and one for everything that the engine refuses', () => {
    const soup = fc
      .array(fc.constantFrom(...'{}[]:,"\\ntf1-.eE0 '.split(''), 'true', 'null', '"a"', '\\u00e9', '1.5e-3'), {
        maxLength: 14,
      })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.oneof(fc.json(), soup), (text) => {
        let isJson = true
        try {
          JSON.parse(text)
        } catch {
          isJson = false
        }
        expect(jsonFaultAt(text) === -1).toBe(isJson)
      }),
      { numRuns: 3000 },
    )
  })

  it('is found in long texts as well', () => {
    expect(jsonFaultAt(`["${'x'.repeat(5_000_000)}", }`)).toBe(5_000_005)
    expect(jsonFaultAt('['.repeat(1_000_000))).toBe(1_000_000)
  })
})
