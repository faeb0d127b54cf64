/**
 * Masks what a command says: on its way into a log, and what is kept of it. Imports the masker and the command.
 */
import type { CommandEnd } from '../process/command.js'
import type { Masker } from './masker.js'

export type OutputSink = (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void | Promise<void>

export interface MaskedOutput {
  readonly write: OutputSink
  /** Hands on what was held back. To be called once, when nothing more comes. */
  readonly end: () => Promise<void>
}

/** Both streams are masked by themselves: a secret does not begin on one and end on the other. */
export function maskOutput(masker: Masker, sink: OutputSink): MaskedOutput {
  const [stdout, stderr] = [masker.stream(), masker.stream()]
  if (stdout === null || stderr === null) return { write: sink, end: () => Promise.resolve() }
  const streams = { stdout, stderr }
  const hand = (name: 'stdout' | 'stderr', bytes: Uint8Array): void | Promise<void> =>
    bytes.length === 0 ? undefined : sink(name, bytes)
  return {
    write: (name, bytes) => hand(name, streams[name].write(bytes)),
    end: async () => {
      await hand('stdout', stdout.end())
      await hand('stderr', stderr.end())
    },
  }
}

/**
 * The texts of an end; before they are cut to what a message holds. Not `stdout`: that is captured as a value, and masked
 * as one; in the text of JSON a number that is a secret would leave no JSON.
 */
export function maskCommandEnd(masker: Masker, end: CommandEnd): CommandEnd {
  if (masker.isEmpty) return end
  return {
    ...end,
    spawnError: end.spawnError === null ? null : maskError(masker, end.spawnError),
    stdoutTail: masker.maskText(end.stdoutTail),
    stderrTail: masker.maskText(end.stderrTail),
  }
}

function maskError(masker: Masker, error: NodeJS.ErrnoException): Error {
  const message = masker.maskText(error.message)
  if (message === error.message) return error
  return Object.assign(new Error(message), error.code === undefined ? {} : { code: error.code })
}
