/**
 * A value in the one spelling that its shape has: other names of a key resolved, camelCase made snake_case, and what was
 * written as a number where text is meant made text. Two files that differ only in these give the same data.
 *
 * Invariants: the value was checked before; keys are made by definition, so none reaches a prototype. Imports shapes.
 */
import type { Json } from 'reprise/durable'
import { kindOfValue, kindsOf } from './shape-words.js'
import { type FieldsShape, type Shape, spellingsOf } from './shape.js'

type Fields = Readonly<Record<string, unknown>>

export function canonicalData(value: unknown, shape: Shape): Json {
  switch (shape.kind) {
    case 'text':
      return String(value)
    case 'list':
      return (value as readonly unknown[]).map((item) => canonicalData(item, shape.of))
    case 'named':
      return made(value as Fields, (key, item) => [key, canonicalData(item, shape.of)])
    case 'fields':
      return made(value as Fields, (key, item) => canonicalField(key, item, shape))
    case 'either': {
      const found = alternativeOf(value, shape.of)
      return found === undefined ? (value as Json) : canonicalData(value, found)
    }
    case 'words':
    case 'number':
    case 'flag':
    case 'duration':
    case 'data':
    case 'empty':
      return value as Json
  }
}

/** Of several maps of fields, the one that knows most of these keys. */
export function alternativeOf(value: unknown, shapes: readonly Shape[]): Shape | undefined {
  const kind = kindOfValue(value)
  const fitting = shapes.filter((shape) => kindsOf(shape).includes(kind))
  if (kind !== 'fields' || fitting.length < 2) return fitting[0]
  const scores = fitting.map((shape) => (shape.kind === 'fields' ? knownKeys(value as Fields, shape) : 0))
  return fitting[scores.indexOf(Math.max(...scores))]
}

/** A word such as `type: ratio` counts only if it is this one. */
function knownKeys(value: Fields, shape: FieldsShape): number {
  return Object.entries(value).filter(([key, item]) => {
    const field = shape.fields.find((one) => spellingsOf(one, shape).includes(key))
    return field !== undefined && (field.shape.kind !== 'words' || field.shape.words.includes(item as string))
  }).length
}

function canonicalField(key: string, value: unknown, shape: FieldsShape): [string, Json] {
  const field = shape.fields.find((one) => spellingsOf(one, shape).includes(key))
  return field === undefined ? [key, value as Json] : [field.name, canonicalData(value, field.shape)]
}

function made(value: Fields, entry: (key: string, item: unknown) => [string, Json]): Json {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => entry(key, item)))
}
