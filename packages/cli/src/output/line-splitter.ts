/** Whole lines out of bytes that come in pieces. Imports nothing. */

/** A longer line is split into several: until its end came, all of it would be held in memory. */
const MAX_LINE_BYTES = 64 * 1024
const NEWLINE = 0x0a

export class LineSplitter {
  private held: Uint8Array[] = []
  private heldBytes = 0

  /** The lines that are complete now, each with its newline. */
  push(bytes: Uint8Array): Uint8Array[] {
    const lines: Uint8Array[] = []
    let start = 0
    while (start < bytes.length) {
      const newline = bytes.indexOf(NEWLINE, start)
      const room = start + MAX_LINE_BYTES - this.heldBytes
      const end = newline === -1 || newline >= room ? Math.min(room, bytes.length) : newline + 1
      this.hold(bytes.subarray(start, end))
      if (end === newline + 1 || this.heldBytes >= MAX_LINE_BYTES) lines.push(this.take())
      start = end
    }
    return lines
  }

  /** What has no newline yet; null if there is nothing. */
  end(): Uint8Array | null {
    return this.heldBytes === 0 ? null : this.take()
  }

  private hold(bytes: Uint8Array): void {
    this.held.push(bytes)
    this.heldBytes += bytes.length
  }

  private take(): Uint8Array {
    const line = Buffer.concat(this.held)
    this.held = []
    this.heldBytes = 0
    return line[line.length - 1] === NEWLINE ? line : Buffer.concat([line, Buffer.of(NEWLINE)])
  }
}
