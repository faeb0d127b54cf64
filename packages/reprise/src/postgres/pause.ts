/** How long to wait before a server that did not answer is asked again. Imports nothing. */
const FIRST_MS = 10
const MOST_MS = 1000

/** Longer with every failure in a row, and not the same for everybody. */
export function pauseMs(failures: number): number {
  const mostMs = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(failures, 10))
  return mostMs * (0.5 + Math.random() / 2)
}

export function pause(failures: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pauseMs(failures)))
}
