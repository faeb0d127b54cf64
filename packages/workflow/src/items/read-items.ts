/**
 * The items of a map: its input, read and selected, each with its position, key and id. Imports the parts that do this.
 *
 * Invariants: items come one at a time, and reading goes no further than they are asked for; what is wrong with the input
 * is thrown where it is found, perhaps after many items, so a map begins nothing before it has them all.
 */
import type { Json } from 'reprise/durable'
import { type MapPlan, MAX_ITEMS } from '../plan/map-plan.js'
import { InputDataError } from './input-data-error.js'
import { itemId, itemKey } from './item-key.js'
import { type InputSources, openEntries } from './open-entries.js'
import { selectEntries } from './select-entries.js'

export interface Item {
  /** From 0, in the order in which items are processed. */
  readonly index: number
  /** For people; items may share one. */
  readonly key: string
  /** Unique in the map, and fit for a file name. */
  readonly id: string
  readonly value: Json
}

export async function* readItems(
  map: Pick<MapPlan, 'input' | 'selection'>,
  sources: InputSources,
): AsyncGenerator<Item, void, undefined> {
  const { source, entries } = await openEntries(map, sources)
  let index = 0
  for await (const { value } of selectEntries(entries, map.selection, sources.values, source)) {
    if (index === MAX_ITEMS) {
      const cure = 'split it with `offset` and `max_items`, or make each item a part of the whole'
      throw new InputDataError(source, `the input has more than ${MAX_ITEMS} items`, cure)
    }
    const key = itemKey(value)
    yield { index, key, id: itemId(index, key), value }
    index++
  }
}
