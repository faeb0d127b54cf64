/**
 * Reads a source until a signal says to stop, without waiting for what the source gives next: standard input may give
 * nothing for ever, and of a large file a filter may let nothing through. Imports nothing.
 */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const iterator = source[Symbol.asyncIterator]()
  // One listener for all: a race of each read with the signal would keep something of every read.
  let stop: (reason: unknown) => void = () => undefined
  const onAbort = (): void => stop(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    for (;;) {
      signal.throwIfAborted()
      const next = await new Promise<IteratorResult<T, unknown>>((resolve, reject) => {
        stop = reject
        iterator.next().then(resolve, reject)
      })
      if (next.done === true) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    // Not waited for: it ends when the source gives something, which may be never.
    iterator.return?.().catch(() => undefined)
  }
}
