/** Waits for what other processes do. Imports nothing. */

/** What `look` gives, once it gives something other than false. */
export async function until<T>(look: () => Promise<T | false | undefined>, what: string): Promise<T> {
  const endMs = performance.now() + 90_000
  while (performance.now() < endMs) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`${what} did not come true`)
}
