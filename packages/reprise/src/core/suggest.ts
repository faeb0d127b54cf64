/**
 * "Did you mean …?": the candidate that a misspelt word was probably meant to be.
 * Invariant: work is bounded whatever the word: long words are not compared, and at most three edits are tried.
 * Imports nothing.
 */

const MAX_WORD = 32
const MAX_EDITS = 3

/** The nearest candidate, letter case aside, or undefined when none is near; of equally near ones the first. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > MAX_WORD) return undefined
  // One edit makes any letter of any other: a word of one letter is near only to itself.
  const limit = word.length === 1 ? 0 : Math.min(MAX_EDITS, Math.ceil(word.length / 4))
  for (let edits = 0; edits <= limit; edits++) {
    const found = candidates.find((candidate) => reaches(word.toLowerCase(), candidate.toLowerCase(), edits))
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether so many edits make `b` of `a`: a letter changed, left out, put in, or swapped with its neighbour. */
function reaches(a: string, b: string, edits: number): boolean {
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  const [x, y] = [a.slice(same), b.slice(same)]
  if (x === y) return true
  if (edits === 0) return false
  const [restX, restY] = [x.slice(1), y.slice(1)]
  if (reaches(restX, restY, edits - 1) || reaches(restX, y, edits - 1) || reaches(x, restY, edits - 1)) return true
  return x[0] === y[1] && x[1] === y[0] && reaches(x.slice(2), y.slice(2), edits - 1)
}
