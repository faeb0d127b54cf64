/** What people may call things in a document. Imports how values are shown. */
import { shortened } from './shortened.js'

/** A rule for a name: as an expression that editors understand, and in words. */
export interface NameRule {
  readonly pattern: string
  readonly said: string
  /** Names that fit the pattern, and that have a meaning of their own. */
  readonly reserved?: readonly string[]
  /** Ids that end so are ours to give; the pattern says it too. */
  readonly reservedEnd?: string
  /** What may stand for a character that does not fit. */
  readonly filler?: string
}

/** Longer ones are nobody's slip. */
const MAX_MENDED = 40

/** Of objects in JavaScript: they must never become keys of a lookup. */
const OF_OBJECTS = ['__proto__', 'constructor', 'prototype']

/** A step's id is part of file names and of references; `.fallback` is the end of the ids that we give. */
export const STEP_ID: NameRule = {
  pattern: '^(?!.*\\.fallback$)[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
  said: 'an id: letters, digits, `.`, `_` and `-`, a letter or digit first, at most 128 of them',
  reservedEnd: '.fallback',
  filler: '-',
}

export const ENV_NAME: NameRule = {
  pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$',
  said: 'a name for a variable: letters, digits and `_`, no digit first',
  reserved: ['__proto__'],
  filler: '_',
}

/** Words of the expression language. */
const OF_EXPRESSIONS =
  'true false null in as break const continue else for function if import let loop package namespace return var void while'

/** Roots of references that are ours. */
const RESERVED_ROOTS = ['env', 'steps', 'run', 'item', 'item_key', 'item_index', 'map', 'params'] as const

/** A parameter or a captured value. */
export const VALUE_NAME: NameRule = {
  ...ENV_NAME,
  said: 'a name: letters, digits and `_`, no digit first',
  reserved: [...RESERVED_ROOTS, ...OF_EXPRESSIONS.split(' '), ...OF_OBJECTS],
}

/** A breaker or a budget. */
export const GATE_NAME: NameRule = { pattern: '\\S', said: 'a name' }

export const HEADER_NAME: NameRule = {
  pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
  said: 'the name of a header, such as `Content-Type`',
}

/** As `size.ts` reads it. */
export const SIZE: NameRule = {
  pattern: '^[1-9][0-9]{0,8} ?(?:[KkMmGg]i?[Bb]|[Bb])$',
  said: 'a size such as `64MiB` or `500KB`',
}

export const ORIGIN: NameRule = {
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\s]+/?$',
  said: 'an origin, such as `https://files.example.com`',
}

/** A matcher of one exit code; as the library reads it. */
export const EXIT_WORD: NameRule = {
  pattern: '^exit:(?:[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$',
  said: '`exit:N` with an exit code from 1 to 255',
}

/** So many starts in a time. */
export const RATE: NameRule = {
  pattern: '^[1-9][0-9]{0,8}/(?:[1-9][0-9]{0,8})?(?:ms|s|sec|second|m|min|minute|h|hour|d|day)$',
  said: 'a rate such as `20/s`, `100/m` or `5/500ms`',
}

export const PERCENTAGE: NameRule = {
  pattern: '^(?:100|[0-9]{1,2}(?:\\.[0-9]{1,9})?) ?%$',
  said: 'a percentage such as `5%`',
}

/** By rule: each is read once. */
const patterns = new WeakMap<NameRule, RegExp>()

function patternOf(rule: NameRule): RegExp {
  let pattern = patterns.get(rule)
  if (pattern === undefined) {
    pattern = new RegExp(rule.pattern, 'u')
    patterns.set(rule, pattern)
  }
  return pattern
}

/** What is wrong with a name, if anything is. */
export function faultOfName(name: string, rule: NameRule): string | undefined {
  const { said, reserved = [], reservedEnd } = rule
  if (reserved.includes(name)) return `\`${name}\` is a reserved word: choose another name`
  if (reservedEnd !== undefined && name.endsWith(reservedEnd)) return `names that end in \`${reservedEnd}\` are taken`
  return patternOf(rule).test(name) ? undefined : `${JSON.stringify(shortened(name))} is not ${said}`
}

/** A name that fits and is near, if there is one. */
export function mendedName(name: string, rule: NameRule): string | undefined {
  const { filler } = rule
  if (filler === undefined || name.length > MAX_MENDED) return undefined
  const mended = name.trim().replaceAll(/[^A-Za-z0-9_]+/g, filler)
  return faultOfName(mended, rule) === undefined ? mended : undefined
}
