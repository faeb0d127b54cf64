/**
 * Replaces secrets in a stream of bytes, wherever the chunks are cut.
 *
 * Invariants: the output is the same for every way to cut the input. What overlaps or touches becomes one mask, so no rest
 * of a secret shows beside another. No more is held back than the beginning of what may become a secret. A chunk with
 * nothing in it is handed on as it is, not copied. Imports the automaton.
 */
import type { Automaton } from './automaton.js'

const MASK = Buffer.from('***')
const NOTHING = Buffer.alloc(0)

export class MaskStream {
  private readonly automaton: Automaton
  private state = 0
  /** Read, and not yet handed on: it may be the beginning of a secret. */
  private held: Uint8Array = NOTHING
  /** Starts and ends of what is secret in `held`; in order, not overlapping nor touching. */
  private spans: number[] = []
  /** The last byte that was handed on was of a mask, which goes on if the next one is masked as well. */
  private isMasking = false

  constructor(automaton: Automaton) {
    this.automaton = automaton
  }

  /** What can be handed on. */
  write(bytes: Uint8Array): Uint8Array {
    const held = this.held.length
    const whole = held === 0 ? bytes : Buffer.concat([this.held, bytes])
    this.find(whole, held)
    return this.release(whole, whole.length - (this.automaton.depths[this.state] ?? 0))
  }

  /** What was held back: it was no secret after all. */
  end(): Uint8Array {
    this.state = 0
    return this.release(this.held, this.held.length)
  }

  private find(whole: Uint8Array, from: number): void {
    const { automaton } = this
    const { table, lastShallow, longest } = automaton
    let { state } = this
    for (let index = from; index < whole.length; index++) {
      const byte = whole[index] ?? 0
      state = state <= lastShallow ? (table[state * 256 + byte] ?? 0) : automaton.step(state, byte)
      if (state <= lastShallow) continue
      const length = longest[state] ?? 0
      if (length > 0) addSpan(this.spans, index + 1 - length, index + 1)
    }
    this.state = state
  }

  /** Hands on what is before `safe`, and keeps the rest with what is secret in it. */
  private release(whole: Uint8Array, safe: number): Uint8Array {
    this.held = whole.subarray(safe)
    if (this.spans.length === 0) {
      if (safe > 0) this.isMasking = false
      return whole.subarray(0, safe)
    }
    const parts: Uint8Array[] = []
    const kept: number[] = []
    let at = 0
    for (let index = 0; index < this.spans.length; index += 2) {
      const [start = 0, end = 0] = [this.spans[index], this.spans[index + 1]]
      if (start < safe) {
        if (start > at) this.isMasking = false
        parts.push(whole.subarray(at, start))
        if (!this.isMasking) parts.push(MASK)
        this.isMasking = true
        at = Math.min(end, safe)
      }
      if (end > safe) kept.push(Math.max(0, start - safe), end - safe)
    }
    if (safe > at) this.isMasking = false
    parts.push(whole.subarray(at, safe))
    this.spans = kept
    return Buffer.concat(parts)
  }
}

/** A new one may reach back over several. */
export function addSpan(spans: number[], start: number, end: number): void {
  let from = start
  while (spans.length > 0 && (spans.at(-1) ?? 0) >= from) {
    spans.pop()
    from = Math.min(from, spans.pop() ?? from)
  }
  spans.push(from, end)
}
