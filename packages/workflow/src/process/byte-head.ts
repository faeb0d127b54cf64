/**
 * The beginning of a stream, up to a number of bytes, and whether there was more. Imports Node only.
 */

const FIRST_ROOM = 1024

export class ByteHead {
  exceeded = false
  private readonly most: number
  private kept = Buffer.alloc(0)
  private filled = 0

  constructor(most: number) {
    this.most = most
  }

  push(bytes: Uint8Array): void {
    const room = this.most - this.filled
    if (bytes.length > room) this.exceeded = true
    const taken = bytes.length > room ? bytes.subarray(0, room) : bytes
    this.makeRoom(this.filled + taken.length)
    this.kept.set(taken, this.filled)
    this.filled += taken.length
  }

  text(): string {
    return this.kept.toString('utf8', 0, this.filled)
  }

  private makeRoom(need: number): void {
    if (need <= this.kept.length) return
    const larger = Buffer.alloc(Math.min(this.most, Math.max(need, this.kept.length * 2, FIRST_ROOM)))
    this.kept.copy(larger, 0, 0, this.filled)
    this.kept = larger
  }
}
