/**
 * The pattern matcher against the engine's own RegExp: the same answer for every pattern and text of a small world.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compilePattern } from '../../packages/reprise/src/core/pattern.js'

const oneOf = (characters: string): fc.Arbitrary<string> => fc.constantFrom(...characters.split(''))

const atom = fc.constantFrom(
  ...[
    'a',
    'a',
    'a',
    'b',
    'b',
    'B',
    '_',
    ' ',
    '-',
    '.',
    '\\.',
    '\\x61',
    '\\u0062',
    '\\n',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
  ],
  ...['[ab]', '[^a]', '[^ǩ]', '[a-c_]', '[^\\w]', '[\\d-]', '[]', '[^]', '[.\\]]', '{', '}', ']', '{,2}', 'é'],
)
const place = fc.constantFrom('^', '$', '\\b', '\\B')
const quantifier = fc
  .tuple(fc.constantFrom('*', '+', '?', '{0}', '{2}', '{0,1}', '{1,}', '{0,}', '{1,3}'), fc.constantFrom('', '?'))
  .map((parts) => parts.join(''))

const { pattern } = fc.letrec<{ pattern: string; sequence: string; piece: string; group: string }>((tie) => ({
  pattern: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((all) => all.join('|')),
  sequence: fc.array(tie('piece'), { maxLength: 3 }).map((all) => all.join('')),
  piece: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    place,
    fc.tuple(atom, quantifier).map((parts) => parts.join('')),
    tie('group'),
    fc.tuple(tie('group'), quantifier).map((parts) => parts.join('')),
  ),
  group: fc.tuple(fc.constantFrom('(', '(?:', '(?<name>'), tie('pattern')).map(([open, inner]) => `${open}${inner})`),
}))
const text = fc.string({ unit: oneOf('aaaabbbBc_1- .]{}\nǩé'), maxLength: 7 })

/** The engine refuses a second group of the same name. */
const once = (source: string): string => {
  let seen = false
  return source.replaceAll('(?<name>', (group) => {
    if (seen) return '('
    seen = true
    return group
  })
}
/** Half of them as a whole, since anything occurs somewhere. */
const source = fc.tuple(pattern.map(once), fc.boolean()).map(([inner, isWhole]) => (isWhole ? `^(?:${inner})$` : inner))

it('answers as RegExp does for any pattern and text', { timeout: 30_000 }, () => {
  fc.assert(
    fc.property(source, text, (given, input) => {
      expect(compilePattern(given).test(input)).toBe(new RegExp(given).test(input))
    }),
    { numRuns: 2000 },
  )
})

it('answers as RegExp does when case is ignored', { timeout: 30_000 }, () => {
  fc.assert(
    fc.property(source, text, (given, input) => {
      expect(compilePattern(`(?i)${given}`).test(input)).toBe(new RegExp(given, 'i').test(input))
    }),
    { numRuns: 1000 },
  )
})

it('accepts no source that RegExp refuses, and of any source either compiles or says where', {
  timeout: 30_000,
}, () => {
  const anything = fc.string({ unit: oneOf('ab()[]{}|*+?^$.\\-,12<>=!:ikpux'), maxLength: 12 })
  fc.assert(
    fc.property(anything, text, (given, input) => {
      let compiled: ReturnType<typeof compilePattern>
      try {
        compiled = compilePattern(given)
      } catch (error) {
        expect((error as Error).message).toMatch(/^[a-zU -]+ at character \d+ of the pattern$/)
        return
      }
      const bare = given.replace(/^\(\?i\)/, '')
      expect(compiled.test(input)).toBe(new RegExp(bare, bare === given ? '' : 'i').test(input))
    }),
    { numRuns: 8000 },
  )
})
