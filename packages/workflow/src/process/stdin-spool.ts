/**
 * Input that comes once and is read by every attempt: what has been read of it is kept in a file, and each attempt gets it
 * from the beginning while the rest is still coming.
 *
 * Invariants: nothing is read that no attempt has asked for, so a program that reads little spools little. The file has no
 * name: it is removed as soon as it is open, so no ending of this process leaves it behind. An attempt never sees the end
 * of the input before that has come: if it cannot be read or kept, the attempt fails instead. Imports Node,
 * the errors of the library and the command.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, constants, openSync } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { RepriseError } from 'reprise'
import type { CommandInput, InputStream } from './command.js'

declare module 'reprise' {
  interface ErrorByCode {
    stdin: StdinError
  }
}

const MAX_SPOOL_BYTES = 1024 ** 3
const CHUNK_BYTES = 64 * 1024

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left',
  EDQUOT: 'no space is left',
  EACCES: 'no permission',
  EROFS: 'the file system is read-only',
  ENOENT: 'there is no such directory',
}

/** The input cannot be given to every attempt. Never retried: another attempt would not get it either. */
export class StdinError extends RepriseError {
  declare readonly code: 'stdin'
  readonly retryable: false
  readonly suggestion: string | undefined

  constructor(message: string, suggestion?: string, cause?: unknown) {
    super('stdin', message, cause === undefined ? undefined : { cause })
    this.retryable = false
    this.suggestion = suggestion
  }

  override get name(): string {
    return 'StdinError'
  }
}

/** Of one attempt; `close` when that has ended. */
export interface AttemptInput {
  readonly input: CommandInput
  readonly close: () => void
}

export interface SpoolOptions {
  /** Where the file is for the moment that it has a name. */
  readonly directory: string
  readonly maxBytes?: number
}

export class StdinSpool {
  private readonly source: AsyncIterator<string | Uint8Array>
  private readonly options: SpoolOptions
  private file: Promise<FileHandle> | null = null
  private size = 0
  private hasEnded = false
  private failure: StdinError | null = null
  private pulling: Promise<void> | null = null

  constructor(source: AsyncIterable<string | Uint8Array>, options: SpoolOptions) {
    this.source = source[Symbol.asyncIterator]()
    this.options = options
  }

  /**
   * Waits for the end of an input that is short and there already: then a program gets a file, which it can open again
   * (`cat /dev/stdin`) and seek in. A longer one is not waited for.
   */
  async awaitShort(mostMs: number): Promise<void> {
    const stop = new AbortController()
    const late = sleep(mostMs, undefined, { signal: stop.signal }).catch(() => undefined)
    const ended = async (): Promise<void> => {
      // What is wrong with it is told to the attempt that reads it.
      while (!this.hasEnded && this.failure === null && this.size < CHUNK_BYTES && !stop.signal.aborted)
        await this.pull().catch(() => undefined)
    }
    await Promise.race([ended(), late])
    stop.abort()
  }

  async open(): Promise<AttemptInput> {
    const descriptor = this.hasEnded ? await this.reopened() : null
    if (descriptor !== null) return { input: { descriptor }, close: () => closeSync(descriptor) }
    return { input: { feed: (into) => this.feed(into) }, close: () => undefined }
  }

  /** No attempt reads any more. What the source is made of is its owner's to close. */
  async close(): Promise<void> {
    this.hasEnded = true
    const file = await this.file?.catch(() => undefined)
    await file?.close()
  }

  /** With a position of its own. null where the system has no way to it. */
  private async reopened(): Promise<number | null> {
    try {
      return openSync(`/proc/self/fd/${(await this.opened()).fd}`, constants.O_RDONLY)
    } catch {
      return null
    }
  }

  private async feed(into: InputStream): Promise<void> {
    const closed = new Promise<void>((resolve) => into.once('close', resolve))
    for (let at = 0; !into.destroyed; ) {
      if (at < this.size) {
        const bytes = await this.read(at)
        at += bytes.length
        if (!into.write(bytes)) await Promise.race([drained(into), closed])
      } else if (this.hasEnded) {
        into.end()
        return
      } else await Promise.race([this.pull(), closed])
    }
  }

  private async read(at: number): Promise<Uint8Array> {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, this.size - at))
    try {
      const { bytesRead } = await (await this.opened()).read(buffer, 0, buffer.length, at)
      if (bytesRead === 0) throw new Error('it is shorter than it was')
      return buffer.subarray(0, bytesRead)
    } catch (error) {
      throw new StdinError(`what was kept of stdin cannot be read: ${messageOf(error)}`, undefined, error)
    }
  }

  /** One piece more, for whoever waits for it. */
  private pull(): Promise<void> {
    this.pulling ??= this.take().finally(() => (this.pulling = null))
    return this.pulling
  }

  private async take(): Promise<void> {
    if (this.failure !== null) throw this.failure
    try {
      const { done, value } = await this.source.next()
      if (done === true) this.hasEnded = true
      else await this.keep(typeof value === 'string' ? Buffer.from(value) : value)
    } catch (error) {
      this.failure ??= error instanceof StdinError ? error : new StdinError(`stdin cannot be read: ${messageOf(error)}`)
      throw this.failure
    }
  }

  private async keep(bytes: Uint8Array): Promise<void> {
    const { maxBytes = MAX_SPOOL_BYTES, directory } = this.options
    if (this.size + bytes.length > maxBytes) {
      throw new StdinError(
        `stdin is larger than ${sizeText(maxBytes)}, which is the most that is kept for a second attempt`,
        'redirect a file instead (`< FILE`), or give it one attempt (`--attempts 1`)',
      )
    }
    try {
      const file = await this.opened()
      for (let done = 0; done < bytes.length; )
        done += (await file.write(bytes, done, bytes.length - done, this.size + done)).bytesWritten
      this.size += bytes.length
    } catch (error) {
      const message = `stdin cannot be kept in ${directory} for a second attempt: ${messageOf(error)}`
      throw new StdinError(message, 'TMPDIR names another directory; `--attempts 1` needs none', error)
    }
  }

  private opened(): Promise<FileHandle> {
    this.file ??= openNameless(this.options.directory)
    return this.file
  }
}

async function openNameless(directory: string): Promise<FileHandle> {
  const name = path.join(directory, `reprise-stdin-${randomUUID()}`)
  const file = await open(name, 'wx+', 0o600)
  await unlink(name)
  return file
}

function drained(stream: InputStream): Promise<void> {
  return new Promise((resolve) => stream.once('drain', resolve))
}

function messageOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  return REASONS[code] ?? message
}

function sizeText(bytes: number): string {
  return bytes >= 1024 ** 3 ? `${bytes / 1024 ** 3} GiB` : `${bytes} bytes`
}
