/** `item.priority desc`: an expression, and which way to sort by it. Pure. Imports types only. */
import type { SortKey } from './map-plan.js'

const DIRECTION = /\s+(asc|desc)\s*$/i

export function sortKeyOf(text: string): SortKey {
  const [, word = 'asc'] = DIRECTION.exec(text) ?? []
  return { expression: text.replace(DIRECTION, '').trim(), isDescending: word.toLowerCase() === 'desc' }
}
