/**
 * The texts of a document that are read further: templates, shell text, expressions, each with its place. What is not
 * of the shape that the table says is passed over: that has been said. Imports shapes and located values.
 */
import { alternativeOf } from './canonical-data.js'
import { kindOfValue, kindsOf } from './shape-words.js'
import { branchOf, fieldFor, type FieldsShape, type Reading, type Shape } from './shape.js'
import type { Source } from './source.js'
import { fieldOf, hasFields, itemsOf, type LocatedValue } from './located.js'

export interface FoundText {
  readonly located: LocatedValue
  readonly text: string
  readonly reading: Reading
}

export function textsIn(source: Source, located: LocatedValue, shape: Shape): FoundText[] {
  if (!kindsOf(shape).includes(kindOfValue(located.data))) return []
  switch (shape.kind) {
    case 'text':
      return textAt(located, shape.reading)
    case 'data':
      return textsInData(source, located, shape.reading)
    case 'list':
      return itemsOf(source, located).flatMap((item) => textsIn(source, item, shape.of))
    case 'named':
      return fieldsIn(source, located).flatMap((item) => textsIn(source, item, shape.of))
    case 'fields':
      return fieldsIn(source, located).flatMap((item) => textsInField(source, item, shape))
    case 'fork':
      return textsIn(source, located, branchOf(shape, located.data))
    case 'either': {
      const found = alternativeOf(located.data, shape.of)
      return found === undefined ? [] : textsIn(source, located, found)
    }
    case 'words':
    case 'number':
    case 'flag':
    case 'duration':
    case 'empty':
      return []
  }
}

function textsInField(source: Source, located: LocatedValue, shape: FieldsShape): FoundText[] {
  const field = fieldFor(shape, located.name ?? '')
  return field === undefined ? [] : textsIn(source, located, field.shape)
}

function textsInData(source: Source, located: LocatedValue, reading: Reading | undefined): FoundText[] {
  if (reading === undefined) return []
  if (typeof located.data === 'string') return textAt(located, reading)
  const inner = Array.isArray(located.data) ? itemsOf(source, located) : fieldsIn(source, located)
  return inner.flatMap((item) => textsInData(source, item, reading))
}

function textAt(located: LocatedValue, reading: Reading | undefined): FoundText[] {
  // A number or a boolean that is taken as text holds no reference, but is an expression.
  const isText = typeof located.data === 'string' || (reading === 'expression' && located.data !== null)
  return isText && reading !== undefined ? [{ located, text: String(located.data), reading }] : []
}

function fieldsIn(source: Source, located: LocatedValue): LocatedValue[] {
  if (!hasFields(located.data)) return []
  return Object.keys(located.data).flatMap((key) => fieldOf(source, located, key) ?? [])
}
