/**
 * Whether lost processes cost what they should: with the rule `charge` every loss is a failed attempt, whose process may still
 * deliver its result until the next claim; with `rerun` only the third loss of an attempt is. And whether retries were
 * charged to the allotment, each once (I4). Imports the ledger's types and the histories.
 */
import type { AttemptRow, StoredEvent } from '../../packages/reprise/src/ledger/records.js'
import type { TaskHistory } from './task-history.js'

export type CheckedRule = 'rerun' | 'charge'

/** Losses of one attempt under `rerun`, of which the last is charged. */
const CHARGED_LOSS = 3

const nameOf = ({ attempt, execution }: AttemptRow): string => `${attempt}.${execution}`

const isCharged = ({ outcome, failure }: AttemptRow): boolean => outcome === 'interrupted' && failure !== null

/** The row whose execution this one is the late result of; undefined if it is none. */
export function chargedBefore(rows: readonly AttemptRow[], row: AttemptRow): AttemptRow | undefined {
  const before = rows[rows.indexOf(row) - 1]
  const isSame = before?.generation === row.generation && before.attempt === row.attempt
  return isSame && isCharged(before) && row.execution === before.execution + 1 ? before : undefined
}

export function chargeFaults(history: TaskHistory, rule: CheckedRule): string[] {
  const { rows, events } = history
  const faults = rows.flatMap((row) => {
    if (row.outcome !== 'interrupted') return []
    const orderly = isOrderly(events, row)
    if (orderly && isCharged(row)) return [`attempt ${nameOf(row)} was stopped in order, and charged`]
    if (rule === 'charge') return orderly || isCharged(row) ? [] : [`attempt ${nameOf(row)} was lost, and not charged`]
    const losses = rows.filter((one) => isLossOf(row, one) && !isOrderly(events, one)).length
    if (isCharged(row) !== (!orderly && losses === CHARGED_LOSS))
      return [`attempt ${nameOf(row)} was ${isCharged(row) ? '' : 'not '}charged at loss ${losses}`]
    return []
  })
  return rule === 'charge' ? [...faults, ...lateFaults(history), ...lostFaults(history)] : faults
}

/** Of the same attempt, up to this one. */
function isLossOf(row: AttemptRow, one: AttemptRow): boolean {
  const isSame = one.generation === row.generation && one.attempt === row.attempt
  return isSame && one.outcome === 'interrupted' && one.execution <= row.execution
}

/** The event is written in the commit of the row. */
function isOrderly(events: readonly StoredEvent[], { endedAtMs }: AttemptRow): boolean {
  return events.some(
    ({ type, atMs, detail }) =>
      type === 'interrupted' && atMs === endedAtMs && (detail as { orderly?: boolean }).orderly === true,
  )
}

/** I5 and I7: a late result is of the process that was taken for lost, and it ends the generation. */
function lateFaults({ task, rows }: TaskHistory): string[] {
  return rows.flatMap((row, index) => {
    const lost = chargedBefore(rows, row)
    if (lost === undefined) return []
    const faults: string[] = []
    if (row.owner !== lost.owner) faults.push(`attempt ${nameOf(row)} is the result of another process than was lost`)
    if (rows[index + 1]?.generation === row.generation)
      faults.push(`attempt ${nameOf(row)} came late, and more followed`)
    const isLast = row.generation === task.generation
    const status = row.outcome === 'success' ? 'succeeded' : 'failed'
    if (isLast && task.status !== status)
      faults.push(`attempt ${nameOf(row)} came late, and the task is ${task.status}`)
    return faults
  })
}

/** Until the next claim the task remembers whose result still counts; after it nobody's does. */
function lostFaults({ task, rows }: TaskHistory): string[] {
  const { lost } = task.progress
  const last = rows.at(-1)
  const isOpen =
    task.status === 'waiting' && last !== undefined && isCharged(last) && last.generation === task.generation
  if (!isOpen) return lost === undefined ? [] : [`is ${task.status}, and would still take a late result`]
  const isNamed = lost?.attempt === last.attempt && lost.execution === last.execution && lost.owner === last.owner
  return isNamed ? [] : [`would not take the late result of attempt ${nameOf(last)}`]
}

/** I4: every retry of the task was charged once, over all its generations. */
export function allotmentFaults({ task, rows }: TaskHistory): string[] {
  const { allotted = 0, retry } = task.progress
  // A retry that was denied was not charged, and made no attempt.
  const earlier = rows.filter(({ generation, outcome }) => generation < task.generation && outcome !== 'denied')
  const attempts = new Set(earlier.map(({ generation, attempt }) => `${generation}:${attempt}`)).size
  const generations = new Set(earlier.map(({ generation }) => generation)).size
  // A retry that was granted and then cancelled has no attempt; a failure that was not retried was not charged.
  const least = retry.failures + attempts - generations
  const most = retry.failures + earlier.filter(({ failure }) => failure !== null).length
  if (allotted >= least && allotted <= most) return []
  return [`was charged ${allotted} retries, and ${least === most ? least : `${least} to ${most}`} are recorded`]
}
