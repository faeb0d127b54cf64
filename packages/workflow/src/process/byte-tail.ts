/**
 * The end of a stream, in a ring that never grows beyond its size. Imports Node only.
 */

const FIRST_ROOM = 1024

export class ByteTail {
  private readonly most: number
  private ring = Buffer.alloc(0)
  /** Where the next byte goes, once the ring has all its room. */
  private at = 0
  private filled = 0
  private dropped = false

  constructor(most: number) {
    this.most = most
  }

  push(bytes: Uint8Array): void {
    const kept = bytes.length > this.most ? bytes.subarray(bytes.length - this.most) : bytes
    if (kept.length < bytes.length || this.filled + kept.length > this.most) this.dropped = true
    this.makeRoom(this.filled + kept.length)
    const first = Math.min(kept.length, this.ring.length - this.at)
    this.ring.set(kept.subarray(0, first), this.at)
    this.ring.set(kept.subarray(first), 0)
    this.at = this.ring.length === 0 ? 0 : (this.at + kept.length) % this.ring.length
    this.filled = Math.min(this.filled + kept.length, this.most)
  }

  /** Whole characters: half of one at the cut is dropped, bytes that are no UTF-8 become U+FFFD. */
  text(): string {
    return this.bytes().toString('utf8')
  }

  /** In order; half of a character at the cut is dropped. */
  bytes(): Buffer {
    const whole =
      this.filled < this.ring.length
        ? this.ring.subarray(0, this.filled)
        : Buffer.concat([this.ring.subarray(this.at), this.ring.subarray(0, this.at)])
    let start = 0
    if (this.dropped) while (start < 3 && isContinuation(whole[start])) start++
    return whole.subarray(start)
  }

  private makeRoom(need: number): void {
    const { length } = this.ring
    if (need <= length || length === this.most) return
    // It has not turned yet: what is there lies in order.
    const larger = Buffer.alloc(Math.min(this.most, Math.max(need, length * 2, FIRST_ROOM)))
    this.ring.copy(larger, 0, 0, this.filled)
    this.ring = larger
    this.at = this.filled % larger.length
  }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
