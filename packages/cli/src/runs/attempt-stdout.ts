/**
 * The output of a command that may be retried. A reader of stdout must not get pieces of attempts that failed before the
 * one that counts, so the stdout of an attempt is held until it is decided: it goes to stderr if the attempt is retried,
 * and to stdout if it is the last one, however that ended. Imports Node and output.
 *
 * On a terminal nothing is held: people want to see what goes on. Nor is the last attempt that the policy allows, since
 * nothing can follow it. What is held is in memory up to a limit, then in a file without a name.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { written } from '../output/backpressure.js'
import type { Output, ProcessIo } from '../process-io.js'

const MEMORY_BYTES = 1024 * 1024
const CHUNK_BYTES = 64 * 1024

export class AttemptStdout {
  private readonly io: Pick<ProcessIo, 'stdout' | 'stderr'>
  /** Where the stdout of the last attempt goes. */
  private readonly target: Output
  private readonly isHolding: boolean
  private readonly attempts: number
  private held = new HeldBytes()
  /** This attempt and those before it have failed and are retried. */
  private retried = 0
  private releasing: Promise<void> = Promise.resolve()
  private isBroken = false

  /**
   * With `isData`, stdout is for the data of this program, and the command's output goes to stderr. `attempts`: the number
   * that the policy allows.
   */
  constructor(io: Pick<ProcessIo, 'stdout' | 'stderr'>, isData: boolean, attempts: number) {
    this.attempts = attempts
    this.io = io
    this.target = isData ? io.stderr : io.stdout
    this.isHolding = !isData && io.stdout.isTTY !== true
  }

  readonly output = (stream: 'stdout' | 'stderr', bytes: Uint8Array, attempt: number): Promise<void> | void => {
    const { stdout, stderr } = this.io
    // A command whose time is over may write until it ends, when the next attempt has been decided already.
    if (stream === 'stderr' || (this.isHolding && attempt <= this.retried)) return written(stderr, bytes)
    if (!this.isHolding || this.isBroken || attempt >= this.attempts) return written(this.target, bytes)
    try {
      this.held.add(bytes)
      return undefined
    } catch (error) {
      // Better mixed than lost.
      this.isBroken = true
      const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message
      stderr.write(`reprise: output cannot be held until the attempt is decided (${why}): it is written as it comes\n`)
      this.release(stdout)
      return this.releasing.then(() => written(stdout, bytes))
    }
  }

  /** The attempt has failed, and another follows. */
  retry(attempt: number): void {
    this.retried = attempt
    if (this.isHolding) this.release(this.io.stderr)
  }

  /** No attempt follows. */
  async end(): Promise<void> {
    this.release(this.target)
    await this.releasing
  }

  private release(output: Output): void {
    const { held } = this
    this.held = new HeldBytes()
    const first = held.writeMemory(output)
    this.releasing = Promise.all([this.releasing, first]).then(() => held.writeFile(output))
  }
}

class HeldBytes {
  private readonly chunks: Uint8Array[] = []
  private length = 0
  private file: number | undefined

  add(bytes: Uint8Array): void {
    if (this.file === undefined && this.length + bytes.length <= MEMORY_BYTES) {
      this.chunks.push(Uint8Array.from(bytes))
      this.length += bytes.length
      return
    }
    this.file ??= openUnnamed()
    for (let at = 0; at < bytes.length; ) at += writeSync(this.file, bytes, at)
  }

  /** At once, so that lines that are said afterwards stand behind it. */
  writeMemory(output: Output): Promise<void> | void {
    const chunks = this.chunks.splice(0)
    return chunks.length === 0 ? undefined : written(output, Buffer.concat(chunks))
  }

  async writeFile(output: Output): Promise<void> {
    const { file } = this
    if (file === undefined) return
    this.file = undefined
    try {
      const buffer = Buffer.alloc(CHUNK_BYTES)
      for (let at = 0; ; ) {
        const count = readSync(file, buffer, 0, CHUNK_BYTES, at)
        if (count === 0) return
        at += count
        await written(output, Uint8Array.from(buffer.subarray(0, count)))
      }
    } finally {
      closeSync(file)
    }
  }
}

/** Removed as soon as it is open, so no ending of this process leaves it behind. */
function openUnnamed(): number {
  const name = path.join(tmpdir(), `reprise-stdout-${randomUUID()}`)
  const file = openSync(name, 'wx+', 0o600)
  unlinkSync(name)
  return file
}
