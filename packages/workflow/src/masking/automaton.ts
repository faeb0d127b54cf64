/**
 * Finds many words in a stream of bytes at once, in time that is linear in the bytes, whatever the words are
 * (Aho–Corasick). Imports nothing.
 *
 * A state is the longest end of what was read that some word begins with; 0 is none. Invariants: the *depth* of a state is
 * the length of that end: nothing before it can belong to a word that is still to come. Its *longest* is the length of the
 * longest word that ends here, or 0. States of depth 0 and 1 come first and have tables: nearly all bytes of a text that
 * has no secret in it lead from one of them to another. The others have a child or two, in lists. Words have two bytes
 * at least.
 */
export class Automaton {
  readonly depths: Int32Array
  readonly longest: Int32Array
  /** By state: the length of the shortest word that begins with what it stands for. */
  readonly shortest: Int32Array
  /** By state and byte, up to `lastShallow`: the next state. */
  readonly table: Int32Array
  readonly lastShallow: number
  private readonly bytes: Uint8Array
  private readonly children: Int32Array
  private readonly siblings: Int32Array
  /** Where to go on when no child fits. */
  private readonly fallbacks: Int32Array

  constructor(words: readonly Uint8Array[]) {
    const most = words.reduce((sum, word) => sum + word.length, 1)
    this.depths = new Int32Array(most)
    this.longest = new Int32Array(most)
    this.shortest = new Int32Array(most).fill(most)
    this.bytes = new Uint8Array(most)
    this.children = new Int32Array(most)
    this.siblings = new Int32Array(most)
    this.fallbacks = new Int32Array(most)
    let count = 1
    for (const word of words) count = this.add(word.subarray(0, 1), count)
    this.lastShallow = count - 1
    for (const word of words) count = this.add(word, count)
    for (const word of words) this.mark(word)
    this.table = new Int32Array((this.lastShallow + 1) * 256)
    this.link()
  }

  /** After one more byte. */
  step(from: number, byte: number): number {
    let state = from
    while (state > this.lastShallow) {
      const child = this.childOf(state, byte)
      if (child !== 0) return child
      state = this.fallbacks[state] ?? 0
    }
    return this.table[state * 256 + byte] ?? 0
  }

  private childOf(state: number, byte: number): number {
    let child = this.children[state] ?? 0
    while (child !== 0 && this.bytes[child] !== byte) child = this.siblings[child] ?? 0
    return child
  }

  /** Its beginnings know how short a word may still be, its last state that one ends here. */
  private mark(word: Uint8Array): void {
    const last = word.reduce((state, byte) => {
      const child = this.childOf(state, byte)
      this.shortest[child] = Math.min(this.shortest[child] ?? word.length, word.length)
      return child
    }, 0)
    this.longest[last] = word.length
  }

  /** The first state that is free afterwards. */
  private add(word: Uint8Array, free: number): number {
    let state = 0
    let next = free
    for (const byte of word) {
      let child = this.childOf(state, byte)
      if (child === 0) {
        child = next++
        this.bytes[child] = byte
        this.depths[child] = (this.depths[state] ?? 0) + 1
        this.siblings[child] = this.children[state] ?? 0
        this.children[state] = child
      }
      state = child
    }
    return next
  }

  /** In the order of depth: a fallback is always less deep, so it is done by then. */
  private link(): void {
    const queue = [0]
    for (const state of queue) {
      const fallback = this.fallbacks[state] ?? 0
      this.longest[state] = Math.max(this.longest[state] ?? 0, this.longest[fallback] ?? 0)
      if (state <= this.lastShallow) this.table.copyWithin(state * 256, 0, 256)
      for (let child = this.children[state] ?? 0; child !== 0; child = this.siblings[child] ?? 0) {
        const byte = this.bytes[child] ?? 0
        this.fallbacks[child] = state === 0 ? 0 : this.step(fallback, byte)
        if (state <= this.lastShallow) this.table[state * 256 + byte] = child
        queue.push(child)
      }
    }
  }
}
