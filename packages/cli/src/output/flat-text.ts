/** Data in a line for people: `total=20 left=3 by={"a":1}`. Imports plain text. */
import type { Json } from 'reprise/durable'
import { plainText } from 'reprise/internal'

const MAX_TEXT = 500

export function flatText(data: Json): string {
  if (data === null) return ''
  if (typeof data !== 'object' || Array.isArray(data)) return plainText(valueText(data), MAX_TEXT)
  const pairs = Object.entries(data).flatMap(([key, value]) => (value === null ? [] : [`${key}=${valueText(value)}`]))
  return plainText(pairs.join(' '), MAX_TEXT)
}

/** Text without quotes where none are needed. */
function valueText(value: Json): string {
  // Times are measured in fractions of a millisecond: more digits than anybody reads.
  if (typeof value === 'number' && !Number.isInteger(value)) return String(Math.round(value * 1000) / 1000)
  return typeof value === 'string' && /^[^\s="{}[\]]+$/.test(value) ? value : JSON.stringify(value)
}
