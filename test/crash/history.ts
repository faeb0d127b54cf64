/**
 * The history checker: whether what a ledger says, and what really ran, keep the promises. Every crash and fault test
 * ends with it. It answers with every fault it finds. Imports the ledger's types.
 */
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { type AttemptRow, type TaskRecord, TERMINAL } from '../../packages/reprise/src/ledger/records.js'

/** A start of an operation, as the operation itself wrote it down. */
export interface Start {
  readonly task: string
  readonly attempt: number
  readonly execution: number
  /** 1 unless the task was reset. */
  readonly generation?: number
}

export interface Expectation {
  readonly attempts: number
  /** All tasks have ended. */
  readonly finished: boolean
}

export async function faultsOf(
  ledger: Ledger,
  run: string,
  starts: readonly Start[],
  expected: Expectation,
): Promise<string[]> {
  const tasks = await ledger.list({ run })
  const letters = await ledger.deadLetters(run)
  const faults: string[] = []
  for (const task of tasks) {
    const rows = await ledger.attempts(task)
    const ran = starts.filter((start) => start.task === task.id)
    faults.push(...faultsOfTask(task, rows, ran, expected).map((fault) => `${task.id}: ${fault}`))
    const own = letters.filter(({ id, generation }) => id === task.id && generation === task.generation).length
    // I6
    if (own !== (task.status === 'failed' ? 1 : 0))
      faults.push(`${task.id}: ${own} dead letters of a task that is ${task.status}`)
  }
  return faults
}

function faultsOfTask(
  task: TaskRecord,
  rows: readonly AttemptRow[],
  ran: readonly Start[],
  expected: Expectation,
): string[] {
  return [
    ...ownershipFaults(task, expected),
    ...numberFaults(task, rows, expected),
    ...executionFaults(task, rows, ran),
    ...endFaults(task, rows, expected),
  ]
}

/** I3: an unfinished task has exactly one of owner and due time. */
function ownershipFaults(task: TaskRecord, { finished }: Expectation): string[] {
  const { status, owner, dueAtMs } = task
  if (TERMINAL.has(status)) return owner === null && dueAtMs === null ? [] : ['ended, but has an owner or a due time']
  if (finished) return [`should have ended, but is ${status}`]
  if (status === 'parked') return owner !== null && dueAtMs !== null ? [] : ['parked without owner or due time']
  return (owner === null) === (dueAtMs !== null) ? [] : ['has both or neither of owner and due time']
}

/** I2: numbers are 1, 2, 3 … without gap, never above the limit; a number runs again only after an interruption. */
function numberFaults(task: TaskRecord, rows: readonly AttemptRow[], { attempts }: Expectation): string[] {
  const faults: string[] = []
  let [number, execution] = [0, 0]
  let interrupted = false
  for (const row of rows.filter(({ generation }) => generation === task.generation)) {
    const isNext = interrupted
      ? row.number === number && row.execution === execution + 1
      : row.number === number + 1 && row.execution === 1
    if (!isNext) faults.push(`attempt ${row.number}.${row.execution} follows ${number}.${execution}`)
    number = row.number
    execution = row.execution
    interrupted = row.outcome === 'interrupted' && row.failure === null
  }
  if (number > attempts) faults.push(`made ${number} attempts of ${attempts}`)
  return faults
}

/** I1: whatever ran was recorded first; what has an outcome ran exactly once. */
function executionFaults(task: TaskRecord, rows: readonly AttemptRow[], ran: readonly Start[]): string[] {
  const faults: string[] = []
  const nameOf = (generation: number, number: number, execution: number): string =>
    `${generation === 1 ? '' : `${generation}:`}${number}.${execution}`
  const recorded = new Set(rows.map(({ generation, number, execution }) => nameOf(generation, number, execution)))
  const { current } = task.progress
  if (current !== null) recorded.add(nameOf(task.generation, current.number, current.execution))
  const counts = new Map<string, number>()
  for (const { attempt, execution, generation = 1 } of ran) {
    const name = nameOf(generation, attempt, execution)
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if (!recorded.has(name)) faults.push(`attempt ${name} ran, and the ledger does not know`)
  }
  for (const [name, count] of counts) if (count > 1) faults.push(`attempt ${name} ran ${count} times`)
  for (const { generation, number, execution, outcome } of rows) {
    const name = nameOf(generation, number, execution)
    if (!counts.has(name) && outcome !== 'interrupted') faults.push(`attempt ${name} has an outcome, and never ran`)
  }
  return faults
}

/** I5: a success is the last row; a failure has used its attempts. */
function endFaults(task: TaskRecord, rows: readonly AttemptRow[], { attempts }: Expectation): string[] {
  const last = rows.at(-1)
  const successes = rows.filter(({ outcome }) => outcome === 'success').length
  if (task.status === 'succeeded' && (last?.outcome !== 'success' || successes !== 1))
    return ['succeeded without one success at the end']
  if (task.status === 'failed' && task.stopReason === 'attempts_exhausted' && last?.number !== attempts)
    return ['exhausted too early']
  return []
}
