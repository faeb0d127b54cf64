/** Axes: where they end, and where their ticks are. Shared by the charts of the terminal and of documents. Imports nothing. */

const NICE = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600]

/** A round number that is not below this one. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return (NICE.find((factor) => factor * power >= value) ?? 10) * power
}

/** Round times in seconds from 0 to the end, at most so many. */
export function timeTicks(endSeconds: number, most: number): number[] {
  const step = TIME_STEPS.find((candidate) => endSeconds / candidate + 1 <= most) ?? endSeconds
  return Array.from({ length: Math.floor(endSeconds / Math.max(1, step)) + 1 }, (_, index) => index * step)
}

/** Means of equal parts, so many of them. */
export function resample(values: readonly number[], parts: number): number[] {
  return Array.from({ length: parts }, (_, part) => {
    const from = Math.floor((part * values.length) / parts)
    const to = Math.max(from + 1, Math.floor(((part + 1) * values.length) / parts))
    return meanOf(values.slice(from, to))
  })
}

export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}
