/**
 * A map that never holds more than its limit: keys should be few, but a caller's mistake must not be a leak.
 * Imports nothing.
 */

export class BoundedMap<V> {
  readonly #kept = new Map<string, V>()
  readonly #limit: number
  readonly #mayForget: (value: V) => boolean
  #lastKey: string | undefined = undefined
  #lastValue: V | undefined = undefined

  /** `mayForget` says which entries can go without loss; if none can, the oldest goes. */
  constructor(limit: number, mayForget: (value: V) => boolean) {
    this.#limit = limit
    this.#mayForget = mayForget
  }

  get size(): number {
    return this.#kept.size
  }

  /** Most often the key is the one of the call before. */
  get(key: string): V | undefined {
    if (key === this.#lastKey) return this.#lastValue
    const value = this.#kept.get(key)
    if (value !== undefined) {
      this.#lastKey = key
      this.#lastValue = value
    }
    return value
  }

  set(key: string, value: V): void {
    this.#lastKey = undefined
    if (!this.#kept.has(key) && this.#kept.size >= this.#limit) this.#kept.delete(this.#victim())
    this.#kept.set(key, value)
  }

  values(): IterableIterator<V> {
    return this.#kept.values()
  }

  entries(): [string, V][] {
    return [...this.#kept]
  }

  #victim(): string {
    let oldest: string | undefined
    for (const [key, value] of this.#kept) {
      if (this.#mayForget(value)) return key
      oldest ??= key
    }
    return oldest as string
  }
}
