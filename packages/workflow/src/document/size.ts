/** Sizes as people write them: `64MiB`, `500 KB`. Pure. Imports nothing. */

const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1000,
  kib: 1024,
  mb: 1000 ** 2,
  mib: 1024 ** 2,
  gb: 1000 ** 3,
  gib: 1024 ** 3,
}
const SIZE = /^(\d{1,9}) ?([KMG]i?B|B)$/i

/** Of a text that the check of a document has let pass. */
export function bytesOf(text: string): number {
  const [, count = '', unit = ''] = SIZE.exec(text) ?? []
  return Number(count) * (UNITS[unit.toLowerCase()] ?? Number.NaN)
}

/** `64MiB`, or with one digit behind the point where it is not whole. */
export function formatBytes(bytes: number): string {
  const [unit, size] = bytes >= 1024 ** 3 ? ['GiB', 1024 ** 3] : bytes >= 1024 ** 2 ? ['MiB', 1024 ** 2] : ['KiB', 1024]
  return bytes < 1024 ? `${bytes} bytes` : `${Number((bytes / size).toFixed(1))}${unit}`
}
