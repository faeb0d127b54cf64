import { describe, expect, it } from 'vitest'
import { compilePattern } from './pattern.js'

const matches = (source: string, text: string): boolean => compilePattern(source).test(text)
const problem = (source: string): string => {
  try {
    compilePattern(source)
  } catch (error) {
    return (error as Error).message
  }
  return 'accepted'
}

describe('a pattern', () => {
  it.each([
    ['refused', 'connection refused', true],
    ['refused', 'connection Refused', false],
    ['^a', 'ba', false],
    ['^a', 'ab', true],
    ['a$', 'ba', true],
    ['a$', 'ab', false],
    ['^b$', 'a\nb\nc', false],
    ['^$', '', true],
    ['', 'anything', true],
    ['a.c', 'abc', true],
    ['a.c', 'a\nc', false],
    ['a.c', 'ac', false],
    ['a\\.c', 'abc', false],
    ['[a-c]x', 'bx', true],
    ['[^a-c]x', 'bx', false],
    ['[\\d-]x', '-x', true],
    ['[\\]]', ']', true],
    ['[\\b]', '\b', true],
    ['[]', 'a', false],
    ['[^]', '\n', true],
    ['\\d\\D\\w\\W\\s\\S', '1aa a'.replace('a ', 'a- '), true],
    ['\\x41\\u00e9\\t\\0', 'Aé\t\0', true],
    ['\\bfoo\\b', 'a foo b', true],
    ['\\bfoo\\b', 'afoo', false],
    ['\\Bfoo\\b', 'afoo', true],
    ['colou?r', 'color', true],
    ['ab*c', 'ac', true],
    ['ab+c', 'ac', false],
    ['ab+c', 'abbbc', true],
    ['ab+?c', 'abbbc', true],
    ['^a{2}$', 'aaa', false],
    ['^a{2,}$', 'aaa', true],
    ['^a{2,}$', 'a', false],
    ['^a{1,2}$', 'aaa', false],
    ['^a{1,2}$', 'aa', true],
    ['^a{0}$', '', true],
    ['^(?:)*$', '', true],
    ['^(?:ab){2}$', 'abab', true],
    ['^(a|b(?<name>c))+$', 'abcbca', true],
    ['^(a|b(?<name>c))+$', 'abcb', false],
    ['^(?:|a|bc)$', 'bc', true],
    ['a{', 'a{', true],
    ['a{,2}', 'a{,2}', true],
    ['{"code":503}', '{"code":503}', true],
  ])('%s in %j is %s', (source, text, expected) => {
    expect(matches(source, text)).toBe(expected)
  })

  it('ignores case after a leading (?i), of classes and of other alphabets too', () => {
    expect(matches('(?i)time(d )?OUT', 'Timed Out')).toBe(true)
    expect(matches('(?i)[a-c]\\x64', 'BD')).toBe(true)
    expect(matches('(?i)[^a]', 'A')).toBe(false)
    expect(matches('(?i)ПРЕВЫШЕНО', 'превышено')).toBe(true)
    expect(matches('(?i)^a$', '\nA')).toBe(false)
  })

  it('can be tested again and again with the same answer', () => {
    const pattern = compilePattern('[ab]+c')
    expect([pattern.test('abc'), pattern.test('abd'), pattern.test('abc')]).toEqual([true, false, true])
  })

  it('reads UTF-16 units, of any plane', () => {
    expect(matches('^..$', '😀')).toBe(true)
    expect(matches('a[^Āa]b', 'aĀb')).toBe(false)
    expect(matches('a[^Āa]b', 'a\u0200b')).toBe(true)
    // Characters with the same low byte, one after the other.
    expect(matches('^[Āa]+$', 'Ā\u0200Āa')).toBe(false)
  })
})

describe('a refused pattern', () => {
  it.each([
    ['a(?=b)', 'unsupported look-around at character 2 of the pattern'],
    ['a(?!b)', 'unsupported look-around at character 2 of the pattern'],
    ['(?<=b)a', 'unsupported look-around at character 1 of the pattern'],
    ['(?<!b)a', 'unsupported look-around at character 1 of the pattern'],
    ['(?>a)', 'unsupported atomic group at character 1 of the pattern'],
    ['a(?i)b', 'unsupported inline flag at character 2 of the pattern'],
    ['(?m)^a', 'unsupported inline flag at character 1 of the pattern'],
    ['(?s-i:a)', 'unsupported inline flag at character 1 of the pattern'],
    ['(?P<n>a)', 'unsupported group at character 1 of the pattern'],
    ['(a)\\1', 'unsupported back-reference at character 4 of the pattern'],
    ['(?<n>a)\\k<n>', 'unsupported back-reference at character 8 of the pattern'],
    ['\\p{L}', 'unsupported Unicode property at character 1 of the pattern'],
    ['[a\\P{L}]', 'unsupported Unicode property at character 3 of the pattern'],
    ['\\q', 'unsupported escape at character 1 of the pattern'],
    ['\\01', 'unsupported escape at character 1 of the pattern'],
    ['\\x4', 'unsupported escape at character 1 of the pattern'],
    ['\\u{61}', 'unsupported escape at character 1 of the pattern'],
    ['a\\', 'unsupported escape at character 2 of the pattern'],
    ['[\\B]', 'unsupported escape at character 2 of the pattern'],
    ['(a', 'unclosed group at character 1 of the pattern'],
    ['a)', 'unopened group at character 2 of the pattern'],
    ['[a', 'unclosed class at character 3 of the pattern'],
    ['[z-a]', 'range out of order at character 1 of the pattern'],
    ['a{3,2}', 'quantifier out of order at character 2 of the pattern'],
    ['*a', 'nothing to repeat at character 1 of the pattern'],
    ['{2}', 'nothing to repeat at character 1 of the pattern'],
    ['a**', 'nothing to repeat at character 3 of the pattern'],
    ['^*', 'nothing to repeat at character 2 of the pattern'],
    ['(|+)', 'nothing to repeat at character 3 of the pattern'],
    ['a*+', 'unsupported possessive quantifier at character 3 of the pattern'],
  ])('%s says: %s', (source, expected) => {
    expect(problem(source)).toBe(expected)
  })

  it('is one that is too long, too deep or too large', () => {
    expect(problem('a'.repeat(1000))).toBe('accepted')
    expect(problem('a'.repeat(1001))).toMatch('source too long')
    expect(problem(`${'('.repeat(50)}${')'.repeat(50)}`)).toBe('accepted')
    expect(problem(`${'('.repeat(51)}${')'.repeat(51)}`)).toMatch('nested too deep')
    expect(problem('(a{100}){19}')).toBe('accepted')
    expect(problem('a{0,1000}')).toMatch('too large')
    expect(problem('(a{100}){100}')).toMatch('too large')
    expect(problem('(){99999999999}')).toMatch('too large')
    expect(problem('a{999}b{999}c{9}')).toMatch('too large')
    expect(problem('a{990}|b{990}|c{90}')).toMatch('too large')
  })

  it('is one with more classes than any honest one', () => {
    const classes = (count: number): string =>
      Array.from({ length: count }, (_, i) => `[${String.fromCharCode(0x400 + i)}]`).join('')
    expect(problem(classes(64))).toBe('accepted')
    expect(problem(classes(65))).toMatch('too large')
    expect(problem('[abc]'.repeat(100))).toBe('accepted')
  })
})

describe('hostile patterns and texts', () => {
  // Each would take a backtracking engine from seconds to the end of the universe. The bound is generous for slow
  // machines; what bounds the time is a count of work.
  const sixtyFourSets = Array.from({ length: 64 }, (_, i) => `[^${String.fromCharCode(0x400 + i)}]`).join('|')
  it.each([
    ['a*a*a*b', 'a*a*a*b', 'a'],
    ['(a|a)*b', '(a|a)*b', 'a'],
    ['(a*)*b', '(a*)*b', 'a'],
    ['(x+x+)+y', '(x+x+)+y', 'x'],
    ['(a?){500}a{500}b', '(a?){500}a{500}b', 'a'],
    ['a* 480 times', `${'a*'.repeat(480)}b`, 'a'],
    ['a place repeated', '(?:\\b|\\B|a){200}b', 'a'],
    ['a class repeated', '([ab]?){600}c', 'ab'],
    ['a star in a star, 50 deep', `${'('.repeat(50)}a${')*'.repeat(50)}b`, 'a'],
    ['64 classes and characters that share a low byte', `(?:${sixtyFourSets})*!`, 'ĀȀ̀Ѐ'],
  ])('%s ends soon on 100 000 characters', (_name, source, letters) => {
    const pattern = compilePattern(source)
    const text = letters.repeat(100_000 / letters.length)
    const start = performance.now()
    expect(pattern.test(text)).toBe(false)
    expect(performance.now() - start).toBeLessThan(3000)
  })

  it('answers right where a backtracking engine would not end', () => {
    expect(matches('^(a?){500}a{500}$', 'a'.repeat(500))).toBe(true)
    expect(matches('^(a?){50}a{50}$', 'a'.repeat(101))).toBe(false)
    expect(matches('(x+x+)+y', `${'x'.repeat(500)}y`)).toBe(true)
  })

  it('searches the tail of a text that is too long for the work, always the same part', () => {
    const pattern = compilePattern('needle')
    const hay = '-'.repeat(1_000_000)
    expect(pattern.test(`${hay}needle`)).toBe(true)
    expect(pattern.test(`needle${hay}`)).toBe(false)
    expect(pattern.test(`needle${'-'.repeat(40_000)}`)).toBe(true)
    expect(compilePattern('^-').test(hay)).toBe(false)
  })
})
