/** Random documents: made of the tables that describe them, with something wrong now and then. */
import fc, { type Arbitrary } from 'fast-check'
import { faultOfName, type NameRule } from '../../packages/workflow/src/document/names.js'
import {
  type Field,
  type FieldsShape,
  type NumberShape,
  type Shape,
  spellingsOf,
  type TextShape,
} from '../../packages/workflow/src/document/shape.js'

const NAMES = [
  '10MiB',
  'https://files.example.com',
  'fetch',
  'a.b',
  'x-1',
  'items',
  'API_TOKEN',
  '0644',
  'Content-Type',
  'warehouse',
  'maxDelay',
  'exit:75',
  '20/s',
  '5%',
]
const BAD_NAMES = ['', ' ', 'a b', '1x', '__proto__', 'constructor', 'env', 'package', 'x.fallback', '-', 'ä', 'a:b']
const TEXTS = ['x', 'stop', 'GET', 'rerun', '5s', '0s', '1h30m', '30', 'network', '/deploy', 'a b']
const JUNK = [
  null,
  true,
  false,
  0,
  1,
  5,
  -1,
  1.5,
  42,
  300,
  1001,
  1e21,
  -0.5,
  [],
  ['x'],
  [5],
  {},
  { x: 1 },
  { type: 'count' },
]
const BAD_TEXTS = ['', ' ', 'a\nb', 'nul\0', 'sotp', '5 s', 'GETT', 'exit:0', 'exit:256', 'exit:075']
const MAX_SAFE = Number.MAX_SAFE_INTEGER

/** What no schema can judge: the grammar of patterns and formulas. */
const GRAMMAR: Readonly<Record<string, string>> = { pattern: '(?i)dead.*lock', formula: 'initial * attempt' }

/** One value in so many is wrong. */
export function documentOf(shape: Shape, faultIn = 40): Arbitrary<unknown> {
  return new Chance(faultIn).value(shape)
}

class Chance {
  private readonly faultIn: number

  constructor(faultIn: number) {
    this.faultIn = faultIn
  }

  value(shape: Shape): Arbitrary<unknown> {
    return this.mostly(this.right(shape), fc.constantFrom(...JUNK, ...TEXTS, ...BAD_TEXTS, ...NAMES))
  }

  private mostly(right: Arbitrary<unknown>, wrong: Arbitrary<unknown>): Arbitrary<unknown> {
    return fc.oneof({ weight: this.faultIn, arbitrary: right }, { weight: 1, arbitrary: wrong })
  }

  private right(shape: Shape): Arbitrary<unknown> {
    switch (shape.kind) {
      case 'text':
        return textOf(shape)
      case 'words':
        return fc.constantFrom(...shape.words)
      case 'number':
        return numberOf(shape)
      case 'flag':
        return shape.only === undefined ? fc.boolean() : fc.constant(shape.only)
      case 'duration':
        return fc.constantFrom('1ms', '500ms', '30s', '1.5m', '1h30m', '7d')
      case 'data':
        return fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('x', 5, MAX_SAFE, MAX_SAFE + 1, -MAX_SAFE))
      case 'empty':
        return fc.constant(null)
      case 'list': {
        const unique = shape.isUnique ? fc.uniqueArray : fc.array
        return this.mostly(
          unique(this.value(shape.of), { minLength: shape.least, maxLength: 3 }),
          fc.constant(['x', 'x']),
        )
      }
      case 'named':
        return this.named(shape.rule, shape.of)
      case 'fields':
        return this.fields(shape)
      case 'fork':
        return fc.oneof(this.value(shape.matching), this.value(shape.otherwise))
      case 'either':
        return fc.oneof(...shape.of.map((one) => this.value(one)))
    }
  }

  private named(rule: NameRule, of: Shape): Arbitrary<unknown> {
    const good = NAMES.filter((name) => faultOfName(name, rule) === undefined)
    const key = this.mostly(fc.constantFrom(...good), fc.constantFrom(...BAD_NAMES)) as Arbitrary<string>
    return fc.array(fc.tuple(key, this.value(of)), { maxLength: 3 }).map((entries) => Object.fromEntries(entries))
  }

  private fields(shape: FieldsShape): Arbitrary<unknown> {
    const { oneOf = [] } = shape
    const chosen = oneOf.length > 0 ? fc.constantFrom(...oneOf) : fc.constant('')
    const entries = chosen.chain((name) => fc.tuple(...shape.fields.map((field) => this.field(field, shape, name))))
    const unknown = fc.constantFrom('rety', 'x', '__proto__', 'shel', 'onFailure', 'max-delay')
    const stray = this.mostly(
      fc.constant([]),
      fc.tuple(unknown, fc.constant(1)).map((entry) => [entry]),
    )
    return fc
      .tuple(entries, stray)
      .map(([known, more]) => Object.fromEntries([...known.flat(), ...(more as [string, unknown][])]))
  }

  /** The entries that a field gives: none, one, or two spellings of it. */
  private field(field: Field, shape: FieldsShape, chosen: string): Arbitrary<[string, unknown][]> {
    const isChoice = shape.oneOf?.includes(field.name) === true
    const isHere = isChoice ? field.name === chosen : field.isRequired === true
    const keys = spellingsOf(field, shape)
    const key = fc.oneof({ weight: 4, arbitrary: fc.constant(keys[0] ?? '') }, fc.constantFrom(...keys))
    const grammar = GRAMMAR[field.name]
    const value =
      grammar === undefined ? this.value(field.shape) : this.mostly(fc.constant(grammar), fc.constantFrom(...JUNK))
    const one = fc.tuple(key, value).map((entry) => [entry])
    const none = fc.constant<[string, unknown][]>([])
    const both = value.map((same) => keys.map((name): [string, unknown] => [name, same]))
    if (isHere) return this.mostly(one, fc.oneof(none, both)) as Arbitrary<[string, unknown][]>
    if (isChoice) return this.mostly(none, one) as Arbitrary<[string, unknown][]>
    return this.mostly(fc.oneof({ weight: 3, arbitrary: none }, one), both) as Arbitrary<[string, unknown][]>
  }
}

function textOf({ rule, isPlain, mayBeBlank, isLine }: TextShape): Arbitrary<unknown> {
  if (rule !== undefined) return fc.constantFrom(...NAMES.filter((name) => faultOfName(name, rule) === undefined))
  const blank = mayBeBlank ? ['', ' '] : []
  const lines = isLine === true ? [] : ['echo 1\necho 2\n']
  const plain: unknown[] = isPlain ? [5, 1.5, true, false, -3] : []
  return fc.constantFrom(...TEXTS, ...blank, ...lines, ...plain)
}

function numberOf({ isWhole, least = 0, most, isAbove, isBelow }: NumberShape): Arbitrary<number> {
  const top = Math.min(most ?? least + 1000, least + 1000)
  const edges = [...(isAbove ? [] : [least]), ...(isBelow || most === undefined ? [] : [most])]
  const inside = isWhole
    ? fc.integer({ min: Math.ceil(least), max: Math.floor(top) })
    : fc.double({ min: least, max: top, noNaN: true, minExcluded: true, maxExcluded: true })
  return edges.length > 0 ? fc.oneof({ weight: 3, arbitrary: inside }, fc.constantFrom(...edges)) : inside
}
