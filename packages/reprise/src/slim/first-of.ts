/**
 * Waiting for whatever comes first: an end, a time, the caller's signal. Imports types of core only.
 */
import type { Clock } from '../core/time.js'

/** Whichever is first gives the result, and leaves no timer and no listener of the others. */
export function firstOf<Result>(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal | undefined },
  atMs: number,
  onTime: () => Result,
  onAbort: (reason: unknown) => Result,
  begin: (end: (result: Result) => void) => unknown,
): Promise<Result> {
  return new Promise((resolve) => {
    const end = (result: Result): void => {
      clock.cancel(timer)
      signal?.removeEventListener('abort', abort)
      resolve(result)
    }
    const timer = { fire: () => end(onTime()) }
    const abort = (): void => end(onAbort(signal?.reason))
    if (signal?.aborted) return abort()
    signal?.addEventListener('abort', abort)
    if (atMs < Infinity) clock.schedule(timer, atMs)
    begin(end)
  })
}
