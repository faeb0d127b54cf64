/** Looking until Ctrl-C: that ends the looking, and nothing else. Imports nothing. */

export interface Looking {
  isStopped(): boolean
  /** So long, or until a signal comes. */
  wait(ms: number): Promise<void>
  /** Signals mean again what they usually do. */
  end(): void
}

export function untilSignal(): Looking {
  let stopped = false
  let wake: () => void = () => undefined
  const hear = (): void => {
    stopped = true
    wake()
  }
  process.once('SIGINT', hear)
  process.once('SIGTERM', hear)
  return {
    isStopped: () => stopped,
    wait: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
        if (stopped) wake()
      }),
    end: () => {
      process.off('SIGINT', hear)
      process.off('SIGTERM', hear)
    },
  }
}
