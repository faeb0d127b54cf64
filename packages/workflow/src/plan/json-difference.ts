/** Where two values of JSON differ, as deep as both have fields. Pure. Imports types only. */
import type { Json } from 'reprise/durable'

export interface ValueChange {
  /** `env.REGION`; empty if the values as a whole differ. */
  readonly field: string
  /** Null also where there is nothing. */
  readonly from: Json
  /** The value now; null if the field was removed. */
  readonly to: Json
}

type Fields = Readonly<Record<string, Json>>

export function changesIn(from: Json, to: Json, field = ''): ValueChange[] {
  if (!isFields(from) || !isFields(to)) return isSame(from, to) ? [] : [{ field, from, to }]
  const keys = new Set([...Object.keys(from), ...Object.keys(to)])
  return [...keys].flatMap((key) => {
    return changesIn(own(from, key), own(to, key), field === '' ? key : `${field}.${key}`)
  })
}

function own(fields: Fields, key: string): Json {
  return Object.hasOwn(fields, key) ? (fields[key] ?? null) : null
}

function isFields(value: Json): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Lists differ as a whole: which item is which nobody knows. */
function isSame(a: Json, b: Json): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => isSame(item as Json, b[index] as Json))
  }
  return isFields(a) && isFields(b) ? changesIn(a, b).length === 0 : a === b
}
