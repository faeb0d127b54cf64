/**
 * The log of an attempt that may say more than is kept: its beginning and its end are, and a line between them says how
 * much is missing and which limit cut it. Imports the log, the end of a stream and sizes.
 *
 * Invariants: the file never holds more than the limit and the two lines; the end is in memory until the attempt ends, at
 * most 1 MiB of it, so that a killed process leaves the beginning and the line that says that it was cut.
 */
import { formatBytes } from '../document/size.js'
import { ByteTail } from '../process/byte-tail.js'
import type { AttemptLog } from '../state/attempt-log.js'

const MOST_TAIL_BYTES = 1024 * 1024
/** What an attempt may always log, so that its failure can be looked into, however much the run has logged before. */
const ALWAYS_BYTES = 64 * 1024

/** What all attempts of a run may log together. */
export class LogAllowance {
  readonly mostBytes: number
  private usedBytes = 0
  private earlier: (() => number) | null

  /** `bytesOnDisk`: with what processes before have logged; looked up once, and not where little is logged. */
  constructor(mostBytes: number, bytesOnDisk: () => number) {
    this.mostBytes = mostBytes
    this.earlier = bytesOnDisk
  }

  get leftBytes(): number {
    if (this.earlier !== null && this.usedBytes >= Math.min(ALWAYS_BYTES, this.mostBytes)) {
      // What this process has logged is among it.
      this.usedBytes = Math.max(this.usedBytes, this.earlier())
      this.earlier = null
    }
    return Math.max(0, this.mostBytes - this.usedBytes)
  }

  use(bytes: number): void {
    this.usedBytes += bytes
  }
}

export class LimitedLog {
  private readonly log: AttemptLog
  private readonly mostBytes: number
  private readonly allowance: LogAllowance
  private writtenBytes = 0
  /** null: nothing has been left out. */
  private tail: ByteTail | null = null
  private tailBytes = 0
  private beyondBytes = 0
  private limit = ''

  constructor(log: AttemptLog, mostBytes: number, allowance: LogAllowance) {
    this.log = log
    this.mostBytes = mostBytes
    this.allowance = allowance
  }

  get path(): string {
    return this.log.path
  }

  /** A promise: wait for it before the next. */
  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): void | Promise<void> {
    if (this.tail !== null) return this.keep(bytes)
    const room = this.room(bytes.length)
    this.writtenBytes += Math.min(room, bytes.length)
    this.allowance.use(Math.min(room, bytes.length))
    if (room >= bytes.length) return this.log.write(stream, bytes)
    this.keep(bytes.subarray(room))
    const line = `\n[reprise: cut here, ${this.limit}; the end follows when the attempt ends]\n`
    return this.log.write(stream, Buffer.concat([bytes.subarray(0, room), Buffer.from(line)]))
  }

  async close(): Promise<void> {
    try {
      const end = this.end()
      if (end !== null) await this.log.write('stdout', end)
    } finally {
      await this.log.close()
    }
  }

  /** How much of these bytes goes to the file now; names the limit where that is not all. */
  private room(bytes: number): number {
    const ofAttempt = this.mostBytes - this.tailRoom(this.mostBytes) - this.writtenBytes
    const ofRun = Math.max(this.allowance.leftBytes, ALWAYS_BYTES - this.writtenBytes)
    const left = Math.min(ofAttempt, ofRun)
    if (left >= bytes) return bytes
    const [name, most] = ofAttempt <= ofRun ? ['max_log', this.mostBytes] : ['max_run_log', this.allowance.mostBytes]
    this.limit = `\`${name}\` is ${formatBytes(most)}`
    this.tailBytes = this.tailRoom(name === 'max_log' ? this.mostBytes : ALWAYS_BYTES)
    this.tail = new ByteTail(this.tailBytes)
    return Math.max(0, left)
  }

  private tailRoom(ofBytes: number): number {
    return Math.min(MOST_TAIL_BYTES, Math.floor(ofBytes / 2))
  }

  private keep(bytes: Uint8Array): void {
    this.tail?.push(bytes)
    this.beyondBytes += bytes.length
  }

  private end(): Buffer | null {
    if (this.tail === null) return null
    const kept = this.tail.bytes()
    this.allowance.use(kept.length)
    const missing = this.beyondBytes - kept.length
    if (missing === 0) return kept
    return Buffer.concat([Buffer.from(`[reprise: ${formatBytes(missing)} are left out here, ${this.limit}]\n`), kept])
  }
}
