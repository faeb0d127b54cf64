/**
 * The texts of a document that are read further: templates, shell text, expressions, each with its place. What is not
 * of the shape that the table says is passed over: that has been said. Imports shapes and spots.
 */
import { alternativeOf } from './canonical-data.js'
import { kindOfValue, kindsOf } from './shape-words.js'
import { branchOf, fieldFor, type FieldsShape, type Reading, type Shape } from './shape.js'
import type { Source } from './source.js'
import { fieldOf, hasFields, itemsOf, type Spot } from './spot.js'

export interface FoundText {
  readonly spot: Spot
  readonly text: string
  readonly reading: Reading
}

export function textsIn(source: Source, spot: Spot, shape: Shape): FoundText[] {
  if (!kindsOf(shape).includes(kindOfValue(spot.data))) return []
  switch (shape.kind) {
    case 'text':
      return textAt(spot, shape.reading)
    case 'data':
      return textsInData(source, spot, shape.reading)
    case 'list':
      return itemsOf(source, spot).flatMap((item) => textsIn(source, item, shape.of))
    case 'named':
      return spotsIn(source, spot).flatMap((item) => textsIn(source, item, shape.of))
    case 'fields':
      return spotsIn(source, spot).flatMap((item) => textsInField(source, item, shape))
    case 'fork':
      return textsIn(source, spot, branchOf(shape, spot.data))
    case 'either': {
      const found = alternativeOf(spot.data, shape.of)
      return found === undefined ? [] : textsIn(source, spot, found)
    }
    case 'words':
    case 'number':
    case 'flag':
    case 'duration':
    case 'empty':
      return []
  }
}

function textsInField(source: Source, spot: Spot, shape: FieldsShape): FoundText[] {
  const field = fieldFor(shape, spot.name ?? '')
  return field === undefined ? [] : textsIn(source, spot, field.shape)
}

function textsInData(source: Source, spot: Spot, reading: Reading | undefined): FoundText[] {
  if (reading === undefined) return []
  if (typeof spot.data === 'string') return textAt(spot, reading)
  const inner = Array.isArray(spot.data) ? itemsOf(source, spot) : spotsIn(source, spot)
  return inner.flatMap((item) => textsInData(source, item, reading))
}

function textAt(spot: Spot, reading: Reading | undefined): FoundText[] {
  // A number or a boolean that is taken as text holds no reference, but is an expression.
  const isText = typeof spot.data === 'string' || (reading === 'expression' && spot.data !== null)
  return isText && reading !== undefined ? [{ spot, text: String(spot.data), reading }] : []
}

function spotsIn(source: Source, spot: Spot): Spot[] {
  if (!hasFields(spot.data)) return []
  return Object.keys(spot.data).flatMap((key) => fieldOf(source, spot, key) ?? [])
}
