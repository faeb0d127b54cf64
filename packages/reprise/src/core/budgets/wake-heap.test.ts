import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type HeapItem, NOT_KEPT, WakeHeap } from './wake-heap.js'

interface Named extends HeapItem {
  readonly name: number
}
const item = (name: number): Named => ({ name, wakeAtMs: Infinity, heapIndex: NOT_KEPT })
const names = (items: readonly Named[]): number[] => items.map(({ name }) => name)

describe('a heap of wake times', () => {
  it('is empty at first', () => {
    const heap = new WakeHeap<Named>()
    expect([heap.size, heap.firstAtMs, heap.dueAt(1e9)]).toEqual([0, Infinity, []])
  })

  it('knows the earliest time, and the items that are due, the earliest first', () => {
    const heap = new WakeHeap<Named>()
    for (const at of [50, 20, 40, 10, 30]) heap.set(item(at), at)
    expect(heap.firstAtMs).toBe(10)
    expect(names(heap.dueAt(9))).toEqual([])
    expect(names(heap.dueAt(40))).toEqual([10, 20, 30, 40])
    expect(heap.size).toBe(5)
  })

  it('moves an item whose time changes, in either direction', () => {
    const heap = new WakeHeap<Named>()
    const [a, b, c] = [item(1), item(2), item(3)]
    heap.set(a, 10)
    heap.set(b, 20)
    heap.set(c, 30)
    heap.set(a, 40)
    expect(heap.firstAtMs).toBe(20)
    heap.set(c, 5)
    expect(heap.firstAtMs).toBe(5)
    heap.set(c, 5)
    expect(names(heap.dueAt(100))).toEqual([3, 2, 1])
  })

  it('drops an item without a time, also one that it does not keep', () => {
    const heap = new WakeHeap<Named>()
    const [a, b] = [item(1), item(2)]
    heap.set(a, Infinity)
    heap.set(a, 10)
    heap.set(b, 20)
    heap.set(a, Infinity)
    expect([heap.size, heap.firstAtMs, a.heapIndex, a.wakeAtMs]).toEqual([1, 20, NOT_KEPT, Infinity])
    heap.set(b, Infinity)
    expect([heap.size, heap.firstAtMs]).toEqual([0, Infinity])
  })

  it('answers as a sorted list does, whatever is set', () => {
    const anyTime = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: -20, max: 20 }) }, fc.constant(Infinity))
    const change = fc.tuple(fc.nat({ max: 30 }), anyTime)
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), fc.integer({ min: -25, max: 25 }), (changes, now) => {
        const heap = new WakeHeap<Named>()
        const items = Array.from({ length: 31 }, (_, i) => item(i))
        const times = new Map<number, number>()
        for (const [index, at] of changes) {
          heap.set(items.at(index) as Named, at)
          times.set(index, at)
          const kept = [...times.values()].filter((time) => time < Infinity).toSorted((a, b) => a - b)
          expect(heap.size).toBe(kept.length)
          expect(heap.firstAtMs).toBe(kept[0] ?? Infinity)
          const due = heap.dueAt(now)
          expect(due.map(({ wakeAtMs }) => wakeAtMs)).toEqual(kept.filter((time) => time <= now))
          expect(due.every(({ name, wakeAtMs }) => times.get(name) === wakeAtMs)).toBe(true)
          expect(new Set(due).size).toBe(due.length)
        }
      }),
    )
  })

  it('compares an item with about log2(n) others when its time changes', () => {
    const SIZE = 1024
    let reads = 0
    const heap = new WakeHeap<Named>()
    const items = Array.from({ length: SIZE }, (_, i) => {
      let wakeAtMs = Infinity
      return Object.defineProperty(item(i), 'wakeAtMs', {
        get: () => (reads++, wakeAtMs),
        set: (at: number) => {
          wakeAtMs = at
        },
      })
    })
    items.forEach((each, i) => heap.set(each, (i * 619) % SIZE))
    for (const each of items) {
      reads = 0
      heap.set(each, (each.wakeAtMs * 7) % SIZE)
      heap.set(each, Infinity)
      heap.set(each, 3)
      // Each level reads at most five times: twice to find the smaller child, twice to compare, once for the old time.
      expect(reads).toBeLessThanOrEqual(3 * 5 * (Math.log2(SIZE) + 1))
    }
  })
})
