/**
 * The history checker: whether what a ledger says, and what really ran, keep the promises I1 to I9. Every crash and fault
 * test ends with it. It answers with every fault it finds. Imports the ledger's types and its own parts.
 *
 * I1 an attempt starts after its intent is durable · I2 numbers without gap, never above the limit · I3 an unfinished task
 * has exactly one of owner and due time, none is lost · I4 counts equal what is recorded · I5 terminal is final but for a
 * recorded reset · I6 one open dead letter of a task that failed or is undecided · I7 fences never fall · I8 no attempt before its due time ·
 * I9 gates are not more permissive after a resume. What a record no longer shows is in `snapshots.ts`.
 */
import type { Policy } from '../../packages/reprise/src/core/policy.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import {
  type AttemptRow,
  type Json,
  type Scope,
  type TaskRecord,
  TERMINAL,
} from '../../packages/reprise/src/ledger/records.js'
import { allotmentFaults, type CheckedRule, chargedBefore, chargeFaults } from './charge-history.js'
import { policyFaults } from './policy-history.js'
import { CLOCK_TOLERANCE_MS, historiesOf, scopeOfTasks, type Start, type TaskHistory } from './task-history.js'

export { scopeOfTasks, type Start }

export interface Expectation {
  readonly attempts: number
  /** All tasks have ended. */
  readonly finished: boolean
  /** `onInterrupt: 'fail'`: an attempt runs again only after a person said so. */
  readonly runsOnce?: boolean
  /** What a lost process costs; not checked when absent. */
  readonly onInterrupt?: CheckedRule | undefined
  /** Retries are charged to an allotment. */
  readonly isAllotted?: boolean
  /** Gates hold the queue: none of them ends a task. */
  readonly isHeld?: boolean
  /** Ids of tasks that somebody was told are recorded. */
  readonly created?: readonly string[]
  /** Then delays and limits are checked too. */
  readonly policy?: Policy
  /** What the operation of a task does in an attempt with this number. */
  readonly outcomeOf?: (task: TaskRecord, number: number) => 'success' | 'failure'
  /** Results that somebody was given, by id. */
  readonly results?: ReadonlyMap<string, Json>
}

export async function faultsOf(
  ledger: Ledger,
  scope: Scope,
  starts: readonly Start[],
  expected: Expectation,
): Promise<string[]> {
  const histories = await historiesOf(ledger, scope, starts)
  const faults = histories.flatMap((history) =>
    faultsOfTask(history, expected).map((fault) => `${history.task.id}: ${fault}`),
  )
  return [...faults, ...lossFaults(histories, starts, expected)]
}

function faultsOfTask(history: TaskHistory, expected: Expectation): string[] {
  return [
    ...startFaults(history),
    ...numberFaults(history, expected),
    ...placeFaults(history, expected),
    ...countFaults(history),
    ...endFaults(history, expected),
    ...generationFaults(history),
    ...letterFaults(history),
    ...fenceFaults(history),
    ...timeFaults(history),
    ...(expected.runsOnce === true ? rerunFaults(history) : []),
    ...(expected.onInterrupt === undefined ? [] : chargeFaults(history, expected.onInterrupt)),
    ...(expected.isAllotted === true ? allotmentFaults(history) : []),
    ...(expected.isHeld === true ? heldFaults(history) : []),
    ...(expected.policy === undefined ? [] : policyFaults(history, expected.policy)),
    ...outcomeFaults(history, expected),
  ]
}

/** I3: what was acknowledged is there. */
function lossFaults(histories: readonly TaskHistory[], starts: readonly Start[], expected: Expectation): string[] {
  const known = new Map(histories.map(({ task }) => [task.id, task]))
  const named = new Set([...(expected.created ?? []), ...starts.map(({ task }) => task)])
  const lost = [...named].filter((id) => !known.has(id)).map((id) => `${id}: is lost`)
  const changed = [...(expected.results ?? [])].flatMap(([id, result]) => {
    const task = known.get(id)
    const isSame = task?.status === 'succeeded' && JSON.stringify(task.result) === JSON.stringify(result)
    return isSame ? [] : [`${id}: gave a result that the ledger does not have`]
  })
  return [...lost, ...changed]
}

const nameOf = (generation: number, attempt: number, execution: number): string =>
  `${generation === 1 ? '' : `${generation}:`}${attempt}.${execution}`

/** I1: whatever ran was recorded first; what has an outcome of its own ran exactly once. */
function startFaults({ task, rows, starts }: TaskHistory): string[] {
  const faults: string[] = []
  const recorded = new Map(rows.map((row) => [nameOf(row.generation, row.attempt, row.execution), row.startedAtMs]))
  const { current } = task.progress
  if (current !== null && task.status === 'running')
    recorded.set(nameOf(task.generation, current.attempt, current.execution), current.startedAtMs)
  const counts = new Map<string, number>()
  for (const { attempt, execution, generation = 1, atMs } of starts) {
    const name = nameOf(generation, attempt, execution)
    counts.set(name, (counts.get(name) ?? 0) + 1)
    const intendedAtMs = recorded.get(name)
    if (intendedAtMs === undefined) faults.push(`attempt ${name} ran, and the ledger does not know`)
    else if (atMs !== undefined && atMs < intendedAtMs - CLOCK_TOLERANCE_MS)
      faults.push(`attempt ${name} ran before its intent was written`)
  }
  for (const [name, count] of counts) if (count > 1) faults.push(`attempt ${name} ran ${count} times`)
  for (const row of rows) {
    const { generation, attempt, execution, outcome } = row
    // A late result is of the execution that was charged as lost.
    const name = nameOf(generation, attempt, chargedBefore(rows, row)?.execution ?? execution)
    // Interrupted or cancelled between its intent and its start.
    const mayNotHaveRun = outcome === 'interrupted' || outcome === 'aborted' || outcome === 'denied' || isExpired(row)
    if (counts.has(name) && outcome === 'denied') faults.push(`attempt ${name} was denied, and ran`)
    if (!counts.has(name) && !mayNotHaveRun) faults.push(`attempt ${name} has an outcome, and never ran`)
  }
  return faults
}

/** The whole task was out of time: perhaps before the operation was called, since its process had been suspended. */
function isExpired({ outcome, failure }: AttemptRow): boolean {
  return outcome === 'timeout' && failure?.name === 'CallTimeoutError'
}

function generationsOf({ task, rows }: TaskHistory): AttemptRow[][] {
  return Array.from({ length: task.generation }, (_, index) => rows.filter((row) => row.generation === index + 1))
}

/** I2: numbers are 1, 2, 3 … without gap, never above the limit; a number runs again only after an interruption. */
function numberFaults(history: TaskHistory, { attempts, onInterrupt }: Expectation): string[] {
  const { task } = history
  const faults: string[] = []
  for (const [index, rows] of generationsOf(history).entries()) {
    let [attempt, execution] = [0, 0]
    let interrupted = false
    const follow = (next: { readonly attempt: number; readonly execution: number }): void => {
      const isNext = interrupted
        ? next.attempt === attempt && next.execution === execution + 1
        : next.attempt === attempt + 1 && next.execution === 1
      if (!isNext) faults.push(`attempt ${next.attempt}.${next.execution} follows ${attempt}.${execution}`)
      ;({ attempt, execution } = next)
    }
    for (const row of rows) {
      // The checks of the rule `charge` look at what it is.
      if (onInterrupt === 'charge' && chargedBefore(rows, row) !== undefined) continue
      follow(row)
      interrupted = row.outcome === 'interrupted' && row.failure === null
    }
    const { current } = task.progress
    if (index + 1 === task.generation && task.status === 'running' && current !== null) follow(current)
    if (attempt > attempts) faults.push(`made ${attempt} attempts of ${attempts}`)
  }
  const strays = history.rows.filter(({ generation }) => generation > task.generation)
  return strays.length === 0 ? faults : [...faults, `has attempts of generation ${strays[0]?.generation}`]
}

/** I3: an unfinished task has exactly one of owner and due time. */
function placeFaults({ task }: TaskHistory, { finished }: Expectation): string[] {
  const { status, owner, dueAtMs } = task
  if (TERMINAL.has(status)) return owner === null && dueAtMs === null ? [] : ['ended, but has an owner or a due time']
  if (finished) return [`should have ended, but is ${status}`]
  if (status === 'undecided')
    return owner === null && dueAtMs === null ? [] : ['undecided, but has an owner or a due time']
  if (status === 'parked') return owner !== null && dueAtMs !== null ? [] : ['parked without owner or due time']
  return (owner === null) === (dueAtMs !== null) ? [] : ['has both or neither of owner and due time']
}

/** I4: what the state counts is what the attempts say, however often it was read back. */
function countFaults(history: TaskHistory): string[] {
  const { task } = history
  const { launched, failures, totalDelayMs, lastDelayMs } = task.progress.retry
  // A denied attempt was not begun: its wait is the one that was chosen last.
  const rows = (generationsOf(history).at(-1) ?? []).filter(({ outcome }) => outcome !== 'denied')
  const delays = new Map(rows.map(({ attempt, delayBeforeMs }) => [attempt, delayBeforeMs]))
  const { current } = task.progress
  if (current !== null) delays.set(current.attempt, lastDelayMs)
  const made = Math.max(0, ...delays.keys())
  if (made !== launched) return [`counts ${launched} attempts, and ${made} are recorded`]
  if (failures > launched || failures < launched - 1) return [`counts ${failures} failures of ${launched} attempts`]
  // The wait that was chosen, and whose attempt has not started.
  const chosen = failures === launched && launched > 0 ? lastDelayMs : 0
  const sum = [...delays.values()].reduce((total, delay) => total + delay, chosen)
  return Math.abs(sum - totalDelayMs) > 0.001 ? [`counts ${totalDelayMs} ms of delay, and waited ${sum}`] : []
}

/** I5: a success is the last row; a failure has used its attempts; whoever says done has said it once. */
function endFaults(history: TaskHistory, { attempts }: Expectation): string[] {
  const { task, rows, events } = history
  const last = rows.at(-1)
  const faults: string[] = []
  const successes = rows.filter(({ outcome }) => outcome === 'success').length
  const saidDone = events.filter(({ type, detail }) => type === 'decided' && answerOf(detail) === 'done').length
  const succeeded = saidDone === 0 ? last?.outcome === 'success' && successes === 1 : successes === 0 && saidDone === 1
  if (task.status === 'succeeded' && !succeeded) faults.push('succeeded without one success at the end')
  if (task.status !== 'succeeded' && successes + saidDone > 0) faults.push(`succeeded, and is ${task.status}`)
  const isExhausted = task.status === 'failed' && task.stopReason === 'attempts_exhausted'
  if (isExhausted && (last?.attempt !== attempts || last.generation !== task.generation))
    faults.push('exhausted too early')
  return faults
}

function answerOf(detail: Json): Json | undefined {
  return (detail as { readonly answer?: Json }).answer
}

/** I5: every generation but the first was opened by a recorded reset. */
function generationFaults({ task, events }: TaskHistory): string[] {
  const resets = events.filter(({ type }) => type === 'reset').length
  return resets === task.generation - 1 ? [] : [`is of generation ${task.generation} after ${resets} resets`]
}

/** I6: one open dead letter of a task that failed or is undecided, of its generation, unless a person has closed it. */
function letterFaults({ task, letters }: TaskHistory): string[] {
  const faults: string[] = []
  const isAcknowledged = task.progress.acknowledged === true
  const needsOne = (task.status === 'failed' && !isAcknowledged) || task.status === 'undecided'
  const open = letters.filter(({ closed }) => closed === undefined)
  if (open.length !== (needsOne ? 1 : 0))
    faults.push(`${open.length} open dead letters of a task that is ${task.status}`)
  if (open.some(({ generation }) => generation !== task.generation))
    faults.push('an open dead letter of another generation')
  return faults
}

/** I7: of two starts the later one has the higher fence, and the record at least that of the last. */
function fenceFaults({ task, starts }: TaskHistory): string[] {
  const fenced = starts
    .flatMap(({ generation = 1, attempt, execution, fence }) =>
      fence === undefined ? [] : { order: [generation, attempt, execution], fence },
    )
    .toSorted((a, b) => compare(a.order, b.order))
  const faults = fenced.flatMap(({ order, fence }, index) => {
    const before = fenced[index - 1]
    return before !== undefined && fence <= before.fence
      ? [`attempt ${order.join('.')} ran behind fence ${fence} after ${before.fence}`]
      : []
  })
  const highest = Math.max(0, ...fenced.map(({ fence }) => fence))
  return task.fence < highest ? [...faults, `its fence fell from ${highest} to ${task.fence}`] : faults
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) if (value !== b[index]) return value - (b[index] ?? 0)
  return 0
}

/** I8: between two numbers lies the chosen delay, unless somebody said now. */
function timeFaults(history: TaskHistory): string[] {
  const hastened = history.events.filter(({ type }) => type === 'retry_now').map(({ atMs }) => atMs)
  const current = currentRow(history)
  return generationsOf(history).flatMap((ended, index) => {
    const isNow = index + 1 === history.task.generation
    const rows = isNow && current !== undefined ? [...ended, current] : ended
    return rows.flatMap((row, place) => {
      const before = rows[place - 1]
      if (before === undefined || before.attempt === row.attempt) return []
      const early = before.endedAtMs + row.delayBeforeMs - row.startedAtMs
      const isHastened = hastened.some(
        (atMs) => atMs >= before.endedAtMs - CLOCK_TOLERANCE_MS && atMs <= row.startedAtMs + CLOCK_TOLERANCE_MS,
      )
      return early > CLOCK_TOLERANCE_MS && !isHastened
        ? [`attempt ${row.attempt} started ${early.toFixed(1)} ms before its time`]
        : []
    })
  })
}

type Timed = Pick<AttemptRow, 'attempt' | 'startedAtMs' | 'endedAtMs' | 'delayBeforeMs'>

function currentRow({ task }: TaskHistory): Timed | undefined {
  const { current, retry } = task.progress
  if (task.status !== 'running' || current === null) return undefined
  return { ...current, endedAtMs: Infinity, delayBeforeMs: retry.lastDelayMs }
}

/** A task that a gate denies waits for it. */
function heldFaults({ task }: TaskHistory): string[] {
  const isDenied = task.stopReason === 'breaker_open' || task.stopReason === 'budget_denied'
  return isDenied ? [`ended with ${task.stopReason}, and should have waited`] : []
}

/** What must not run twice did so only where a person said so. */
function rerunFaults({ starts, events }: TaskHistory): string[] {
  const allowed = events.filter(({ type, detail }) => type === 'decided' && answerOf(detail) === 'rerun').length
  const numbers = new Set(starts.map(({ generation = 1, attempt }) => `${generation}:${attempt}`))
  const again = starts.length - numbers.size
  return again > allowed ? [`ran again ${again} times, and was allowed to ${allowed} times`] : []
}

/** What is recorded is what happened. */
function outcomeFaults({ task, rows }: TaskHistory, { outcomeOf }: Expectation): string[] {
  if (outcomeOf === undefined) return []
  return rows.flatMap(({ attempt, execution, outcome }) => {
    const isOwn = outcome === 'success' || outcome === 'failure'
    return isOwn && outcome !== outcomeOf(task, attempt)
      ? [`attempt ${attempt}.${execution} did not end in ${outcome}`]
      : []
  })
}
