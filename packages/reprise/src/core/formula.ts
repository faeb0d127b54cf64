/**
 * The arithmetic of `backoff: {custom: {formula}}`: numbers, `attempt initial max previous`, `+ - * / % ^`, a leading
 * minus and parentheses. Times are milliseconds. `^` is to the right and binds closest: `-2 ^ 2` is −4.
 *
 * Invariants: a text becomes closures over numbers, never code; its length and depth are bounded; parsing is total:
 * after a problem nothing is left to be read, so every loop ends by itself. Imports nothing.
 */

interface FormulaValues {
  /** Failures so far, from 1. */
  readonly attempt: number
  readonly initial: number
  readonly max: number
  /** The delay waited before; the initial one after the first failure. */
  readonly previous: number
}

export type Formula = (values: FormulaValues) => number

export interface FormulaProblem {
  readonly problem: string
  /** Offset of the character where it shows. */
  readonly at: number
}

const MAX_TEXT = 500
const MAX_DEPTH = 64
const NAMES: readonly string[] = ['attempt', 'initial', 'max', 'previous']
const TOKEN = /\d+(?:\.\d+)?|\w+|\S/g

/** How tightly each binds, and what it does. Unary minus stands between `*` and `^`. */
const OPERATORS: Readonly<Record<string, readonly [number, (a: number, b: number) => number]>> = {
  '+': [1, (a, b) => a + b],
  '-': [1, (a, b) => a - b],
  '*': [2, (a, b) => a * b],
  '/': [2, (a, b) => a / b],
  '%': [2, (a, b) => a % b],
  '^': [3, (a, b) => a ** b],
}
const POWER = 3

interface Parser {
  /** What is left to be read, last token first. */
  readonly tokens: RegExpExecArray[]
  readonly length: number
  problem?: FormulaProblem
}

export function compileFormula(text: string): Formula | FormulaProblem {
  if (text.length > MAX_TEXT) return { problem: `longer than ${MAX_TEXT} characters`, at: MAX_TEXT }
  const parser: Parser = { tokens: [...text.matchAll(TOKEN)].reverse(), length: text.length }
  const formula = terms(parser, 1, 0)
  if (parser.tokens.length > 0) fail(parser, 'expected an operator')
  return parser.problem ?? formula
}

function peek(parser: Parser): string | undefined {
  return parser.tokens.at(-1)?.[0]
}

/** Keeps the first problem. */
function fail(parser: Parser, reason: string): Formula {
  const token = parser.tokens.at(-1)
  parser.problem ??= { problem: `unexpected ${token?.[0] ?? 'end'}: ${reason}`, at: token?.index ?? parser.length }
  parser.tokens.length = 0
  return () => 0
}

/** Everything from here on whose operators bind at least as tightly as `least`. */
function terms(parser: Parser, least: number, depth: number): Formula {
  if (depth > MAX_DEPTH) return fail(parser, `nested deeper than ${MAX_DEPTH} levels`)
  let left = operand(parser, depth)
  for (;;) {
    const token = peek(parser) ?? ''
    const operator = Object.hasOwn(OPERATORS, token) ? OPERATORS[token] : undefined
    if (operator === undefined || operator[0] < least) return left
    const [binds, compute] = operator
    parser.tokens.pop()
    const before = left
    const after = terms(parser, binds === POWER ? POWER : binds + 1, depth + 1)
    left = (values) => compute(before(values), after(values))
  }
}

function operand(parser: Parser, depth: number): Formula {
  const token = peek(parser) ?? ''
  const value = valueOf(token)
  if (value === undefined && token !== '-' && token !== '(') {
    return fail(parser, `expected a number or one of ${NAMES.join(', ')}`)
  }
  parser.tokens.pop()
  if (value !== undefined) return value
  const inner = terms(parser, token === '-' ? POWER : 1, depth + 1)
  if (token === '-') return (values) => -inner(values)
  if (peek(parser) !== ')') return fail(parser, 'expected a closing parenthesis')
  parser.tokens.pop()
  return inner
}

function valueOf(token: string): Formula | undefined {
  if (/^\d/.test(token)) return () => Number(token)
  return NAMES.includes(token) ? (values) => values[token as keyof FormulaValues] : undefined
}
