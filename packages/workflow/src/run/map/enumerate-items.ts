/**
 * Records the items of a map, in batches, before any of them is executed. Imports the library and its own layer.
 *
 * Invariant: a batch is bounded in number and in bytes, whatever the items are.
 */
import type { Json } from 'reprise/durable'
import type { ItemQueue } from 'reprise/internal'
import { itemId } from '../../items/item-key.js'
import type { Item } from '../../items/read-items.js'
import type { ItemInput } from './item-steps.js'
import type { ItemPart } from './part-choice.js'
import { untilAborted } from './until-aborted.js'

/** Items of one transaction: other processes write between two of them. */
const MOST_ITEMS = 1000
const MOST_BYTES = 4 * 1024 * 1024

export interface EnumerationParts {
  readonly items: AsyncIterable<Item>
  /** Gets all items, or those that were not chosen. */
  readonly rest: ItemQueue<ItemInput>
  /** Gets the chosen items; undefined if no part was asked for. */
  readonly chosen: { readonly queue: ItemQueue<ItemInput>; readonly part: ItemPart } | undefined
  /** Nothing secret is recorded. */
  readonly mask: (value: Json) => Json
  readonly signal: AbortSignal
}

interface Enumerated {
  readonly total: number
  /** Of the part that was asked for. */
  readonly chosen: number
}

export async function enumerateItems({ items, rest, chosen, mask, signal }: EnumerationParts): Promise<Enumerated> {
  const batches = new Map<ItemQueue<ItemInput>, Batch>()
  let [total, taken] = [0, 0]
  for await (const item of untilAborted(items, signal)) {
    const isChosen = chosen !== undefined && chosen.part.takes(item)
    if (isChosen) taken++
    total++
    const queue = isChosen ? chosen.queue : rest
    let batch = batches.get(queue)
    if (batch === undefined) batches.set(queue, (batch = new Batch(queue)))
    const input = mask({ key: item.key, value: item.value }) as unknown as ItemInput
    // The id is made of the key.
    await batch.add(input.key === item.key ? item.id : itemId(item.index, input.key), input)
  }
  chosen?.part.expectFound()
  for (const batch of batches.values()) await batch.write()
  return { total, chosen: taken }
}

class Batch {
  private readonly queue: ItemQueue<ItemInput>
  private items: { id: string; input: ItemInput }[] = []
  private bytes = 0

  constructor(queue: ItemQueue<ItemInput>) {
    this.queue = queue
  }

  async add(id: string, input: ItemInput): Promise<void> {
    this.items.push({ id, input })
    this.bytes += JSON.stringify(input).length
    if (this.items.length >= MOST_ITEMS || this.bytes >= MOST_BYTES) await this.write()
  }

  async write(): Promise<void> {
    const { items } = this
    this.items = []
    this.bytes = 0
    if (items.length > 0) await this.queue.create(items)
  }
}
