/**
 * Takes what a program says as fast as somebody takes it from here, and no faster: while an answer is waited for nothing is
 * read, the pipe fills, and the program stops.
 *
 * Invariants: what was read was handed on, in order, before `ended` settles. An error of the taker is told once; what
 * comes after it is read and dropped, so that the program does not hang. Imports Node only.
 */
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

/** Nothing came for so many looks in a row: the pipe is empty, and who still holds it says nothing. */
const QUIET_LOOKS = 7
const LOOK_MS = 20
/** Who holds the pipe and talks on is not listened to for longer. */
const MOST_LOOKS = 50

export class OutputPump {
  /** At the end of the stream, or when it was closed. */
  readonly ended: Promise<void>
  private readonly stream: Readable
  private readonly take: (bytes: Uint8Array) => void | Promise<void>
  private readonly onFailure: (error: unknown) => void
  private settle: () => void = () => undefined
  private hasStopped = false
  private isOver = false
  private isWaiting = false
  private hasFailed = false
  private reads = 0

  constructor(
    stream: Readable,
    take: (bytes: Uint8Array) => void | Promise<void>,
    onFailure: (error: unknown) => void,
  ) {
    this.stream = stream
    this.take = take
    this.onFailure = onFailure
    this.ended = new Promise((resolve) => (this.settle = resolve))
    stream.once('end', () => this.stop())
    stream.once('close', () => this.stop())
    // A pipe that cannot be read has ended.
    stream.on('error', () => this.stop())
    // Not `data` and `pause`: Node lets the streams of a child flow again when it exits.
    stream.on('readable', () => this.pull())
  }

  /**
   * Whether the end came. Otherwise somebody holds the pipe; what was in it has been heard. Who takes it is waited for
   * as long as it takes, unless there is no patience left.
   */
  async drain(isPatient: () => boolean): Promise<boolean> {
    let quiet = 0
    let heard = this.reads
    for (let looks = 0; looks < MOST_LOOKS && quiet < QUIET_LOOKS && !this.isOver; ) {
      await Promise.race([this.ended, looks < 2 ? nextTurn() : sleep(LOOK_MS)])
      if (this.isWaiting && isPatient()) continue
      looks++
      quiet = !this.isWaiting && this.reads === heard ? quiet + 1 : 0
      heard = this.reads
    }
    return this.isOver
  }

  close(): void {
    this.stream.destroy()
  }

  private pull(): void {
    while (!this.isWaiting) {
      const bytes = this.stream.read() as Uint8Array | null
      if (bytes === null) return
      this.hear(bytes)
    }
  }

  private hear(bytes: Uint8Array): void {
    this.reads++
    if (this.hasFailed) return
    try {
      const answer = this.take(bytes)
      if (answer !== undefined) this.wait(answer)
    } catch (error) {
      this.fail(error)
    }
  }

  private wait(answer: Promise<void>): void {
    this.isWaiting = true
    answer
      .catch((error: unknown) => this.fail(error))
      .finally(() => {
        this.isWaiting = false
        if (this.hasStopped) this.stop()
        else this.pull()
      })
  }

  /** The end may come while the last of it is still being taken. */
  private stop(): void {
    this.hasStopped = true
    if (this.isWaiting) return
    this.isOver = true
    this.settle()
  }

  private fail(error: unknown): void {
    if (!this.hasFailed) this.onFailure(error)
    this.hasFailed = true
  }
}
