/**
 * The invariants I1 to I8 for one task with its history, and for one run, as far as their records show them. Pure. Imports
 * the ledger's types.
 */
import {
  type AttemptRow,
  ENDED_RUN_STATUSES,
  type RunRecord,
  type TaskRecord,
  TERMINAL,
  UNCONDUCTED_KINDS,
} from '../ledger/records.js'
import type { Fault } from './ledger-check.js'

export interface CheckedTask {
  readonly task: TaskRecord
  readonly rows: AttemptRow[]
  /** What of its attempts and dead letters cannot be shown. */
  readonly pastFaults: string[]
  hasCheckpoint: boolean
  readonly letters: { readonly generation: number; readonly isOpen: boolean }[]
  readonly events: { readonly type: 'reset' | 'migrated' | 'retry_now' | 'decided'; readonly atMs: number }[]
}

/** Clocks of two machines, and one that is corrected while a task waits, differ by less than this. */
const CLOCK_TOLERANCE_MS = 1000

/** I3: an unfinished task has one of owner and due time, a parked one both. I7: fences are numbers that only rise. */
export function faultsOfPlace({ task }: CheckedTask): Fault[] {
  const { status, owner, dueAtMs, fence } = task
  const faults: Fault[] = []
  const [isOwned, isDue] = [owner !== null, dueAtMs !== null]
  if (TERMINAL.has(status) || status === 'undecided') {
    if (isOwned || isDue) faults.push(['I3', `it is ${status}, and still has ${isOwned ? 'an owner' : 'a due time'}`])
  } else if (status === 'parked') {
    if (!isOwned || !isDue) faults.push(['I3', `it is parked without ${isOwned ? 'a due time' : 'an owner'}`])
  } else if (isOwned === isDue) {
    faults.push([
      'I3',
      `it is ${status} with ${isOwned ? 'both an owner and a due time' : 'neither owner nor due time'}`,
    ])
  }
  if (!Number.isSafeInteger(fence) || fence < 0) faults.push(['I7', `its fence is ${String(fence)}`])
  return faults
}

/**
 * I5: what ended stays so, but for a recorded reset. I6: a task that failed or is undecided has one open dead letter,
 * unless a person has acknowledged it.
 */
export function faultsOfEnd(checked: CheckedTask, hasAllEvents: boolean): Fault[] {
  const { task, rows, letters, events } = checked
  const { status, generation, progress, compacted } = task
  const faults: Fault[] = []
  const own = rows.filter((row) => row.generation === generation)
  const successes = own.filter(({ outcome }) => outcome === 'success').length
  const decided = events.some(({ type }) => type === 'decided')
  const ran = (progress?.retry?.launched ?? 0) > 0
  if (status === 'succeeded' && ran && successes === 0 && !decided && compacted === undefined && hasAllEvents)
    faults.push(['I5', 'it succeeded, and none of its attempts did'])
  if (status !== 'succeeded' && successes > 0) faults.push(['I5', `an attempt succeeded, and the task is ${status}`])
  // A task that was written before there was a retry state begins a generation when it is migrated.
  const resets = events.filter(({ type }) => type === 'reset' || type === 'migrated').length
  if (resets > generation - 1 || (hasAllEvents && resets < generation - 1))
    faults.push(['I5', `it is in generation ${generation}, and ${resets} resets are recorded`])
  faults.push(...checkpointFaults(checked))
  return [...faults, ...letterFaults(task, letters)]
}

function letterFaults({ status, generation, progress }: TaskRecord, letters: CheckedTask['letters']): Fault[] {
  const faults: Fault[] = []
  const isAcknowledged = progress?.acknowledged === true
  const needsOne = (status === 'failed' && !isAcknowledged) || status === 'undecided'
  const open = letters.filter(({ isOpen }) => isOpen)
  if (needsOne && !open.some((letter) => letter.generation === generation))
    faults.push(['I6', `it is ${status}, and has no open dead letter`])
  if (!needsOne && open.length > 0) {
    const state = isAcknowledged ? `${status} and acknowledged` : status
    faults.push(['I6', `it is ${state}, and has an open dead letter`])
  }
  if (open.length > 1) faults.push(['I6', `it has ${open.length} open dead letters`])
  if (letters.some((letter) => letter.generation > generation))
    faults.push(['I6', 'it has a dead letter of a later generation'])
  return faults
}

/** I5: a task that has ended has no checkpoint any more; one that has not has what its state says. */
function checkpointFaults({ task, hasCheckpoint }: CheckedTask): Fault[] {
  if (TERMINAL.has(task.status)) return hasCheckpoint ? [['I5', `it is ${task.status}, and has a checkpoint`]] : []
  const isNamed = task.progress?.checkpoint !== undefined
  if (isNamed === hasCheckpoint) return []
  return [['I5', isNamed ? 'its checkpoint is lost' : 'it has a checkpoint that its state does not name']]
}

/** I1, I2, I4 and I8: the recorded attempts, one after the other. */
export function faultsOfRows(checked: CheckedTask, attempts: number): Fault[] {
  const { task, rows } = checked
  const { retry, policyAccepted } = task.progress ?? {}
  if (typeof retry?.launched !== 'number') return []
  const faults: Fault[] = []
  const own = rows.filter(({ generation }) => generation === task.generation)
  // A denied attempt was not begun.
  const made = own.reduce((most, { attempt, outcome }) => (outcome === 'denied' ? most : Math.max(most, attempt)), 0)
  if (made > retry.launched) faults.push(['I1', `attempt ${made} is recorded, and only ${retry.launched} were begun`])
  if (made > attempts && policyAccepted !== true)
    faults.push(['I2', `attempt ${made} is recorded, of ${attempts} allowed`])
  if (rows.some(({ generation }) => generation > task.generation))
    faults.push(['I2', `it has attempts of a generation later than its own, ${task.generation}`])
  faults.push(...orderFaults(checked), ...delayFaults(task, own), ...timeFaults(checked))
  return faults
}

/** I2: 1, 2, 3 … in each generation; an attempt starts again only after an interruption. */
function orderFaults({ task, rows }: CheckedTask): Fault[] {
  // Of what was compacted away the beginning is missing.
  const first = task.compacted === undefined ? undefined : rows[0]
  return rows.flatMap((row, index): Fault[] => {
    if (row === first) return []
    const before = rows[index - 1]
    const isFirst = before === undefined || before.generation !== row.generation
    const isAgain = !isFirst && before.outcome === 'interrupted' && before.failure === null
    const [attempt, execution] = isFirst
      ? [1, 1]
      : isAgain
        ? [before.attempt, before.execution + 1]
        : [before.attempt + 1, 1]
    if (row.attempt === attempt && row.execution === execution) return []
    if (before !== undefined && isLateResult(before, row, rows[index + 1])) return []
    return [['I2', `attempt ${nameOf(row)} is recorded where ${attempt}.${execution} should be`]]
  })
}

/** An attempt that was charged as lost may still deliver its result, as one more execution; then the task is over. */
function isLateResult(before: AttemptRow, row: AttemptRow, after: AttemptRow | undefined): boolean {
  const isLast = after === undefined || after.generation !== row.generation
  const wasCharged = before.generation === row.generation && before.outcome === 'interrupted' && before.failure !== null
  return wasCharged && isLast && row.attempt === before.attempt && row.execution === before.execution + 1
}

function nameOf({ attempt, execution }: AttemptRow): string {
  return `${attempt}.${execution}`
}

/** I4: the delays that were spent are those of the attempts, and the one that is chosen for the next. */
function delayFaults({ status, progress, compacted }: TaskRecord, own: readonly AttemptRow[]): Fault[] {
  if (TERMINAL.has(status) || compacted !== undefined) return []
  const { launched, failures, totalDelayMs, lastDelayMs } = progress.retry
  const delays = new Map(own.map(({ attempt, delayBeforeMs }) => [attempt, delayBeforeMs]))
  if (progress.current !== null) delays.set(progress.current.attempt, lastDelayMs)
  const chosen = failures === launched && launched > 0 ? lastDelayMs : 0
  const sum = [...delays.values()].reduce((total, delay) => total + delay, chosen)
  if (!(Math.abs(sum - totalDelayMs) > 1)) return []
  return [['I4', `its state counts ${totalDelayMs} ms of delay, and its attempts waited ${sum} ms`]]
}

/** I8: the chosen delay lies between two attempts, unless somebody asked for the next one at once. */
function timeFaults({ rows, events }: CheckedTask): Fault[] {
  const askedAtMs = events.filter(({ type }) => type === 'retry_now').map(({ atMs }) => atMs)
  return rows.flatMap((row, index): Fault[] => {
    const before = rows[index - 1]
    const follows = before !== undefined && before.generation === row.generation && before.attempt !== row.attempt
    // A start before the last end: the clock was set back meanwhile.
    if (!follows || row.startedAtMs < before.endedAtMs) return []
    const earlyMs = before.endedAtMs + row.delayBeforeMs - row.startedAtMs
    const wasAsked = askedAtMs.some(
      (atMs) => atMs >= before.endedAtMs - CLOCK_TOLERANCE_MS && atMs <= row.startedAtMs + CLOCK_TOLERANCE_MS,
    )
    if (earlyMs <= CLOCK_TOLERANCE_MS || wasAsked) return []
    return [
      ['I8', `attempt ${row.attempt} started ${Math.round(earlyMs)} ms before its time, or the clock was set back`],
    ]
  })
}

/** I3 and I5 for a run: who conducts it, and whether it has ended; I7: its fence. */
export function faultsOfRun({ kind, status, owner, fence, endedAtMs }: RunRecord): Fault[] {
  const faults: Fault[] = []
  if (status === 'running' && owner === null && !UNCONDUCTED_KINDS.has(kind))
    faults.push(['I3', 'it is running, and no process conducts it'])
  if (status !== 'running' && owner !== null) faults.push(['I3', `it is ${status}, and a process still conducts it`])
  const isEnded = ENDED_RUN_STATUSES.has(status)
  if (isEnded && endedAtMs === null) faults.push(['I5', `it is ${status}, and has no time of its end`])
  if (!isEnded && endedAtMs !== null) faults.push(['I5', `it is ${status}, and has a time of its end`])
  if (!Number.isSafeInteger(fence) || fence < 1) faults.push(['I7', `its fence is ${String(fence)}`])
  return faults
}
