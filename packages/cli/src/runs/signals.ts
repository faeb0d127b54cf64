/**
 * SIGINT and SIGTERM while a run is conducted: the first asks for a stop that saves everything, the second ends the
 * process at once. What runs then is ended by its keepers, and the ledger loses nothing. Imports the exit codes.
 */
import { EXIT, type ExitCode } from '../exit-codes.js'

export interface Stop {
  readonly signal: AbortSignal
  /** Which one came, if any. */
  code(): ExitCode | undefined
}

const CODES = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const

/** `onFirst` and `onSecond` say to people what happens now. */
export async function withSignals<T>(
  act: (stop: Stop) => Promise<T>,
  say: { onFirst(): void; onSecond(): void },
): Promise<T> {
  const controller = new AbortController()
  let code: ExitCode | undefined
  const hear = (name: keyof typeof CODES): void => {
    if (code !== undefined) {
      say.onSecond()
      process.exit(CODES[name])
    }
    code = CODES[name]
    say.onFirst()
    controller.abort(new Error(name))
  }
  const names = Object.keys(CODES) as (keyof typeof CODES)[]
  for (const name of names) process.on(name, hear)
  try {
    return await act({ signal: controller.signal, code: () => code })
  } finally {
    for (const name of names) process.off(name, hear)
  }
}
