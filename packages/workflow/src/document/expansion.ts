/**
 * Limits on what a text has become with its aliases written out: they can make a small file large and deep.
 *
 * Invariants: what several aliases share is looked at once, so the work is that of the text; never recurses deeper than
 * the limit. The data holds no circle. Imports the limits.
 */
import { MAX_DEPTH, MAX_JSON, MAX_VALUES } from './limits.js'

interface Measure {
  readonly values: number
  /** Characters of texts and keys. */
  readonly length: number
  readonly depth: number
}

const WITH_ALIASES = 'with its aliases written out'

/** What is too much of it, if anything is. */
export function findExpansion(value: unknown): string | undefined {
  const { values, length, depth } = measure(value, 0, new Map())
  if (depth > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels ${WITH_ALIASES}`
  if (values > MAX_VALUES) return `has more than ${MAX_VALUES} values ${WITH_ALIASES}`
  return length > MAX_JSON ? `is longer than 4 MiB ${WITH_ALIASES}` : undefined
}

function measure(value: unknown, above: number, known: Map<object, Measure>): Measure {
  if (typeof value === 'string') return { values: 1, length: value.length, depth: 0 }
  if (typeof value !== 'object' || value === null) return { values: 1, length: 1, depth: 0 }
  // Deep enough to be refused: what is below does not matter any more.
  if (above > MAX_DEPTH) return { values: 1, length: 1, depth: 1 }
  const found = known.get(value)
  if (found !== undefined) return found
  let [values, length, depth] = [1, 1, 0]
  for (const [key, item] of Object.entries(value)) {
    const inner = measure(item, above + 1, known)
    values += inner.values
    length += inner.length + key.length
    depth = Math.max(depth, inner.depth)
  }
  const result = { values, length, depth: depth + 1 }
  known.set(value, result)
  return result
}
