/**
 * Columns as PostgreSQL's binary arrays: a batch of rows is one array per column, whatever it holds. Nothing has to be
 * escaped, and numbers are exact. The driver sends a buffer as binary, as it is. Imports Node.
 */
const FLOAT8 = 701
const INT8 = 20
const TEXT = 25

const HEADER_BYTES = 20

function header(buffer: Buffer, type: number, length: number, hasNull: boolean): void {
  // An empty array has no dimensions.
  buffer.writeInt32BE(length === 0 ? 0 : 1, 0)
  buffer.writeInt32BE(hasNull ? 1 : 0, 4)
  buffer.writeInt32BE(type, 8)
  if (length === 0) return
  buffer.writeInt32BE(length, 12)
  buffer.writeInt32BE(1, 16)
}

const bytesOf = (length: number, each: number): number => (length === 0 ? 12 : HEADER_BYTES + length * each)

export function float8Array(values: readonly (number | null)[]): Buffer {
  const nulls = values.reduce<number>((count, value) => (value === null ? count + 1 : count), 0)
  const buffer = Buffer.allocUnsafe(bytesOf(values.length, 12) - nulls * 8)
  header(buffer, FLOAT8, values.length, nulls > 0)
  let at = HEADER_BYTES
  for (const value of values) {
    at = buffer.writeInt32BE(value === null ? -1 : 8, at)
    if (value !== null) at = buffer.writeDoubleBE(value, at)
  }
  return buffer
}

/** Whole numbers that JavaScript can hold. */
export function int8Array(values: readonly number[]): Buffer {
  const buffer = Buffer.allocUnsafe(bytesOf(values.length, 12))
  header(buffer, INT8, values.length, false)
  let at = HEADER_BYTES
  for (const value of values) {
    at = buffer.writeInt32BE(8, at)
    at = buffer.writeInt32BE(Math.floor(value / 2 ** 32), at)
    at = buffer.writeUInt32BE(value - Math.floor(value / 2 ** 32) * 2 ** 32, at)
  }
  return buffer
}

export function textArray(values: readonly (string | null)[]): Buffer {
  let size = bytesOf(values.length, 4)
  const lengths = values.map((value) => (value === null ? -1 : Buffer.byteLength(value)))
  for (const length of lengths) if (length > 0) size += length
  const buffer = Buffer.allocUnsafe(size)
  header(buffer, TEXT, values.length, lengths.includes(-1))
  let at = HEADER_BYTES
  for (const [index, value] of values.entries()) {
    at = buffer.writeInt32BE(lengths[index] as number, at)
    if (value !== null) at += buffer.write(value, at)
  }
  return buffer
}
