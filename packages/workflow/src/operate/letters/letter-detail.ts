/**
 * One dead letter with everything that is known of it: its data, and its history by generation. Imports the library, state
 * and its own directory.
 */
import { existsSync } from 'node:fs'
import type { StopReason } from 'reprise'
import type { AttemptRow, FailureRecord, Json, Ledger, LetterClosing, StoredEvent } from 'reprise/durable'
import type { StateDirectory } from '../../state/state-directory.js'
import type { FoundLetter } from './letter-pages.js'
import { dataOf, type LetterView, letterView, placeOfScope } from './letter-view.js'

/** A letter with its data and its history. */
export interface LetterDetail extends LetterView {
  /** What the task was given: the item, or the input of a task; null for a step, which has none. */
  readonly data: Json
  /** The first generation first. */
  readonly generations: readonly GenerationView[]
  /** What people did: resets, changes of its data, acknowledgements. */
  readonly changes: readonly ChangeView[]
  /** Attempts that were removed for the length of the history. */
  readonly compactedAttempts: number
}

/** One set of attempts. */
interface GenerationView {
  readonly generation: number
  /** Why it ended without success; null if it did not, or goes on. */
  readonly stopReason: StopReason | null
  /** What closed its letter; null if it has none, or it is open. */
  readonly closedBy: LetterClosing | null
  readonly attempts: readonly LetterAttempt[]
}

/** One start of an attempt. */
interface LetterAttempt {
  readonly attempt: number
  readonly execution: number
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly outcome: AttemptRow['outcome']
  /** The wait before it. */
  readonly delayBeforeMs: number
  readonly failure: FailureRecord | null
  readonly signature: string | null
  /** The file with its output; null if there is none here. */
  readonly log: string | null
}

interface ChangeView {
  readonly type: string
  readonly changedAtMs: number
  /** Who and why, and what was there before. */
  readonly detail: Json
}

const CHANGES: ReadonlySet<string> = new Set(['reset', 'input_changed', 'acknowledged', 'decided', 'cancelled'])

export async function letterDetail(ledger: Ledger, found: FoundLetter, state: StateDirectory): Promise<LetterDetail> {
  const { letter, task } = found
  const history = await ledger.analytics.history(letter)
  const { scopeKind, scope, id } = letter
  const letters = await ledger.deadLetters({ scopeKind, scope, id })
  const generations = new Map<number, LetterAttempt[]>(letters.map(({ generation }) => [generation, []]))
  for (const row of history?.attempts ?? []) {
    const rows = generations.get(row.generation) ?? []
    generations.set(row.generation, rows)
    rows.push(attemptView(row, state))
  }
  const kind = placeOfScope(letter).kind
  return {
    ...letterView(letter, task),
    data: task === undefined || kind === 'step' ? null : dataOf(task),
    generations: [...generations]
      .toSorted(([a], [b]) => a - b)
      .map(([generation, attempts]) => {
        const own = letters.find((one) => one.generation === generation)
        return { generation, stopReason: own?.stopReason ?? null, closedBy: own?.closed?.by ?? null, attempts }
      }),
    changes: (history?.events ?? []).flatMap(changeView),
    compactedAttempts: history?.compacted?.attempts ?? 0,
  }
}

function attemptView(row: AttemptRow, state: StateDirectory): LetterAttempt {
  const { attempt, execution, startedAtMs, endedAtMs, outcome, delayBeforeMs, failure, signature } = row
  const log = logOf(row, state)
  return { attempt, execution, startedAtMs, endedAtMs, outcome, delayBeforeMs, failure, signature, log }
}

/** Tasks of programs have no logs. */
function logOf(row: AttemptRow, state: StateDirectory): string | null {
  const { kind, run, map } = placeOfScope(row)
  if (run === null || kind === 'on_item_error') return null
  const place = map === null ? { run, step: row.id } : { run, item: { map, id: row.id }, step: '' }
  const file = state.logFile(place, row)
  return existsSync(file) ? file : null
}

function changeView({ type, atMs, detail }: StoredEvent): ChangeView[] {
  return CHANGES.has(type) ? [{ type, changedAtMs: atMs, detail }] : []
}
