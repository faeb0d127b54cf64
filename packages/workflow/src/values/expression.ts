/**
 * Conditions of steps, `when: items.count > 0`, in CEL (Common Expression Language). Not part of the language: `matches`,
 * since its patterns may take for ever. Added to it: `.count`, `.size` and `.length` of a list, and
 * arithmetic over integers and fractions together, because JSON does not tell them apart.
 *
 * Invariants: the text, the depth of its tree and the work of its loops are bounded; values are handed over as maps, so
 * that `__proto__` and `constructor` are keys like others. The language is loaded when it is first asked for. Imports
 * `@marcbachmann/cel-js`, which evaluates.
 */
import type { Environment, EvaluationError, ParseError, ParseResult } from '@marcbachmann/cel-js'
import { nearest } from 'reprise/internal'
import type { Json } from 'reprise/durable'
import type { Values } from '../steps/step-context.js'
import { type ExpressionFacts, factsOf, LENGTH_CALL, nameInLanguage } from './expression-names.js'
import { explained, pitfallIn, typeInWords } from './expression-pitfalls.js'
import { isList, wordFor } from './reference.js'
import { SetupError, TextError } from './setup-error.js'

export interface Expression {
  readonly text: string
  /** As written: `steps.fetch.exit_code`. */
  readonly names: readonly string[]
  /** Of these, names that are compared with a number. */
  readonly numeric: readonly string[]
  /** Throws a `SetupError` if a value is missing, or if the answer is neither true nor false. */
  evaluateBoolean(values: Values): boolean
}

/** An expression that may be of any type, such as `item.priority`. */
export interface ValueExpression {
  readonly text: string
  /** As written: `item.priority`. */
  readonly names: readonly string[]
  /** Undefined if a key that it names is missing; throws a `SetupError` for every other failure. */
  evaluate(values: Values): Json | undefined
}

export interface Expressions {
  /** Throws a `TextError` with the offset of what is wrong. */
  compile(text: string): Expression
  /** The same for an expression whose answer need not be true or false. */
  compileValue(text: string): ValueExpression
}

const MAX_TEXT = 2000
const LIMITS = { maxAstNodes: 500, maxDepth: 40, maxListElements: 200, maxMapEntries: 200, maxCallArguments: 16 }
/** Turns of loops within loops: about a second. */
const MAX_TURNS = 10_000_000

let loading: Promise<Expressions> | undefined

export function loadExpressions(): Promise<Expressions> {
  loading ??= import('@marcbachmann/cel-js').then((cel) => {
    const environment = environmentOf(cel)
    return {
      compile: (text) => compile(environment, text),
      compileValue: (text) => compileValue(environment, text),
    }
  })
  return loading
}

/** For texts that are used once. */
export async function compileExpression(text: string): Promise<Expression> {
  return (await loadExpressions()).compile(text)
}

function environmentOf(cel: { readonly Environment: typeof Environment }): Environment {
  const options = { unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false, limits: LIMITS }
  const environment = new cel.Environment(options)
  const mixed: Record<string, (a: number, b: number) => number> = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => a / b,
  }
  for (const [sign, apply] of Object.entries(mixed)) {
    const handle = (a: unknown, b: unknown): number => apply(Number(a), Number(b))
    environment.registerOperator(`int ${sign} double: double`, handle)
    environment.registerOperator(`double ${sign} int: double`, handle)
  }
  environment.registerFunction(`dyn.${LENGTH_CALL}(string): dyn`, lengthOf)
  return environment
}

/** Of a list how long it is; of an object its field, and no guess if it has none. */
function lengthOf(holder: unknown, word: string): unknown {
  if (Array.isArray(holder)) return BigInt(holder.length)
  const own: unknown = holder instanceof Map ? holder.get(word) : undefined
  if (own !== undefined) return own
  const cure = typeof holder === 'string' ? '; `capture_format: json` makes data of a captured text' : ''
  throw new SetupError('missing_value', `No such key: ${word}${cure}`)
}

interface Program {
  readonly parsed: ParseResult
  readonly facts: ExpressionFacts
  /** As the language calls it; `dyn` if it depends on the values. */
  readonly type: string
}

function programOf(environment: Environment, text: string): Program {
  if (text.length > MAX_TEXT) {
    throw new TextError(`an expression has at most ${MAX_TEXT} characters; let a step work out the rest`, MAX_TEXT)
  }
  const facts = factsOf(parse(environment, text).ast, (name) => environment.hasVariable(name))
  const pattern = facts.calls.find(({ name }) => name === 'matches')
  if (pattern) {
    const cure = 'use `contains`, `startsWith` or `endsWith`, or let a step answer with its exit code'
    throw new TextError(`\`matches\` is not available, since a pattern may take for ever: ${cure}`, pattern.offset)
  }
  const parsed = parse(environment, edited(text, facts))
  const { valid, type, error } = parsed.check()
  if (!valid) throw textErrorOf(text, error!)
  return { parsed, facts, type: type ?? 'dyn' }
}

function compile(environment: Environment, text: string): Expression {
  const program = programOf(environment, text)
  const { facts, type } = program
  if (type !== 'bool' && type !== 'dyn') {
    throw new TextError(`this is ${typeInWords(type)}, not true or false`, 0, 'compare it, as in `… > 0`')
  }
  return {
    text,
    names: [...facts.names],
    numeric: [...facts.numeric],
    evaluateBoolean: (values) => booleanOf(text, answerOf(text, program, values)),
  }
}

function compileValue(environment: Environment, text: string): ValueExpression {
  const program = programOf(environment, text)
  return {
    text,
    names: [...program.facts.names],
    evaluate: (values) => {
      try {
        return jsonOf(text, answerOf(text, program, values))
      } catch (error) {
        if (isMissingKey(error)) return undefined
        throw error
      }
    },
  }
}

function parse(environment: Environment, text: string): ParseResult {
  try {
    return environment.parse(text)
  } catch (error) {
    throw textErrorOf(text, error as LanguageError)
  }
}

function edited(text: string, { edits }: ExpressionFacts): string {
  let written = ''
  let at = 0
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    written += text.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return written + text.slice(at)
}

function answerOf(text: string, { parsed, facts }: Program, values: Values): unknown {
  const context = new Map<string, unknown>()
  const sizes = { longest: 1 }
  for (const root of facts.roots) {
    if (Object.hasOwn(values, root)) context.set(nameInLanguage(root), celValue(values[root]!, sizes))
  }
  if (sizes.longest ** facts.loopDepth > MAX_TURNS) {
    const cure = 'let a step work it out, and capture the answer'
    throw new SetupError(
      'too_large',
      `\`${text}\` goes through ${sizes.longest} items ${facts.loopDepth} loops deep: ${cure}`,
    )
  }
  try {
    return parsed(context)
  } catch (error) {
    throw new SetupError('invalid_expression', `\`${text}\`: ${failure(error as EvaluationError, values)}`, {
      cause: error,
    })
  }
}

function booleanOf(text: string, answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer
  const what = wordFor(typeof answer === 'bigint' ? Number(answer) : plainValue(answer))
  throw new SetupError('invalid_expression', `\`${text}\` is ${what}, not true or false: compare it, as in \`… > 0\``)
}

/** Whole numbers are integers to the language, so that they compare with `0`; objects are maps. */
function celValue(value: Json, sizes: { longest: number }): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value !== 'object' || value === null) return value
  if (isList(value)) {
    sizes.longest = Math.max(sizes.longest, value.length)
    return value.map((item) => celValue(item, sizes))
  }
  const entries = Object.entries(value)
  sizes.longest = Math.max(sizes.longest, entries.length)
  return new Map(entries.map(([key, item]) => [key, celValue(item, sizes)]))
}

/** What the language answers as JSON: its integers are numbers, its maps objects. */
function jsonOf(text: string, answer: unknown): Json {
  if (typeof answer === 'bigint') return Number(answer)
  if (Array.isArray(answer)) return answer.map((item) => jsonOf(text, item))
  if (answer === null || ['string', 'number', 'boolean'].includes(typeof answer)) return answer as Json
  const entries = answer instanceof Map ? [...answer] : isPlain(answer) ? Object.entries(answer) : undefined
  if (entries) return Object.fromEntries(entries.map(([key, item]) => [String(key), jsonOf(text, item)]))
  const what = 'text, a number, true or false, null, a list nor an object'
  throw new SetupError('invalid_expression', `\`${text}\` is neither ${what}`)
}

/** A map that is written in the expression itself. */
function isPlain(answer: unknown): answer is object {
  if (typeof answer !== 'object' || answer === null) return false
  const prototype: unknown = Object.getPrototypeOf(answer)
  return prototype === Object.prototype || prototype === null
}

/** Whether an evaluation failed because a value has no such field. */
export function isMissingKey(error: unknown): boolean {
  const cause: unknown = error instanceof SetupError ? error.cause : undefined
  return cause instanceof Error && /^No such key\b/.test((cause as Partial<ParseError>).summary ?? cause.message)
}

function plainValue(value: unknown): Json {
  return value instanceof Map ? {} : ((value ?? null) as Json)
}

function failure(error: EvaluationError, values: Values): string {
  const { message: said, suggestion } = explained(error)
  const [, name] = /^Unknown variable: (?:reprise_value_)?(\w+)$/.exec(said) ?? []
  if (name !== undefined) {
    const near = nearest(name, Object.keys(values))
    return `there is no \`${name}\`${near === undefined ? '' : `; did you mean \`${near}\`?`}`
  }
  if (/^No such key: \w+$/.test(said)) return `${said}; \`has(…)\` asks whether it is there`
  return suggestion === undefined ? said : `${said}; ${suggestion}`
}

/** Thrown while an expression is read or checked. */
type LanguageError = Error & Partial<Pick<ParseError, 'range' | 'summary'>>

/** A slip that can be recognised in the text is named; else the words of the language are made plain. */
function textErrorOf(text: string, error: LanguageError): TextError {
  const offset = Math.min(error.range?.start ?? 0, text.length)
  const pitfall = pitfallIn(text)
  if (pitfall !== undefined) return new TextError(pitfall.message, pitfall.offset, pitfall.suggestion)
  const { message, suggestion } = explained(error, /^\w+/.exec(text.slice(offset))?.[0])
  return new TextError(message, offset, suggestion)
}
