import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CommandStrings, refuseCommand, totalFrom } from './command-limits.js'

const LIMITS = { stringBytes: 128 * 1024, totalBytes: 2 * 1024 * 1024 }
const command = (change: Partial<CommandStrings>): CommandStrings => ({
  argv: ['true'],
  env: {},
  cwd: '/',
  tag: 'run/step',
  ...change,
})
const said = (change: Partial<CommandStrings>, limits = LIMITS): string | undefined =>
  refuseCommand(command(change), limits)?.message

test('what fits is not refused', () => {
  expect(said({ argv: ['a', 'b'.repeat(131_071)], env: { X: 'c'.repeat(131_069) } })).toBeUndefined()
})

test('an argument that is too long is named with its size', () => {
  expect(said({ argv: ['curl', '-d', 'x'.repeat(131_072)] })).toMatch(
    /^argument 2 of curl has 131072 bytes, the system takes 131071 at most: hand it over in a file/,
  )
})

test('a variable that is too long is named with its size in bytes, its name included', () => {
  expect(said({ env: { ITEM: 'é'.repeat(65_534) } })).toMatch(/^the environment variable ITEM has 131073 bytes/)
})

test('too much together names the largest', () => {
  const env = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`V${index}`, 'x'.repeat(90_000 + index)]))
  expect(said({ env })).toMatch(
    /have 27\d{5} bytes together, the system takes 2097152; the largest is the variable V29/,
  )
})

test('NUL characters are refused wherever they are', () => {
  expect(said({ argv: ['a', 'b\0c'] })).toBe('argument 1 of a contains a NUL character, which no program can be given')
  expect(said({ env: { A: '\0' } })).toMatch(/^the environment variable A contains a NUL/)
  expect(said({ env: { 'A\0': '' } })).toMatch(/cannot be the name/)
  expect(said({ cwd: '/\0' })).toMatch(/working directory/)
  expect(said({ tag: '\0' })).toMatch(/tag/)
})

test('what names no program or no variable is refused', () => {
  expect(said({ argv: [] })).toMatch(/no program is named/)
  expect(said({ argv: [''] })).toMatch(/no program is named/)
  expect(said({ env: { 'A=B': 'c' } })).toBe('"A=B" cannot be the name of an environment variable')
  expect(said({ env: { '': 'c' } })).toBe('"" cannot be the name of an environment variable')
})

test('whatever the strings, it answers with an error or none', () => {
  const strings = fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 })
  fc.assert(
    fc.property(strings, fc.dictionary(fc.string(), fc.string({ unit: 'binary' })), (argv, env) => {
      const error = refuseCommand(command({ argv, env }), LIMITS)
      expect(error === null || error.message !== '').toBe(true)
    }),
  )
})

test('the system takes a quarter of the stack, within bounds', () => {
  expect([1, 8, 1024, Infinity].map((mebibytes) => totalFrom(mebibytes * 1024 * 1024) / 1024)).toEqual([
    256, 2048, 6144, 6144,
  ])
  expect(totalFrom(1000)).toBe(128 * 1024)
})
