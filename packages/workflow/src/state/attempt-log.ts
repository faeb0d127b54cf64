/**
 * The output of one attempt, on its way into a file: both streams as they come, without marks, so that the file reads as
 * a terminal would have shown it.
 *
 * Invariants: the file is made at the first byte; silence leaves none. Bytes are written in order and in batches; who
 * writes faster than the disk is told to wait. The first error of the disk is told to whoever asks first, once, and
 * nothing is written after it. Given bytes are not copied: they must not change. Imports Node, own files and the error.
 */
import { closeSync, writev } from 'node:fs'
import { promisify } from 'node:util'
import { openOwnFile } from './own-files.js'
import { stateErrorOf, type StateError } from './state-error.js'

/** More than this in memory, and the writer waits. */
const HIGH_BYTES = 256 * 1024
/** Of one call to the system: below its limit of 1024 pieces. */
const MOST_PIECES = 512

/** What it needs of the system; others in tests. */
export interface LogFiles {
  open(path: string): number
  writev(fd: number, pieces: readonly Uint8Array[]): Promise<number>
  close(fd: number): void
}

const writeAsync = promisify(writev)
export const SYSTEM_FILES: LogFiles = {
  open: openOwnFile,
  writev: async (fd, pieces) => (await writeAsync(fd, pieces)).bytesWritten,
  close: closeSync,
}

export class AttemptLog {
  readonly path: string
  private readonly files: LogFiles
  private fd: number | null = null
  private queue: Uint8Array[] = []
  private queuedBytes = 0
  private flushing: Promise<void> | null = null
  private failure: StateError | null = null
  private isTold = false
  private isClosed = false

  constructor(path: string, files: LogFiles = SYSTEM_FILES) {
    this.path = path
    this.files = files
  }

  /** A promise: wait for it before the next. */
  write(_stream: 'stdout' | 'stderr', bytes: Uint8Array): void | Promise<void> {
    if (this.isClosed) throw new Error(`The log ${this.path} is closed`)
    this.tellFailure()
    if (bytes.length === 0 || this.failure !== null) return
    this.queue.push(bytes)
    this.queuedBytes += bytes.length
    this.flushing ??= this.flush()
    if (this.queuedBytes > HIGH_BYTES) return this.flushing.then(() => this.tellFailure())
  }

  /** All of it is in the file; whether it is on the disk is left to the system. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.flushing
    if (this.fd !== null) {
      const { fd } = this
      this.fd = null
      this.attempt(() => this.files.close(fd))
    }
    this.tellFailure()
  }

  /** Ends when nothing is left to write. */
  private async flush(): Promise<void> {
    // What else is said in this turn goes with it.
    await new Promise((resolve) => setImmediate(resolve))
    try {
      this.fd ??= this.files.open(this.path)
      while (this.queue.length > 0) await this.writeSome(this.fd)
    } catch (error) {
      this.fail(error)
    }
    this.flushing = null
  }

  private async writeSome(fd: number): Promise<void> {
    let pieces = this.queue.splice(0, MOST_PIECES)
    while (pieces.length > 0) {
      const written = await this.files.writev(fd, pieces)
      this.queuedBytes -= written
      pieces = behind(pieces, written)
    }
  }

  private attempt(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.fail(error)
    }
  }

  private fail(error: unknown): void {
    this.failure ??= stateErrorOf(this.path, error)
    this.queue = []
    this.queuedBytes = 0
  }

  private tellFailure(): void {
    if (this.failure === null || this.isTold) return
    this.isTold = true
    throw this.failure
  }
}

/** What is left when so many bytes are written. */
function behind(pieces: readonly Uint8Array[], written: number): Uint8Array[] {
  let rest = written
  const left = pieces.findIndex((piece) => {
    if (piece.length > rest) return true
    rest -= piece.length
    return false
  })
  if (left === -1) return []
  const [first = new Uint8Array(), ...others] = pieces.slice(left)
  return [first.subarray(rest), ...others]
}
