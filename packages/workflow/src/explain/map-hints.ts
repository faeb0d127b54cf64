/**
 * What is worth a second look in the policies of a map: attempts that multiply, and a shared count that is small or is
 * never used. Imports words.
 */
import type { PolicyRole } from '../plan/found-policies.js'
import type { MapStarts } from '../plan/map-starts.js'
import { plural } from '../words/failure-words.js'
import type { Hint } from './hints.js'

export function mapHints(role: PolicyRole, starts: MapStarts): Hint[] {
  return role === 'item' ? itemHints(starts) : templateHints(starts)
}

/**
 * Without what is not so in a map: a step that runs once within an item that is retried is retried with it, and an
 * attempt of an item has its limit elsewhere.
 */
export function hintsInMap(hints: readonly Hint[], role: PolicyRole, { itemAttempts }: MapStarts): Hint[] {
  return hints
    .filter(({ code }) => code !== 'runs_once' || itemAttempts === 1)
    .map((hint) => (role === 'item' ? { ...hint, message: hint.message.replaceAll('`attempt_timeout`', LIMIT) } : hint))
}

const LIMIT = '`agent_timeout`'

function templateHints({ itemAttempts, stepAttempts, perItem }: MapStarts): Hint[] {
  if (itemAttempts === 1 || stepAttempts === 1) return []
  const message =
    `${itemAttempts} attempts of an item with ${stepAttempts} attempts of this step each: up to ${perItem} starts ` +
    'for one item. One of the two is often enough.'
  return [{ code: 'attempts_multiply', message }]
}

function itemHints(starts: MapStarts): Hint[] {
  return [...batchHints(starts), ...allotmentHints(starts)]
}

function batchHints({ capturesForNone }: MapStarts): Hint[] {
  if (!capturesForNone) return []
  const message =
    'What the last step captures is the result of no item, since an attempt has several: append a line ' +
    '`{"key": …, "result": …}` to `$REPRISE_RESULTS` for each item.'
  return [{ code: 'batch_captures', message }]
}

function allotmentHints({ itemAttempts, items, maxRetries }: MapStarts): Hint[] {
  if (maxRetries === null) return []
  if (itemAttempts === 1) {
    const message = 'An item has one attempt: `max_retries` has no effect. `item_retry: {attempts: 3}` gives it more.'
    return [{ code: 'allotment_unused', message }]
  }
  if (items === null || maxRetries >= items) return []
  const message =
    `${plural(items, 'item')} share ${plural(maxRetries, 'retry', 'retries')}: in an outage most of them are not ` +
    'retried at all. Raise `max_retries`, or keep it as a limit on purpose.'
  return [{ code: 'allotment_below_items', message }]
}
