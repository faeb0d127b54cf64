/** Shapes and values in the words of messages. Imports the shapes. */
import type { NumberShape, Shape } from './shape.js'
import { shortened } from './shortened.js'

/** What a value is in JSON. */
export type ValueKind = 'null' | 'text' | 'number' | 'flag' | 'list' | 'fields'

const ALL_KINDS: readonly ValueKind[] = ['null', 'text', 'number', 'flag', 'list', 'fields']

export function kindOfValue(value: unknown): ValueKind {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number') return 'number'
  return typeof value === 'boolean' ? 'flag' : 'fields'
}

/** By shape, made once: every value of a document is asked for. */
const kindsByShape = new WeakMap<Shape, readonly ValueKind[]>()

/** What values of this shape can be in JSON. */
export function kindsOf(shape: Shape): readonly ValueKind[] {
  let kinds = kindsByShape.get(shape)
  if (kinds === undefined) {
    kinds = listKinds(shape)
    kindsByShape.set(shape, kinds)
  }
  return kinds
}

function listKinds(shape: Shape): readonly ValueKind[] {
  switch (shape.kind) {
    case 'text':
      return shape.isPlain ? ['text', 'number', 'flag'] : ['text']
    case 'words':
    case 'duration':
      // A duration that is a number gets the library's message: which units there are.
      return shape.kind === 'duration' ? ['text', 'number'] : ['text']
    case 'number':
      return ['number']
    case 'flag':
      return ['flag']
    case 'data':
      return ALL_KINDS
    case 'empty':
      return ['null']
    case 'list':
      return ['list']
    case 'named':
    case 'fields':
    case 'fork':
      return ['fields']
    case 'either':
      return [...new Set(shape.of.flatMap(kindsOf))]
  }
}

/** A value as a message shows it: at most a little of it. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shortened(value))
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' && value !== null ? 'a map of fields' : String(value)
}

/** What should stand there, to follow "is not". */
export function expectedOf(shape: Shape): string {
  switch (shape.kind) {
    case 'text':
      return shape.rule?.said ?? 'text'
    case 'words':
      return shape.words.length === 1 ? `\`${shape.words[0]}\`` : `one of ${shape.words.join(', ')}`
    case 'number':
      return numberWords(shape)
    case 'flag':
      return shape.only === undefined ? 'true or false' : String(shape.only)
    case 'duration':
      return "a duration such as '30s'"
    case 'data':
      return 'a value'
    case 'empty':
      return 'empty'
    case 'list':
      return 'a list'
    case 'named':
    case 'fields':
      return `a map of fields such as \`${shape.example}\``
    case 'fork':
      return expectedOf(shape.otherwise)
    case 'either':
      return shape.of.map(expectedOf).join(', or ')
  }
}

function numberWords({ isWhole, least, most }: NumberShape): string {
  const kind = isWhole ? 'a whole number' : 'a number'
  if (least !== undefined && most !== undefined) return `${kind} from ${least} to ${most}`
  return least === undefined ? kind : `${kind} of ${least} or more`
}
