/**
 * Dead letters counted: by kind of failure, and all together. Read page by page, without the tasks. Imports the library and
 * its own directory.
 */
import type { DeadLetter, Ledger } from 'reprise/durable'
import { foundLetters, type LetterSelection } from './letter-pages.js'
import { type LetterKind, letterView, placeOfScope } from './letter-view.js'

/** Letters with one cause. */
export interface LetterGroup {
  readonly signature: string
  /** Letters of this kind. */
  readonly count: number
  /** Of these, those for which another attempt makes sense; a share from 0 to 1. */
  readonly retryableShare: number
  readonly firstFailedAtMs: number
  readonly lastFailedAtMs: number
  /** Runs, or names of tasks, that they are of; at most ten. */
  readonly places: readonly string[]
  /** The message of the last one; empty if it has none. */
  readonly lastMessage: string
  /** One of them, for `show`. */
  readonly example: string
}

/** How many letters there are. */
export interface LetterStats {
  readonly open: number
  readonly closed: number
  /** Open ones of which only a person can say whether they took effect. */
  readonly undecided: number
  /** Open ones for which another attempt makes sense. */
  readonly retryable: number
  /** Kinds of failures among the open ones. */
  readonly groups: number
  readonly byKind: Readonly<Record<LetterKind, number>>
  /** Closed ones, by what closed them. */
  readonly closedBy: Readonly<Record<string, number>>
  readonly oldestFailedAtMs: number | null
  readonly newestFailedAtMs: number | null
}

const MOST_PLACES = 10

interface Gathered {
  count: number
  retryable: number
  firstAtMs: number
  last: DeadLetter
  readonly places: Set<string>
}

/** The largest group first. */
export async function letterGroups(ledger: Ledger, selection: LetterSelection): Promise<LetterGroup[]> {
  const groups = new Map<string, Gathered>()
  for await (const page of foundLetters(ledger, { ...selection, withTasks: false }))
    for (const { letter } of page) {
      const { signature, atMs } = letter
      const known = groups.get(signature)
      const group = known ?? { count: 0, retryable: 0, firstAtMs: atMs, last: letter, places: new Set<string>() }
      if (known === undefined) groups.set(signature, group)
      group.count++
      if (letterView(letter, undefined).retry.makesSense) group.retryable++
      group.last = letter
      const place = placeOfScope(letter).run ?? letter.scope
      if (group.places.size < MOST_PLACES) group.places.add(place)
    }
  return [...groups]
    .map(([signature, group]) => groupView(signature, group))
    .toSorted((a, b) => b.count - a.count || (a.signature < b.signature ? -1 : 1))
}

function groupView(signature: string, { count, retryable, firstAtMs, last, places }: Gathered): LetterGroup {
  return {
    signature,
    count,
    retryableShare: retryable / count,
    firstFailedAtMs: firstAtMs,
    lastFailedAtMs: last.atMs,
    places: [...places],
    lastMessage: last.failure?.message ?? '',
    example: `${last.scope}/${last.id}`,
  }
}

export async function letterStats(ledger: Ledger, selection: LetterSelection): Promise<LetterStats> {
  const byKind = { item: 0, step: 0, task: 0, on_item_error: 0 }
  const closedBy: Record<string, number> = {}
  const signatures = new Set<string>()
  let [open, closed, undecided, retryable] = [0, 0, 0, 0]
  let [oldest, newest]: (number | null)[] = [null, null]
  for await (const page of foundLetters(ledger, { ...selection, withTasks: false }))
    for (const { letter } of page) {
      if (letter.closed !== undefined) {
        closed++
        closedBy[letter.closed.by] = (closedBy[letter.closed.by] ?? 0) + 1
        continue
      }
      const { kind, state, retry } = letterView(letter, undefined)
      open++
      byKind[kind]++
      if (state === 'undecided') undecided++
      if (retry.makesSense) retryable++
      signatures.add(letter.signature)
      oldest ??= letter.atMs
      newest = letter.atMs
    }
  const times = { oldestFailedAtMs: oldest ?? null, newestFailedAtMs: newest ?? null }
  return { open, closed, undecided, retryable, groups: signatures.size, byKind, closedBy, ...times }
}
