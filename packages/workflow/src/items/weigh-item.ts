/**
 * Whether a value can be an item: what JSON can say and a ledger cannot keep is refused with its place. Imports what a
 * ledger can keep, the errors and limits of inputs.
 */
import type { Json } from 'reprise/durable'
import { problemIn } from '../values/capture.js'
import { InputDataError } from './input-data-error.js'
import { itemTooLarge, MAX_ITEM_BYTES } from './limits.js'

/** An escaped character is six bytes of JSON, as is everything else at most that is counted once. */
const MOST_BYTES = 6

/** Throws if it is nested too deep, or has a number that is too large. */
export function expectKeepable(value: Json, place: string): void {
  const problem = problemIn(value)
  if (problem !== undefined) throw new InputDataError(place, `the item cannot be kept: ${problem}`)
}

/** About how long it is as JSON; throws if that is above the limit. */
export function itemLength(value: Json, place: string): number {
  const length = lengthOf(value)
  if (length * MOST_BYTES <= MAX_ITEM_BYTES) return length
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes > MAX_ITEM_BYTES) throw itemTooLarge(place)
  return bytes
}

function lengthOf(value: Json): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value === 'number') return String(value).length
  if (typeof value !== 'object' || value === null) return 5
  let length = 2
  if (Array.isArray(value)) {
    for (const element of value as readonly Json[]) length += lengthOf(element) + 1
    return length
  }
  for (const [key, member] of Object.entries(value)) length += key.length + lengthOf(member) + 4
  return length
}
