/**
 * What people mean who write a condition as another language would have it, and the errors of the expression language in
 * plain words. Pure. Imports the library's suggestions.
 */
import { nearest } from 'reprise/internal'

export interface Explanation {
  readonly message: string
  readonly suggestion?: string
}

export interface TextPitfall extends Explanation {
  readonly offset: number
}

interface PitfallRule {
  readonly pattern: RegExp
  readonly explain: (found: string) => Explanation
}

const NO_PATTERNS = 'use `contains`, `startsWith` or `endsWith`'
const SHELL_TESTS: Readonly<Record<string, string>> = {
  '-eq': '==',
  '-ne': '!=',
  '-gt': '>',
  '-ge': '>=',
  '-lt': '<',
  '-le': '<=',
}

const instead = (found: string, right: string): Explanation => ({
  message: `\`${found}\` is not an operator here`,
  suggestion: `write \`${right}\``,
})

/** In the order in which they are looked for: a longer operator before its parts. */
const SLIPS: readonly PitfallRule[] = [
  {
    pattern: /\$\{\{?\s*[\w.]*\s*\}?\}|\$\w+/,
    explain: (found) => {
      const name = /[\w.]+/.exec(found)?.[0] ?? 'name'
      return {
        message: `\`${found}\` cannot stand in an expression`,
        suggestion: `name the value alone: \`${name}\``,
      }
    },
  },
  {
    pattern: /=~|!~/,
    explain: (found) => ({ message: `\`${found}\` is not an operator here`, suggestion: NO_PATTERNS }),
  },
  { pattern: /===/, explain: (found) => instead(found, '==') },
  { pattern: /!==|<>/, explain: (found) => instead(found, '!=') },
  { pattern: /=>/, explain: (found) => instead(found, '>=') },
  { pattern: /=</, explain: (found) => instead(found, '<=') },
  {
    pattern: /(?<![=!<>])=(?!=)/,
    explain: () => ({ message: '`=` does not compare', suggestion: 'write `==`' }),
  },
  { pattern: /(?<!&)&(?!&)/, explain: (found) => instead(found, '&&') },
  { pattern: /(?<!\|)\|(?!\|)/, explain: (found) => instead(found, '||') },
  {
    pattern: /(?<=[\w)\]]\s+)is(?:\s+not)?(?=\s)/i,
    explain: (found) => instead(found, /not/i.test(found) ? '!=' : '=='),
  },
  { pattern: /(?<=[\w)\]]\s+)not\s+in(?=\s)/i, explain: (found) => instead(found, '!(… in …)') },
  { pattern: /(?<=\S\s+|\))and(?=\s|\()/i, explain: (found) => instead(found, '&&') },
  { pattern: /(?<=\S\s+|\))or(?=\s|\()/i, explain: (found) => instead(found, '||') },
  { pattern: /(?<=^|[\s(])not(?=\s+[\w(])/i, explain: (found) => instead(found, '!') },
  { pattern: /(?<=\s)-(?:eq|ne|gt|ge|lt|le)(?=\s)/, explain: (found) => instead(found, SHELL_TESTS[found] ?? '==') },
]

/** The first slip that stands in the text, strings aside. Ask only for a text that the language has refused. */
export function pitfallIn(text: string): TextPitfall | undefined {
  // Of the same length, so that offsets stay.
  const code = text.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, (string) => `"${'_'.repeat(string.length - 2)}"`)
  for (const { pattern, explain } of SLIPS) {
    const found = pattern.exec(code)
    if (found !== null) return { offset: found.index, ...explain(found[0]) }
  }
  return undefined
}

const TOKENS: Readonly<Record<string, string>> = {
  EOF: 'the end',
  RPAREN: '`)`',
  RBRACKET: '`]`',
  RBRACE: '`}`',
  LPAREN: '`(`',
  LBRACKET: '`[`',
  LBRACE: '`{`',
  COLON: '`:`',
  COMMA: '`,`',
  DOT: '`.`',
  IDENTIFIER: 'a name',
  GT: '`>`',
  LT: '`<`',
  GE: '`>=`',
  LE: '`<=`',
  EQ: '`==`',
  NE: '`!=`',
  AND: '`&&`',
  OR: '`||`',
  NOT: '`!`',
  PLUS: '`+`',
  MINUS: '`-`',
  MULTIPLY: '`*`',
  DIVIDE: '`/`',
  MODULO: '`%`',
  QUESTION: '`?`',
  IN: '`in`',
  NUMBER: 'a number',
  STRING: 'text',
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  int: 'a whole number',
  uint: 'a whole number',
  double: 'a fraction',
  bool: 'true or false',
  null: 'null',
  list: 'a list',
  map: 'an object',
  dyn: 'a value',
}

/** Of the language, with the types that they take; those of dates and bytes are left out. */
const FUNCTIONS =
  'size has int double string bool type contains startsWith endsWith exists exists_one all filter map'.split(' ')
const FOREIGN_FUNCTIONS: Readonly<Record<string, string>> = {
  len: 'size',
  length: 'size',
  count: 'size',
  includes: 'contains',
  starts_with: 'startsWith',
  ends_with: 'endsWith',
  some: 'exists',
  any: 'exists',
  every: 'all',
  float: 'double',
  number: 'int',
  parseint: 'int',
  str: 'string',
  tostring: 'string',
  defined: 'has',
}

export function typeInWords(type: string): string {
  const base = /^(?:dyn<)?(\w+)/.exec(type)?.[1] ?? type
  return TYPES[base] ?? `of type ${type}`
}

/** An error of the language for people who do not know the language. `word`: what stands in its place. */
export function explained(error: { readonly summary?: string; readonly message: string }, word?: string): Explanation {
  // Without the drawing of the place, which is shown otherwise.
  const said = error.summary ?? error.message
  return ofSyntax(said, word) ?? ofOperands(said) ?? ofFunction(said) ?? { message: said }
}

function ofSyntax(said: string, word: string | undefined): Explanation | undefined {
  if (said === 'Unexpected token: EOF') return { message: 'the expression ends where a value is expected' }
  if (said === 'Unterminated string') return { message: 'a quote that opens here never ends' }
  const [, token] = /^Unexpected token: (\w+)$/.exec(said) ?? []
  if (token !== undefined) return { message: `${tokenInWords(token)} stands where a value is expected` }
  const [, wanted, got] = /^Expected (\w+), got (\w+)$/.exec(said) ?? []
  if (wanted !== undefined && got !== undefined) {
    return { message: `${tokenInWords(wanted)} is missing before ${tokenInWords(got)}` }
  }
  const [, character] = /^Unexpected character: '?(.*?)'?$/s.exec(said) ?? []
  if (character === undefined) return undefined
  const suggestion = /[\w"']/.test(character)
    ? 'between two values stands an operator: `==`, `&&`, `||`, `+` …'
    : undefined
  return { message: `\`${word ?? character}\` is not expected here`, ...(suggestion !== undefined && { suggestion }) }
}

function tokenInWords(token: string): string {
  return TOKENS[token] ?? token
}

function ofOperands(said: string): Explanation | undefined {
  const [, operand] = /^Logical operator requires bool operands, got '(.+)'$/.exec(said) ?? []
  if (operand !== undefined) {
    return {
      message: `\`&&\` and \`||\` join what is true or false, and this is ${typeInWords(operand)}`,
      suggestion: 'compare it, as in `… > 0`',
    }
  }
  const [, negated] = /^no such overload: !(.+)$/.exec(said) ?? []
  if (negated !== undefined) {
    return {
      message: `\`!\` stands before what is true or false, and this is ${typeInWords(negated)}`,
      suggestion: 'compare it, as in `… == 0`',
    }
  }
  const [, left, sign, right] = /^no such overload: (\S+) (\S+) (\S+)$/.exec(said) ?? []
  if (left === undefined || sign === undefined || right === undefined) return undefined
  const message = `\`${sign}\` does not go with ${typeInWords(left)} and ${typeInWords(right)}`
  const words = [typeInWords(left), typeInWords(right)]
  const isMixed = words.includes('text') && words.some((word) => word.endsWith('number') || word === 'a fraction')
  const cure = 'write the number in quotes, or make a number of the text: `int(…)`, or `capture_format: number`'
  if (isMixed) return { message, suggestion: cure }
  if (sign === 'in' && words[1] === 'text')
    return { message, suggestion: 'part of a text is asked for with `text.contains(part)`' }
  return { message }
}

/** Functions of pipelines that ask how the steps before have ended. A step after a failure runs only where it is wanted. */
const STATUS_FUNCTIONS: Readonly<Record<string, string>> = {
  always: 'steps of `finally` run however the run ends',
  failure: 'steps of `on_failure` run once the run has failed',
  failed: 'steps of `on_failure` run once the run has failed',
  success: 'leave it out: a step runs only if all before it have ended well, or may fail',
  succeeded: 'leave it out: a step runs only if all before it have ended well, or may fail',
  cancelled: 'steps of `finally` run after a cancel too, and see `run.state`',
}

function ofFunction(said: string): Explanation | undefined {
  const [, call = ''] = /^found no matching overload for '(.+)'$/s.exec(said) ?? []
  const [, receiver, name, args = ''] = /^(?:(.+)\.)?(\w+)\((.*)\)$/s.exec(call) ?? []
  if (name === undefined) return undefined
  const operands = [receiver, ...args.split(', ')].filter((type) => type !== undefined && type !== '')
  if (FUNCTIONS.includes(name)) {
    const types = operands.map((type) => typeInWords(type!)).join(', ')
    return { message: `\`${name}\` does not take ${types === '' ? 'nothing' : types}` }
  }
  const known = nearest(name, [...FUNCTIONS, ...Object.keys(FOREIGN_FUNCTIONS)])
  const near = known === undefined ? undefined : (FOREIGN_FUNCTIONS[known] ?? known)
  const status = Object.hasOwn(STATUS_FUNCTIONS, name) ? STATUS_FUNCTIONS[name] : undefined
  if (status !== undefined) return { message: `there is no function \`${name}\``, suggestion: status }
  const suggestion = near === undefined ? `known are ${FUNCTIONS.join(', ')}` : `did you mean \`${near}\`?`
  return { message: `there is no function \`${name}\``, suggestion }
}
