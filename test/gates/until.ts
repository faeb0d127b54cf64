/** Waits for what other processes do. Imports nothing. */

/** What `look` gives, once it gives something. */
export async function until<T>(look: () => Promise<T | undefined>, what: string): Promise<T> {
  const endMs = performance.now() + 60_000
  while (performance.now() < endMs) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`${what} did not come true`)
}
