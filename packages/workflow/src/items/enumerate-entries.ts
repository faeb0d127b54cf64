/**
 * Inputs that are written in the document: ranges, products, lists. Imports templates and the errors of inputs.
 * Invariant: a range and a product are made element by element, however many there are.
 */
import type { Json } from 'reprise/durable'
import type { Entry } from './entry.js'
import { InputDataError } from './input-data-error.js'

/** Both ends included; empty if the step leads away from the end. */
export function* rangeEntries(from: number, to: number, step: number): Generator<Entry> {
  if (![from, to, step].every(Number.isSafeInteger) || step === 0) {
    const written = `${from} to ${to} by ${step}`
    throw new InputDataError('range', `${written} is no range`, 'whole numbers, and a step that is not 0')
  }
  // By position: adding up could pass the end beyond the whole numbers.
  const count = Math.floor((to - from) / step) + 1
  for (let position = 0; position < count; position++) {
    yield { value: from + position * step, position, line: null }
  }
}

/** The last list goes round first, as the digits of a counter do. */
export function* productEntries(lists: readonly (readonly Json[])[]): Generator<Entry> {
  if (lists.length === 0 || lists.some((list) => list.length === 0)) return
  const places = lists.map(() => 0)
  for (let position = 0; ; position++) {
    yield { value: lists.map((list, index) => list[places[index]!]!), position, line: null }
    let at = lists.length - 1
    while (at >= 0 && ++places[at]! === lists[at]!.length) places[at--] = 0
    if (at < 0) return
  }
}
