/**
 * Where the output of one attempt goes: masked, into its log, to whoever is shown it, and now and then its last line as
 * an event. Imports masking and the state directory.
 */
import { maskOutput, type MaskedOutput } from '../masking/masked-output.js'
import type { Masker } from '../masking/masker.js'
import type { LimitedLog } from './limited-log.js'
import { lastLine } from '../state/last-line.js'
import { type OutputListener, ShownOutput, type StepAttempt } from './attempt-output.js'

/** How often the last line of a step is told. */
const LINE_EVERY_MS = 250

export interface SinkParts {
  readonly log: LimitedLog
  readonly masker: Masker
  readonly output: OutputListener | undefined
  readonly onLine: (line: string) => void
}

export class AttemptSink {
  private readonly log: LimitedLog
  private readonly shown: ShownOutput
  private readonly masked: MaskedOutput

  constructor(of: StepAttempt, { log, masker, output, onLine }: SinkParts) {
    this.log = log
    this.shown = new ShownOutput(output, of)
    const tell = lastLines(onLine)
    this.masked = maskOutput(masker, (stream, bytes) => {
      tell(bytes)
      return both(log.write(stream, bytes), this.shown.write(stream, bytes))
    })
  }

  /** What it returns is waited for. */
  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): void | Promise<void> {
    return this.masked.write(stream, bytes)
  }

  /** A log that cannot be written is closed all the same. */
  async close(): Promise<void> {
    try {
      try {
        await this.masked.end()
      } finally {
        await this.log.close()
      }
    } finally {
      this.shown.end(this.log.path)
    }
  }
}

/** Tells the last line now and then, as it is in the log: masked, wherever the output was cut. */
function lastLines(onLine: (line: string) => void): (bytes: Uint8Array) => void {
  let toldAtMs = -Infinity
  return (bytes) => {
    if (performance.now() - toldAtMs < LINE_EVERY_MS) return
    const line = lastLine(bytes)
    if (line === '') return
    toldAtMs = performance.now()
    onLine(line)
  }
}

/** Waits for both, if there is something to wait for. */
function both(first: void | Promise<void>, second: void | Promise<void>): void | Promise<void> {
  if (first === undefined || second === undefined) return first ?? second
  return Promise.all([first, second]).then(() => undefined)
}
