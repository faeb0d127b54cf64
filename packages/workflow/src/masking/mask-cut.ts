/**
 * Secrets in a text that somebody may have cut: an error that shows the beginning of an answer, of a value, of a line. The
 * beginning of a secret is masked too, wherever it ends, if it is half of the secret or more. For texts of some length
 * only, not for streams: what is no secret may look like the half of one. Imports the automaton.
 */
import type { Automaton } from './automaton.js'
import { addSpan } from './mask-stream.js'

/** Shorter ones are found by chance. */
const SHORTEST_BEGINNING = 6

/** Starts and ends of what is secret; in order, not overlapping nor touching. */
export function cutSpans(automaton: Automaton, bytes: Uint8Array): number[] {
  const { depths, longest, shortest } = automaton
  const spans: number[] = []
  let state = 0
  // One step further than the text: its end cuts as well.
  for (let index = 0; index <= bytes.length; index++) {
    const before = state
    const depth = depths[before] ?? 0
    state = index < bytes.length ? automaton.step(before, bytes[index] ?? 0) : 0
    const isBroken = (depths[state] ?? 0) <= depth
    if (isBroken && depth >= SHORTEST_BEGINNING && depth * 2 >= (shortest[before] ?? Infinity)) {
      addSpan(spans, index - depth, index)
    }
    const length = longest[state] ?? 0
    if (length > 0) addSpan(spans, index + 1 - length, index + 1)
  }
  return spans
}
