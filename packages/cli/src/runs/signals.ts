/**
 * SIGINT, SIGTERM and SIGHUP while a run is conducted: the first asks for a stop that saves everything, the second kills
 * what runs and ends the process at once; the ledger loses nothing. Output that nobody reads any more stops the run too.
 * Imports the workflow package and the exit codes.
 *
 * Invariant: only a person makes it a second one. A terminal that closes says so several times: by the system, by the
 * shell, and by refusing what is written.
 */
import { killCommands } from '@reprise/workflow/internal'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { onOutputLoss } from '../output-loss.js'

export interface Stop {
  readonly signal: AbortSignal
  /** Which one came, if any. */
  code(): ExitCode | undefined
}

const CODES = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.terminated } as const
type SignalName = keyof typeof CODES

/** `onFirst` and `onSecond` say to people what happens now. */
export async function withSignals<T>(
  act: (stop: Stop) => Promise<T>,
  say: { onFirst(): void; onSecond(): void; onLoss?(): void },
): Promise<T> {
  const controller = new AbortController()
  let code: ExitCode | undefined
  let isAsked = false
  const stop = (as: ExitCode, why: string): void => {
    code ??= as
    controller.abort(new Error(why))
  }
  const hear = (name: SignalName): void => {
    if (isAsked && name !== 'SIGHUP') {
      killCommands()
      say.onSecond()
      process.exit(CODES[name])
    }
    if (!isAsked) say.onFirst()
    isAsked = true
    stop(CODES[name], name)
  }
  const names = Object.keys(CODES) as SignalName[]
  for (const name of names) process.on(name, hear)
  const unhear = onOutputLoss((lost) => {
    say.onLoss?.()
    stop(lost ?? EXIT.terminated, 'the output is not read any more')
  })
  try {
    return await act({ signal: controller.signal, code: () => code })
  } finally {
    unhear()
    for (const name of names) process.off(name, hear)
  }
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
