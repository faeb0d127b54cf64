/** Watches until Ctrl-C, which ends the watching and nothing else. Imports nothing. */

export interface SignalWatch {
  isStopped(): boolean
  /** Aborts with the signal that comes. */
  readonly signal: AbortSignal
  /** So long, or until a signal comes. */
  wait(ms: number): Promise<void>
  /** Signals mean again what they usually do. */
  end(): void
}

export function untilSignal(): SignalWatch {
  const stopped = new AbortController()
  let wake: () => void = () => undefined
  const hear = (): void => {
    stopped.abort()
    wake()
  }
  process.once('SIGINT', hear)
  process.once('SIGTERM', hear)
  return {
    isStopped: () => stopped.signal.aborted,
    signal: stopped.signal,
    wait: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
        if (stopped.signal.aborted) wake()
      }),
    end: () => {
      process.off('SIGINT', hear)
      process.off('SIGTERM', hear)
    },
  }
}
