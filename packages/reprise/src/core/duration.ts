/**
 * Lengths of time as people write them: `500ms`, `30s`, `1h30m`, and as humantime has them: `1h 30m`, `5min`, `2 days`, `1w`.
 * Units from weeks to milliseconds, largest first, each at most once.
 *
 * Invariants: whatever is accepted lies in 0..365 d and is a whole number of microseconds; the expression is anchored,
 * each part ends in its own unit and the text is short, so reading is linear. Imports core only.
 */
import { PolicyError } from './errors.js'
import type { DurationInput } from './policy.js'
import { isNot, show } from './problems.js'

/** Those that are written out. */
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const
/** Those that are read, weeks first. */
const SIZES = [604_800_000, 86_400_000, 3_600_000, 60_000, 1000, 1]
const NAMES = [
  'w|weeks?',
  'd|days?',
  'h|hrs?|hours?',
  'm|mins?|minutes?',
  's|secs?|seconds?',
  'ms|msecs?|millis|milliseconds?',
]
const PARTS = /* @__PURE__ */ partsPattern()

/** A part ends where a number follows, or the text ends. */
function partsPattern(): RegExp {
  return new RegExp(`^${NAMES.map((names) => `(?:(\\d+(?:\\.\\d+)?) ?(?:${names})(?: ?(?=\\d)|$))?`).join('')}$`)
}

const MAX_TEXT = 64
const MAX_MS = 365 * 86_400_000

/**
 * Milliseconds of a duration such as `500ms` or `1h30m`; a number is milliseconds already. Throws a `PolicyError` for
 * anything else.
 * @example parseDuration('1m30s') // 90000
 */
export function parseDuration(text: DurationInput): number {
  const ms = readDuration(text)
  if (typeof ms === 'number') return ms
  throw new PolicyError([{ path: '', message: ms }])
}

/** Milliseconds, or what is wrong. Where data cannot say which unit a bare number has, none is accepted. */
export function readDuration(value: unknown, acceptNumber = true): number | string {
  const ms = typeof value === 'string' ? sumParts(value) : acceptNumber && typeof value === 'number' ? value : -1
  if (ms >= 0 && ms <= MAX_MS) return Math.abs(Math.round(ms * 1000) / 1000)
  const bare = /^"?(\d{1,9})"?$/.exec(show(value))?.[1]
  const examples = bare === undefined ? `'500ms', '30s' or '1h30m'` : `'${bare}s' or '${bare}ms'`
  return isNot(value, `a duration from 0ms to 365d such as ${examples}`)
}

function sumParts(text: string): number {
  const parts = text === '' || text.length > MAX_TEXT ? null : PARTS.exec(text)
  return parts === null ? -1 : SIZES.reduce((sum, size, index) => sum + Number(parts[index + 1] ?? 0) * size, 0)
}

/**
 * The shortest text that `parseDuration` reads as the same number, to the microsecond: `1h30m`, `1m1s500ms`, `0ms`.
 * @example formatDuration(90_000) // '1m30s'
 */
export function formatDuration(ms: number): string {
  let restUs = Math.round(Math.abs(ms) * 1000)
  if (restUs === 0) return '0ms'
  if (!Number.isFinite(restUs)) return String(ms)
  let text = ms < 0 ? '-' : ''
  for (const [unit, size] of UNITS) {
    const count = unit === 'ms' ? restUs / 1000 : Math.floor(restUs / (size * 1000))
    restUs %= size * 1000
    if (count > 0) text += count + unit
  }
  return text
}
