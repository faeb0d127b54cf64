/** A difference between two plans as a person reads it. Pure. Imports types only. */
import type { Json } from 'reprise/durable'
import type { Difference } from './differences.js'

const MAX_SHOWN = 60

/** Such as `step fetch: retry.attempts was 3, is 5`. */
export function describeDifference(difference: Difference): string {
  switch (difference.kind) {
    case 'step_added':
      return `step ${difference.step} is new, at position ${difference.position}`
    case 'step_removed':
      return `step ${difference.step} is gone; it was at position ${difference.position}`
    case 'step_moved':
      return `step ${difference.step} was at position ${difference.from}, is at ${difference.to}`
    case 'step_changed':
      return `step ${difference.step}: ${changeWords(difference.field, difference.from, difference.to)}`
    case 'policy_changed':
      return `step ${difference.step}: ${changeWords(`retry.${difference.field}`, difference.from, difference.to)}`
    case 'document_changed':
      return changeWords(difference.field, difference.from, difference.to)
  }
}

function changeWords(field: string, from: Json, to: Json): string {
  if (from === null) return `${field} is new: ${shown(to)}`
  return to === null ? `${field} is gone; it was ${shown(from)}` : `${field} was ${shown(from)}, is ${shown(to)}`
}

function shown(value: Json): string {
  const text = typeof value === 'string' && /^[\w.-]+$/.test(value) ? value : JSON.stringify(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
