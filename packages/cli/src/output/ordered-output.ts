/**
 * An output that lines and whole files are written to, one after the other: what is said while a file is copied comes
 * after it. Imports Node, the types of process IO and the parts of output.
 *
 * Invariants: what can be written at once is; of a file, one piece is in memory; a reader that is slow is waited for.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'
import type { Output } from '../process-io.js'
import { written } from './backpressure.js'
import { harmless } from './harmless-text.js'

const CHUNK_BYTES = 64 * 1024
const NEWLINE = 0x0a

type Job = () => void | Promise<void>

export class OrderedOutput {
  private readonly output: Output
  /** Settles when everything so far is written; null when it is. Never rejects. */
  private busy: Promise<void> | null = null
  private failure: { readonly error: unknown } | null = null

  constructor(output: Output) {
    this.output = output
  }

  get isTerminal(): boolean {
    return this.output.isTTY === true
  }

  /** As it is. */
  text(text: string): void {
    void this.put(() => void this.output.write(text))
  }

  /** The caller waits for it before it hands over more. */
  bytes(bytes: Uint8Array): void | Promise<void> {
    return this.put(() => written(this.output, bytes))
  }

  /** A file as it is by then, with the texts around it. */
  file(path: string, begin: string, end: string): void {
    void this.put(async () => {
      this.output.write(begin)
      try {
        await this.copy(path)
      } finally {
        // What the beginning has opened is closed, also where the file cannot be read to its end.
        this.output.write(end)
      }
    })
  }

  /** Everything has been handed to the output, or the first failure to do so later is thrown. */
  async flushed(): Promise<void> {
    while (this.busy !== null) await this.busy
    if (this.failure !== null) throw this.failure.error
  }

  /** Something could not be shown; `flushed` throws the first such error. */
  readonly fail = (error: unknown): void => {
    this.failure ??= { error }
  }

  private put(job: Job): void | Promise<void> {
    const work = this.busy === null ? job() : this.busy.then(job)
    if (work === undefined) return
    const done: Promise<void> = work.catch(this.fail).finally(() => {
      if (this.busy === done) this.busy = null
    })
    this.busy = done
    return done
  }

  private async copy(path: string): Promise<void> {
    let file: FileHandle
    try {
      file = await open(path)
    } catch (error) {
      this.output.write(`(${path} cannot be read: ${(error as Error).message})\n`)
      return
    }
    try {
      await this.copyPieces(file)
    } finally {
      await file.close()
    }
  }

  private async copyPieces(file: FileHandle): Promise<void> {
    const decoder = new StringDecoder('utf8')
    let last = NEWLINE
    while (this.output.writable !== false) {
      // Its own each time: what is written may still be on its way when the next is read.
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
      const { bytesRead } = await file.read(buffer, 0, buffer.length)
      if (bytesRead === 0) break
      const bytes = buffer.subarray(0, bytesRead)
      last = bytes[bytesRead - 1] ?? NEWLINE
      await written(this.output, this.isTerminal ? Buffer.from(harmless(decoder.write(bytes))) : bytes)
    }
    if (last !== NEWLINE) this.output.write('\n')
  }
}
