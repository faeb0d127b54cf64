/** What is wrong with a number that any number may stand for. Imports nothing. */

/** NaN, infinity, and whole numbers that cannot be told apart from their neighbours: 2^53 + 1 is read as 2^53. */
export function faultOfNumber(value: unknown): string | undefined {
  if (typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return undefined
  return Number.isFinite(value) ? 'is beyond what numbers can tell apart' : 'is not a finite number'
}
