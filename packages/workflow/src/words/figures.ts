/** Numbers as people read them; `--json` has them exact. Imports nothing. */

/** `99.97 %`, `80.1 %`, `0 %`. What is not all never reads as all, nor some as nothing. */
export function percent(share: number): string {
  const value = share * 100
  if (value >= 100 || value <= 0) return `${Math.round(value)} %`
  if (value < 0.01) return '<0.01 %'
  const digits = value >= 99 || value < 1 ? 2 : 1
  // Without the last digits of the division, which are none of the figure.
  const cut = Math.floor(value * 10 ** digits + 1e-6) / 10 ** digits
  return `${cut.toFixed(digits)} %`
}

/** A share of what is possible on average: more calls by chance may come to more than that. */
export function possible(share: number): string {
  return percent(Math.min(1, share))
}

/** `9.08`, `12.3`, `104`. */
export function factor(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
}

/** At most two digits after the point, and none that say nothing. */
export function plainNumber(value: number): string {
  return String(Math.round(value * 100) / 100)
}

/** `1 234 567`. */
export function countText(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ' ')
}

/** `840 B`, `12 KiB`, `3.4 MiB`. */
export function byteText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const unit = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** unit
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}
