import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compileIRegexp } from './iregexp.js'

const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '[a-c]', '\\.', '\\p{Lu}', '\\P{L}', 'é', '😀', '\\-')
const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{0,2}', '{1,}', '{0}')
const piece = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
  pattern: fc
    .array(fc.array(tie('piece'), { maxLength: 3 }), { minLength: 1, maxLength: 2 })
    .map((branches) => branches.map((pieces) => pieces.join('')).join('|')),
  piece: fc.oneof(
    { maxDepth: 2 },
    fc.tuple(atom, quantifier).map((parts) => parts.join('')),
    fc.tuple(tie('pattern'), quantifier).map(([inner, sign]) => `(${inner})${sign}`),
  ),
})).pattern
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'A', '.', '-', 'é', '😀', '\n'), maxLength: 6 })

it('a pattern matches what the engine matches', () => {
  fc.assert(
    fc.property(piece, text, (pattern, given) => {
      const compiled = compileIRegexp(pattern)
      const source = pattern.replaceAll('\\-', '-').replaceAll('.', (dot, at: number, all: string) => {
        return all[at - 1] === '\\' ? dot : '[^\\n\\r]'
      })
      expect(compiled?.(given, true)).toBe(new RegExp(`^(?:${source})$`, 'u').test(given))
      expect(compiled?.(given, false)).toBe(new RegExp(source, 'u').test(given))
    }),
    { numRuns: 2000 },
  )
})

it.each(['a{2,1}', '(', ')', '[', 'a**', '*', '\\d', '[]', '\\p{Xx}', 'a{1', '(?:a)', 'a{9999}{9999}'])(
  'what is no pattern, or too large, is none: %s',
  (pattern) => {
    expect(compileIRegexp(pattern)).toBeNull()
  },
)

it('a pattern that is nested very deep is none', () => {
  expect(compileIRegexp('('.repeat(9999))).toBeNull()
  expect(compileIRegexp('('.repeat(1000) + ')'.repeat(1000))?.('', true)).toBe(true)
})

it.each([
  ['^a', 'ab', false, true],
  ['^b', 'ab', false, false],
  ['b$', 'ab', false, true],
  ['a$', 'ab', false, false],
  ['^$', '', true, true],
])('%s is bound to the ends of the text: %j', (pattern, given, isWhole, expected) => {
  expect(compileIRegexp(pattern)?.(given, isWhole)).toBe(expected)
})
