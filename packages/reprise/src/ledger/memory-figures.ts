/**
 * Sums over the tasks of a run and over dead letters, of the ledger in memory: plain code over all rows, and so what the
 * others' SQL is measured by. Imports its own layer.
 */
import {
  type LetterCount,
  type LetterCountFilter,
  type LetterPattern,
  type LetterTotals,
  MOST_SCOPES,
  type TaskCount,
  type TimeSpan,
  type WaitedRequest,
} from './figures.js'
import type { AttemptRow, DeadLetter, Scope, TaskRecord } from './records.js'

/** Rows grouped by a text that they have in common, in the order in which they come. */
export function groups<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const found = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = found.get(key)
    if (group === undefined) found.set(key, [item])
    else group.push(item)
  }
  return found
}

/** By code point, as databases sort, and not by UTF-16 unit. */
export function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** Rows that are alike in these fields, counted; in the order of the fields. */
function counted<T, F extends object>(items: readonly T[], fieldsOf: (item: T) => F): [fields: F, items: T[]][] {
  const found = groups(items, (item) => JSON.stringify(fieldsOf(item)))
  const sortKey = (fields: F): string =>
    Object.values(fields)
      .map((value) => (value === false || value === null ? '' : String(value)))
      .join('\u0000')
  return [...found.values()]
    .map((alike): [F, T[]] => [fieldsOf(alike[0] as T), alike])
    .toSorted(([a], [b]) => compareText(sortKey(a), sortKey(b)))
}

export function tasksOfRun(tasks: readonly TaskRecord[], exceptEnding: string | undefined): TaskCount[] {
  const meant = exceptEnding === undefined ? tasks : tasks.filter(({ id }) => !id.endsWith(exceptEnding))
  return counted(meant, ({ status, progress }) => {
    const { retry, current } = progress as Partial<TaskRecord['progress']>
    return {
      status,
      hasFailed: (retry?.failures ?? 0) > 0,
      hasBegun: (retry?.launched ?? 0) > 0,
      isInFlight: (current ?? null) !== null,
    }
  }).map(([fields, alike]) => ({ ...fields, tasks: alike.length }))
}

export function lastSigns(rows: readonly AttemptRow[], startsMs: readonly number[]): (number | null)[] {
  const last = startsMs.map((): number | null => null)
  for (const { startedAtMs, endedAtMs } of rows) {
    const index = startsMs.findLastIndex((fromMs) => fromMs <= startedAtMs)
    if (index === -1) continue
    const sign = endedAtMs < (startsMs[index + 1] ?? Infinity) ? endedAtMs : startedAtMs
    last[index] = Math.max(last[index] ?? -Infinity, sign)
  }
  return last
}

/** `rows`: those of a task one after another. */
export function waitedMs(rows: readonly AttemptRow[], { periods, waits, runs }: WaitedRequest): number {
  const between = rows.flatMap((row, index): TimeSpan[] => {
    const before = rows[index - 1]
    const isNext = before?.id === row.id && before.generation === row.generation && before.attempt < row.attempt
    return isNext ? [{ fromMs: before.endedAtMs, toMs: row.startedAtMs }] : []
  })
  const ran = rows.map(({ startedAtMs, endedAtMs }) => ({ fromMs: startedAtMs, toMs: endedAtMs }))
  const marks = [
    ...marksOf(periods, [...between, ...waits], 'waiting'),
    ...marksOf(periods, [...ran, ...runs], 'running'),
  ]
  const count = { waiting: 0, running: 0 }
  let [waited, atMs] = [0, 0]
  for (const { timeMs, kind, change } of marks.toSorted((a, b) => a.timeMs - b.timeMs)) {
    if (count.waiting > 0 && count.running === 0) waited += timeMs - atMs
    count[kind] += change
    atMs = timeMs
  }
  return waited
}

interface Mark {
  readonly timeMs: number
  readonly kind: 'waiting' | 'running'
  readonly change: number
}

function marksOf(periods: readonly TimeSpan[], spans: readonly TimeSpan[], kind: Mark['kind']): Mark[] {
  return spans.flatMap((span) =>
    periods.flatMap((period) => {
      const [fromMs, toMs] = [Math.max(span.fromMs, period.fromMs), Math.min(span.toMs, period.toMs)]
      if (fromMs >= toMs) return []
      return [
        { timeMs: fromMs, kind, change: 1 },
        { timeMs: toMs, kind, change: -1 },
      ]
    }),
  )
}

function selected(letters: readonly DeadLetter[], filter: LetterCountFilter): DeadLetter[] {
  const { scopes, isOpen, signature, untilMs } = filter
  const nameOf = ({ scopeKind, scope }: Scope): string => `${scopeKind}\u0000${scope}`
  const names = scopes && new Set(scopes.map(nameOf))
  return letters.filter(
    (letter) =>
      (names === undefined || names.has(nameOf(letter))) &&
      (isOpen === undefined || (letter.closed === undefined) === isOpen) &&
      (signature === undefined || letter.signature === signature) &&
      (untilMs === undefined || (letter.closed?.atMs ?? Infinity) < untilMs),
  )
}

function reasonOf({ stopReason, failure }: DeadLetter): Pick<LetterCount, 'stopReason' | 'isFinal'> {
  return { stopReason, isFinal: failure?.retryable === false }
}

/** `letters`: in order of time. */
export function letterTotals(letters: readonly DeadLetter[], filter: LetterCountFilter): LetterTotals {
  const found = selected(letters, filter)
  const counts = counted(found, (letter) => ({
    scopeKind: letter.scopeKind,
    parts: Math.min(3, letter.scope.split('/').length),
    ...reasonOf(letter),
    closedBy: letter.closed?.by ?? null,
  }))
  return {
    kinds: new Set(found.map(({ signature }) => signature)).size,
    counts: counts.map(([fields, alike]) => ({
      ...fields,
      letters: alike.length,
      firstAtMs: (alike[0] as DeadLetter).atMs,
      lastAtMs: (alike.at(-1) as DeadLetter).atMs,
    })),
  }
}

/** `letters`: in order of time. */
export function letterPatterns(letters: readonly DeadLetter[], filter: LetterCountFilter): LetterPattern[] {
  return [...groups(selected(letters, filter), ({ signature }) => signature)]
    .map(([signature, alike]) => ({
      signature,
      letters: alike.length,
      firstAtMs: (alike[0] as DeadLetter).atMs,
      reasons: counted(alike, reasonOf).map(([reason, same]) => ({ ...reason, letters: same.length })),
      scopes: [...groups(alike, ({ scopeKind, scope }) => `${scopeKind}\u0000${scope}`).values()]
        .slice(0, MOST_SCOPES)
        .map(([first]) => ({ scopeKind: (first as DeadLetter).scopeKind, scope: (first as DeadLetter).scope })),
      last: alike.at(-1) as DeadLetter,
    }))
    .toSorted((a, b) => b.letters - a.letters || compareText(a.signature, b.signature))
}
