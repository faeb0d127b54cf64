/**
 * Dead letters counted: by kind of failure, and all together. The store counts them; only with a condition, which is asked of
 * every letter with its task, are they read page by page. Imports the library and its own directory.
 */
import type { DeadLetter, Ledger, LetterClosing, Scope } from 'reprise/durable'
import type { LetterCountFilter, LetterPattern, LetterTotals } from 'reprise/internal'
import { MERGE_CONFLICT } from '../../state/merge-conflict.js'
import { foundLetters, type LetterSelection } from './letter-pages.js'
import { isMergeConflict, type LetterKind, placeOfScope, retryAdvice } from './letter-view.js'

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
  readonly closedBy: Readonly<Partial<Record<LetterClosing, number>>>
  readonly oldestFailedAtMs: number | null
  readonly newestFailedAtMs: number | null
}

const MOST_PLACES = 10
/** Scopes of one question: a workflow may have very many runs. */
const SCOPES_AT_ONCE = 500

/** The largest group first. */
export async function letterGroups(ledger: Ledger, selection: LetterSelection): Promise<LetterGroup[]> {
  const groups = new Map<string, LetterPattern>()
  for await (const patterns of patternPages(ledger, selection))
    for (const pattern of patterns) {
      const known = groups.get(pattern.signature)
      groups.set(pattern.signature, known === undefined ? pattern : joined(known, pattern))
    }
  return [...groups.values()]
    .map(groupView)
    .toSorted((a, b) => b.count - a.count || (a.signature < b.signature ? -1 : 1))
}

async function* patternPages(ledger: Ledger, selection: LetterSelection): AsyncGenerator<readonly LetterPattern[]> {
  if (isCounted(selection))
    for (const filter of filtersOf(selection)) yield await ledger.analytics.letterPatterns(filter)
  else
    for await (const page of foundLetters(ledger, { ...selection, withTasks: false }))
      yield page.map(({ letter }) => patternOf(letter))
}

/** Without a condition, which no store knows. */
function isCounted({ where, names, untilMs, after }: LetterSelection): boolean {
  return [where, names, untilMs, after].every((one) => one === undefined)
}

function filtersOf({ scopes, isOpen, signature }: LetterSelection): LetterCountFilter[] {
  const filter = { ...(isOpen !== undefined && { isOpen }), ...(signature !== undefined && { signature }) }
  if (scopes === undefined) return [filter]
  const filters: LetterCountFilter[] = []
  for (let first = 0; first < scopes.length; first += SCOPES_AT_ONCE)
    filters.push({ ...filter, scopes: scopes.slice(first, first + SCOPES_AT_ONCE) })
  return filters
}

function patternOf(letter: DeadLetter): LetterPattern {
  const { signature, atMs, stopReason, failure, scopeKind, scope } = letter
  const reasons = [{ stopReason, isFinal: failure?.retryable === false, letters: 1 }]
  return { signature, letters: 1, firstAtMs: atMs, reasons, scopes: [{ scopeKind, scope }], last: letter }
}

function joined(one: LetterPattern, other: LetterPattern): LetterPattern {
  const [first, second] = one.firstAtMs <= other.firstAtMs ? [one, other] : [other, one]
  return {
    signature: one.signature,
    letters: one.letters + other.letters,
    firstAtMs: first.firstAtMs,
    reasons: [...one.reasons, ...other.reasons],
    scopes: distinctPlaces([...first.scopes, ...second.scopes]),
    last: one.last.atMs > other.last.atMs ? one.last : other.last,
  }
}

/** At most as many as are shown: one scope of each run, or of each name of tasks. */
function distinctPlaces(scopes: readonly Scope[]): Scope[] {
  const places = new Map<string, Scope>()
  for (const scope of scopes) {
    const place = placeOfScope(scope).run ?? scope.scope
    if (places.size < MOST_PLACES && !places.has(place)) places.set(place, scope)
  }
  return [...places.values()]
}

function groupView({ signature, letters, firstAtMs, reasons, scopes, last }: LetterPattern): LetterGroup {
  // Letters of one signature have failed with the same error.
  const isConflict = isMergeConflict(last.failure)
  const retryable = reasons.reduce((sum, reason) => sum + (isConflict || isRetryable(reason) ? reason.letters : 0), 0)
  return {
    signature,
    count: letters,
    retryableShare: retryable / letters,
    firstFailedAtMs: firstAtMs,
    lastFailedAtMs: last.atMs,
    places: distinctPlaces(scopes).map((scope) => placeOfScope(scope).run ?? scope.scope),
    lastMessage: last.failure?.message ?? '',
    example: `${last.scope}/${last.id}`,
  }
}

/** As of a letter with this reason. */
function isRetryable({ stopReason, isFinal }: LetterPattern['reasons'][number]): boolean {
  return retryAdvice({ stopReason, failure: isFinal ? { name: '', message: '', retryable: false } : null }).makesSense
}

/** The kind of a letter by the parts of its scope: a run, a map of it, and what is done for the map's failed items. */
const KINDS = ['step', 'item', 'on_item_error'] as const

export async function letterStats(ledger: Ledger, selection: LetterSelection): Promise<LetterStats> {
  const byKind = { item: 0, step: 0, task: 0, on_item_error: 0 }
  const closedBy: Partial<Record<LetterClosing, number>> = {}
  let [open, closed, undecided, retryable, finals, oldest, newest] = [0, 0, 0, 0, 0, Infinity, -Infinity]
  for await (const { counts } of totalPages(ledger, selection))
    for (const count of counts) {
      const { letters } = count
      if (count.closedBy !== null) {
        closed += letters
        closedBy[count.closedBy] = (closedBy[count.closedBy] ?? 0) + letters
        continue
      }
      open += letters
      byKind[count.scopeKind === 'task' ? 'task' : (KINDS[count.parts - 1] ?? 'on_item_error')] += letters
      if (count.stopReason === 'interrupted') undecided += letters
      if (isRetryable(count)) retryable += letters
      if (count.isFinal) finals += letters
      oldest = Math.min(oldest, count.firstAtMs)
      newest = Math.max(newest, count.lastAtMs)
    }
  const times = { oldestFailedAtMs: open === 0 ? null : oldest, newestFailedAtMs: open === 0 ? null : newest }
  if (finals > 0) retryable += await conflictsIn(ledger, selection)
  const groups = await openKinds(ledger, selection)
  return { open, closed, undecided, retryable, groups, byKind, closedBy, ...times }
}

async function* totalPages(ledger: Ledger, selection: LetterSelection): AsyncGenerator<Pick<LetterTotals, 'counts'>> {
  if (isCounted(selection)) for (const filter of filtersOf(selection)) yield await ledger.analytics.letterTotals(filter)
  else
    for await (const page of foundLetters(ledger, { ...selection, withTasks: false }))
      yield { counts: page.map(({ letter }) => countOf(letter)) }
}

function countOf(letter: DeadLetter): LetterTotals['counts'][number] {
  const { scopeKind, scope, atMs, stopReason, failure, closed } = letter
  const parts = Math.min(KINDS.length, scope.split('/').length)
  const times = { firstAtMs: atMs, lastAtMs: atMs }
  return {
    scopeKind,
    parts,
    stopReason,
    isFinal: failure?.retryable === false,
    closedBy: closed?.by ?? null,
    letters: 1,
    ...times,
  }
}

/** Open letters of merge conflicts. The counts of a store name no errors, the groups do. */
async function conflictsIn(ledger: Ledger, selection: LetterSelection): Promise<number> {
  const groups = await letterGroups(ledger, { ...selection, isOpen: true })
  const conflicts = groups.filter(({ signature }) => signature.startsWith(`${MERGE_CONFLICT}:`))
  return conflicts.reduce((sum, { count }) => sum + count, 0)
}

/** Kinds of failures among the open ones; of several questions, kinds that several have count once. */
async function openKinds(ledger: Ledger, selection: LetterSelection): Promise<number> {
  if (selection.isOpen === false) return 0
  const open = { ...selection, isOpen: true }
  const filters = filtersOf(open)
  const [only] = filters
  if (isCounted(open) && only !== undefined && filters.length === 1)
    return (await ledger.analytics.letterTotals(only)).kinds
  return (await letterGroups(ledger, open)).length
}
