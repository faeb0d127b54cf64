/** Which of some things in order have been moved. Pure. Imports nothing. */

/** The fewest that must be moved to make one order of the other; both hold the same names, each once. */
export function reorderedAmong(before: readonly string[], after: readonly string[]): string[] {
  const places = new Map(before.map((name, index) => [name, index]))
  const staying = longestRise(after.map((name) => places.get(name) ?? -1))
  return after.filter((name) => !staying.has(places.get(name) ?? -1))
}

/** A longest rising part of distinct numbers: those that can stay where they are. */
function longestRise(numbers: readonly number[]): ReadonlySet<number> {
  /** By length, the smallest number that a rising part of it ends with. */
  const ends: number[] = []
  const previous = new Map<number, number | undefined>()
  for (const number of numbers) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? Infinity) < number) low = middle + 1
      else high = middle
    }
    previous.set(number, ends[low - 1])
    ends[low] = number
  }
  const rise = new Set<number>()
  for (let number = ends.at(-1); number !== undefined; number = previous.get(number)) rise.add(number)
  return rise
}
