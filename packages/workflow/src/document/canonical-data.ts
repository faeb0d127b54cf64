/**
 * A value in the one spelling that its shape has: other names of a key resolved, camelCase made snake_case, and what was
 * written as a number where text is meant made text. Two files that differ only in these give the same data.
 *
 * Invariants: the value was checked before; keys are made by definition, so none reaches a prototype. Imports shapes.
 */
import type { Json } from 'reprise/durable'
import { kindOfValue, kindsOf } from './shape-words.js'
import { branchOf, fieldFor, type FieldsShape, type Shape } from './shape.js'

type Fields = Readonly<Record<string, unknown>>

/** What a key is called, and what stands there. */
interface Named {
  readonly name: string
  readonly shape: Shape | undefined
}

export function canonicalData(value: unknown, shape: Shape): Json {
  switch (shape.kind) {
    case 'text':
      return String(value)
    case 'list':
      return madeList(value as readonly unknown[], shape.of)
    case 'named':
      return made(value as Fields, (name) => ({ name, shape: shape.of }))
    case 'fields':
      return made(value as Fields, (key) => fieldFor(shape, key) ?? { name: key, shape: undefined })
    case 'fork':
      return canonicalData(value, branchOf(shape, value))
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
    const field = fieldFor(shape, key)
    return field !== undefined && (field.shape.kind !== 'words' || field.shape.words.includes(item as string))
  }).length
}

/** What is in that spelling already stays as it is: of a document of very many steps, no second one is made. */
function made(value: Fields, shapeFor: (key: string) => Named): Json {
  const keys = Object.keys(value)
  let entries: [string, Json][] | undefined
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const { name, shape } = shapeFor(key)
    const item = shape === undefined ? (value[key] as Json) : canonicalData(value[key], shape)
    if (entries === undefined && name === key && item === value[key]) continue
    entries ??= keys.slice(0, i).map((before) => [before, value[before] as Json])
    entries.push([name, item])
  }
  return entries === undefined ? (value as Json) : Object.fromEntries(entries)
}

function madeList(value: readonly unknown[], shape: Shape): Json {
  let items: Json[] | undefined
  for (let i = 0; i < value.length; i++) {
    const item = canonicalData(value[i], shape)
    if (items === undefined && item === value[i]) continue
    items ??= value.slice(0, i) as Json[]
    items.push(item)
  }
  return items ?? (value as Json)
}
