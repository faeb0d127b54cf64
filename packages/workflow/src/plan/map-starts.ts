/**
 * How often the steps of a map can be started: attempts of the step × attempts of the item × items. Pure. Imports the
 * library.
 */
import { attemptsOf } from './attempts.js'
import type { MapInput, MapPlan } from './map-plan.js'

export interface MapStarts {
  /** Attempts of an item at most. */
  readonly itemAttempts: number
  /** Attempts of the step within one attempt of the item; 1 for the item itself. */
  readonly stepAttempts: number
  /** Starts for one item at most. */
  readonly perItem: number
  /** How many items there are at most; null if only the input knows. */
  readonly items: number | null
  /** Starts for all items at most; null if nobody knows how many there are. */
  readonly total: number | null
  /** Retries that all items share; null for no limit. */
  readonly maxRetries: number | null
  /** Items of one attempt at most; 1 without batches. */
  readonly batch: number
  /** Whether a step of the template captures something that is the result of no item, since there are several. */
  readonly capturesForNone: boolean
}

/** `isOnce`: for what is done once for an item, however often the item is tried. */
export function startsOf(map: MapPlan, stepAttempts: number, isOnce = false): MapStarts {
  const { maxRetriesPerItem } = map.errors
  const maxRetries = isOnce ? 0 : map.errors.maxRetries
  const retries = Math.min(attemptsOf(map) - 1, maxRetries ?? Infinity, maxRetriesPerItem ?? Infinity)
  const itemAttempts = 1 + retries
  const items = itemsKnown(map)
  const inAll = items === null ? null : Math.min(items * itemAttempts, items + (maxRetries ?? Infinity))
  return {
    itemAttempts,
    stepAttempts,
    perItem: itemAttempts * stepAttempts,
    items,
    total: inAll === null ? null : inAll * stepAttempts,
    maxRetries: map.errors.maxRetries,
    batch: map.batch,
    capturesForNone: map.batch > 1 && map.template.at(-1)?.capture?.name !== undefined,
  }
}

/** How many items there will be at most, where the document says it; null if only its input knows. */
function itemsKnown({ input, selection }: Pick<MapPlan, 'input' | 'selection'>): number | null {
  const { jsonPath, offset, maxItems } = selection
  const given = jsonPath === null ? countOf(input) : null
  return given === null ? null : Math.min(maxItems ?? Infinity, Math.max(0, given - offset))
}

function countOf(input: MapInput): number | null {
  switch (input.kind) {
    case 'list':
      return input.items.length
    case 'range':
      return Math.floor((input.to - input.from) / input.step) + 1
    case 'product':
      return input.lists.reduce((product, list) => product * list.length, 1)
    default:
      return null
  }
}
