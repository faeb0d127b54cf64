/**
 * Items by the time at which they want to be woken, the earliest first: an indexed binary heap. Each item stores its own
 * index, so an item whose time changes is found in O(1) and moved in O(log n). An item without a time (`Infinity`) is not
 * kept. Imports nothing.
 */

/** The fields that the heap keeps in its items. Only the heap writes them. */
export interface HeapItem {
  wakeAtMs: number
  /** `NOT_KEPT` while the item is not in the heap. */
  heapIndex: number
}

export const NOT_KEPT = -1

export class WakeHeap<T extends HeapItem> {
  private readonly items: T[] = []

  get size(): number {
    return this.items.length
  }

  /** The earliest time; `Infinity` if there is none. */
  get firstAtMs(): number {
    return this.items[0]?.wakeAtMs ?? Infinity
  }

  /** Adds, moves or, with `Infinity`, removes the item. */
  set(item: T, atMs: number): void {
    if (atMs === Infinity) {
      this.remove(item)
      return
    }
    const wasMs = item.wakeAtMs
    const isNew = item.heapIndex === NOT_KEPT
    item.wakeAtMs = atMs
    if (isNew) item.heapIndex = this.items.push(item) - 1
    if (isNew || atMs < wasMs) this.rise(item)
    else this.sink(item)
  }

  /** Those due at `now`, the earliest first. They stay in the heap. O(k log k) for k of them. */
  dueAt(now: number): T[] {
    const due: T[] = []
    const visit = (index: number): void => {
      const item = this.items[index]
      if (item === undefined || item.wakeAtMs > now) return
      due.push(item)
      visit(2 * index + 1)
      visit(2 * index + 2)
    }
    visit(0)
    return due.sort((a, b) => a.wakeAtMs - b.wakeAtMs)
  }

  private remove(item: T): void {
    const { heapIndex } = item
    item.wakeAtMs = Infinity
    if (heapIndex === NOT_KEPT) return
    item.heapIndex = NOT_KEPT
    const last = this.items.pop() as T
    if (last === item) return
    this.put(last, heapIndex)
    this.rise(last)
    this.sink(last)
  }

  private rise(item: T): void {
    while (item.heapIndex > 0) {
      const parent = this.items[(item.heapIndex - 1) >> 1] as T
      if (parent.wakeAtMs <= item.wakeAtMs) return
      this.swap(parent, item)
    }
  }

  private sink(item: T): void {
    for (;;) {
      const left = this.items[2 * item.heapIndex + 1]
      const right = this.items[2 * item.heapIndex + 2]
      const child = right !== undefined && right.wakeAtMs < (left as T).wakeAtMs ? right : left
      if (child === undefined || item.wakeAtMs <= child.wakeAtMs) return
      this.swap(item, child)
    }
  }

  private swap(upper: T, lower: T): void {
    const { heapIndex } = upper
    this.put(upper, lower.heapIndex)
    this.put(lower, heapIndex)
  }

  private put(item: T, index: number): void {
    this.items[index] = item
    item.heapIndex = index
  }
}
