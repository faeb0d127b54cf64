/** "Did you mean …?" for names that people give. Imports nothing. */

const MAX_WORD = 64

/** The candidate that fewest edits make of the word, if a third of its letters or fewer are wrong. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let [best, least] = [undefined as string | undefined, Math.ceil(word.length / 3) + 1]
  for (const candidate of candidates) {
    if (Math.max(word.length, candidate.length) > MAX_WORD) continue
    const edits = distance(word.toLowerCase(), candidate.toLowerCase())
    if (edits < least) [best, least] = [candidate, edits]
  }
  return best
}

/** Letters to change, leave out or put in (Levenshtein), a row at a time. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
