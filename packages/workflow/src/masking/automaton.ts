/**
 * Finds many words in a stream of bytes at once, one table look-up per byte, whatever the words and the bytes are
 * (Aho–Corasick). Imports nothing.
 *
 * A state is the longest end of what was read that some word begins with. Invariants: `depths` is the length of that end:
 * nothing before it can belong to a word that is still to come. `longest` is the length of the longest word that ends
 * here, or 0.
 */
export interface Automaton {
  /** By byte: its class. Bytes that are in no word are one class, 0; some bytes are in no text, so there is room. */
  readonly classes: Uint8Array
  readonly classCount: number
  /** By state and class: the next state. */
  readonly next: Int32Array
  readonly depths: Int32Array
  readonly longest: Int32Array
  /** By state: the length of the shortest word that begins with what it stands for. */
  readonly shortest: Int32Array
}

export function buildAutomaton(words: readonly Uint8Array[]): Automaton {
  const classes = new Uint8Array(256)
  let classCount = 1
  for (const word of words) for (const byte of word) if (classes[byte] === 0) classes[byte] = classCount++
  const most = words.reduce((sum, word) => sum + word.length, 1)
  const next = new Int32Array(most * classCount).fill(-1)
  const depths = new Int32Array(most)
  const longest = new Int32Array(most)
  const shortest = new Int32Array(most).fill(most)
  let count = 1
  for (const word of words) {
    let state = 0
    for (const byte of word) {
      const slot = state * classCount + (classes[byte] ?? 0)
      if (next[slot] === -1) {
        depths[count] = (depths[state] ?? 0) + 1
        next[slot] = count++
      }
      state = next[slot] ?? 0
      shortest[state] = Math.min(shortest[state] ?? most, word.length)
    }
    longest[state] = word.length
  }
  link(next, longest, classCount, count)
  return { classes, classCount, next, depths, longest, shortest }
}

/** Where no word goes on, the longest end that is the beginning of another one does. In the order of depth. */
function link(next: Int32Array, longest: Int32Array, classCount: number, count: number): void {
  const fallbacks = new Int32Array(count)
  const queue = [0]
  for (const state of queue) {
    const fallback = fallbacks[state] ?? 0
    longest[state] = Math.max(longest[state] ?? 0, longest[fallback] ?? 0)
    for (let kind = 0; kind < classCount; kind++) {
      const slot = state * classCount + kind
      const after = state === 0 ? 0 : (next[fallback * classCount + kind] ?? 0)
      const child = next[slot] ?? -1
      if (child === -1) next[slot] = after
      else {
        fallbacks[child] = after
        queue.push(child)
      }
    }
  }
}
