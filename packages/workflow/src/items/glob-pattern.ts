/**
 * Patterns of paths as shells have them: `*`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, `**` for any number of directories, `\*` for
 * the character itself. Imports the errors of inputs.
 *
 * A name that begins with a dot is matched only by a pattern that begins with one. Matching takes the length of the name
 * times that of the pattern: a regular expression for `*a*a*a*b` could take for ever.
 */
import { InputDataError } from './input-data-error.js'

/** One name of a path; `any` is `**`. */
export type Segment = 'any' | ((name: string) => boolean)

export interface GlobPattern {
  /** Where it begins: '' for the document's directory, `/`, or one or more `../`. */
  readonly base: string
  readonly segments: readonly Segment[]
  /** Written with a slash at its end: directories are meant, else everything that is none. */
  readonly isForDirectories: boolean
}

type Token = '*' | ((character: string) => boolean)

const MAX_ALTERNATIVES = 1000
const SPECIAL = /[\\*?[\]{},!]/g

/** A text in which nothing is special, for values that are filled into a pattern. */
export function escapedGlob(text: string): string {
  return text.replaceAll(SPECIAL, '\\$&')
}

/** Each combination of its alternatives, as a pattern. `matchesHidden`: a leading dot needs none in the pattern. */
export function globPatterns(text: string, matchesHidden = false): readonly GlobPattern[] {
  return expandBraces(text, text).map((one) => parsePattern(one, text, matchesHidden))
}

function parsePattern(text: string, written: string, matchesHidden: boolean): GlobPattern {
  const parts = text.split('/').filter((part, index) => (part !== '' && part !== '.') || (index === 0 && part === ''))
  let base = ''
  if (text.startsWith('/')) {
    base = '/'
    parts.shift()
  } else if (parts[0] === '') parts.shift()
  while (parts[0] === '..') {
    base += '../'
    parts.shift()
  }
  if (parts.includes('..')) throw new InputDataError(written, '`..` stands only at the beginning of a pattern')
  if (parts.length === 0) throw new InputDataError(written, 'the pattern names nothing', 'as in `src/**/*.ts`')
  const segments = parts.map((part) => (part === '**' ? 'any' : nameTest(part, matchesHidden)))
  return { base, segments, isForDirectories: text.endsWith('/') }
}

/** `a{b,c}` is `ab` and `ac`; braces without a comma are themselves, as in shells. */
function expandBraces(text: string, written: string): string[] {
  const braces = firstBraces(text)
  if (braces === null) return [text]
  const rests = expandBraces(text.slice(braces.end), written)
  const alternatives = braces.parts.flatMap((part) => expandBraces(part, written))
  if (rests.length * alternatives.length > MAX_ALTERNATIVES) {
    throw new InputDataError(written, `the pattern has more than ${MAX_ALTERNATIVES} alternatives`)
  }
  const before = text.slice(0, braces.start)
  return alternatives.flatMap((alternative) => rests.map((rest) => before + alternative + rest))
}

interface Braces {
  readonly start: number
  /** Behind the closing brace. */
  readonly end: number
  readonly parts: readonly string[]
}

function firstBraces(text: string): Braces | null {
  for (let start = text.indexOf('{'); start !== -1; start = text.indexOf('{', start + 1)) {
    if (isEscaped(text, start)) continue
    const commas: number[] = []
    const end = closingBrace(text, start, commas)
    if (end === -1 || commas.length === 0) continue
    const cuts = [start, ...commas, end]
    return { start, end: end + 1, parts: cuts.slice(1).map((cut, index) => text.slice((cuts[index] ?? 0) + 1, cut)) }
  }
  return null
}

function closingBrace(text: string, start: number, commas: number[]): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (char === '{') depth++
    else if (char === '}' && --depth === 0) return at
    else if (char === ',' && depth === 1) commas.push(at)
  }
  return -1
}

function isEscaped(text: string, at: number): boolean {
  return (/\\*$/.exec(text.slice(0, at))?.[0].length ?? 0) % 2 === 1
}

function nameTest(part: string, matchesHidden: boolean): (name: string) => boolean {
  const tokens = tokensOf(part)
  const seesHidden = matchesHidden || /^\\?\./.test(part)
  return (name) => (seesHidden || !name.startsWith('.')) && isMatch(tokens, Array.from(name))
}

function tokensOf(part: string): readonly Token[] {
  const tokens: Token[] = []
  const characters = Array.from(part)
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!
    if (character === '*') {
      if (tokens.at(-1) !== '*') tokens.push('*')
      continue
    }
    const end = character === '[' ? classEnd(characters, at) : -1
    if (character === '?') tokens.push(() => true)
    else if (end !== -1) tokens.push(classTest(characters.slice(at + 1, end)))
    else {
      const literal = character === '\\' && at + 1 < characters.length ? characters[++at]! : character
      tokens.push((other) => other === literal)
    }
    if (end !== -1) at = end
  }
  return tokens
}

/** Of `[…]`; a `]` that stands first belongs to it. -1: the bracket is itself. */
function classEnd(characters: readonly string[], start: number): number {
  const first = characters[start + 1] === '!' || characters[start + 1] === '^' ? start + 2 : start + 1
  return characters.indexOf(']', first + 1)
}

function classTest(inside: readonly string[]): (character: string) => boolean {
  const isNegated = inside[0] === '!' || inside[0] === '^'
  const members = isNegated ? inside.slice(1) : inside
  const ranges: [string, string][] = []
  for (let at = 0; at < members.length; at++) {
    const from = members[at]!
    const isRange = members[at + 1] === '-' && at + 2 < members.length
    ranges.push([from, isRange ? members[at + 2]! : from])
    if (isRange) at += 2
  }
  return (character) => ranges.some(([from, to]) => from <= character && character <= to) !== isNegated
}

/** After a mismatch only the last `*` takes one character more: an earlier one could not help. */
function isMatch(tokens: readonly Token[], name: readonly string[]): boolean {
  let [token, at, star, starAt] = [0, 0, -1, 0]
  while (at < name.length) {
    const wanted = tokens[token]
    if (wanted === '*') {
      star = token++
      starAt = at
    } else if (wanted?.(name[at]!)) {
      token++
      at++
    } else if (star !== -1) {
      token = star + 1
      at = ++starAt
    } else return false
  }
  return tokens.slice(token).every((rest) => rest === '*')
}
