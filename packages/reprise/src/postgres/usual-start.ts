/**
 * What nearly every claim decides: fresh tasks of one queue begin their first attempts, and nothing else is written. A
 * claim that is expected to decide just that writes it in the statement that finds the tasks, and is decided afterwards.
 * Imports the order of claims and its own layer.
 *
 * Invariant: what is expected is only a guess, and the decision counts. Where it is another one, the tasks are given back
 * before anything else happens, and the claim is made by locking first.
 */
import { FRESH_RANK, rankOf } from '../ledger/claim-order.js'
import type { QueueRef } from '../ledger/ledger.js'
import { text } from '../ledger/rows.js'
import type { TaskState } from './batch.js'
import { type CachedRow, nameOfRef } from './row-cache.js'

/** How a fresh task begins. */
export interface UsualStart {
  readonly owner: string
  readonly now: number
  /** The attempt in flight as JSON. */
  readonly current: string
}

export function usualStart(owner: string, now: number): UsualStart {
  return { owner, now, current: text({ attempt: 1, startedAtMs: now, execution: 1 }) }
}

/** The same in SQL: `current` is the place of the parameter. */
export function startedSql(progress: string, current: string): string {
  const launched = `replace(${progress}, '"launched":0', '"launched":1')`
  return `replace(${launched}, '"current":null', '"current":' || ${current}::text)`
}

/** Whether the change of a task is what the statement writes. `progressOf`: as its row had it before. */
export function isUsual(
  rows: readonly CachedRow[],
  progressOf: (index: number) => string,
  start: UsualStart,
): (change: TaskState, index: number) => boolean {
  return (change, index) => {
    const { task } = rows[index] as CachedRow
    return (
      rankOf(task) === FRESH_RANK &&
      change.status === 'running' &&
      change.owner === start.owner &&
      change.fence === task.fence + 1 &&
      change.due_at === null &&
      change.claim_rank === 0 &&
      change.updated_at === start.now &&
      change.queue === task.queue &&
      change.generation === task.generation &&
      change.policy_hash === task.policyHash &&
      change.result === (task.result === undefined ? null : text(task.result)) &&
      change.stop_reason === task.stopReason &&
      change.progress === startedText(progressOf(index), start.current)
    )
  }
}

function startedText(progress: string, current: string): string {
  return progress.replaceAll('"launched":0', '"launched":1').replaceAll('"current":null', `"current":${current}`)
}

/** Queues of runs come and go: what is known of them is forgotten when there are more. */
const MOST_QUEUES = 1000
/** After a wrong guess claims of the queue are decided before they are written for this long. */
const CAUTIOUS_MS = 5000

/** Of which queues the next claim is expected to decide what is usual, and for whom. */
export class UsualStarts {
  private readonly owners = new Map<string, string>()
  private readonly cautiousUntilMs = new Map<string, number>()
  private readonly monotonicMs: () => number

  constructor(monotonicMs = () => performance.now()) {
    this.monotonicMs = monotonicMs
  }

  ownerOf(ref: QueueRef): string | undefined {
    return this.owners.get(nameOfRef(ref))
  }

  /** Every task of a claim that was decided first began in the usual way. */
  learn(ref: QueueRef, owner: string): void {
    const name = nameOfRef(ref)
    const untilMs = this.cautiousUntilMs.get(name)
    if (untilMs !== undefined && this.monotonicMs() < untilMs) return
    this.cautiousUntilMs.delete(name)
    if (this.owners.size >= MOST_QUEUES) this.owners.clear()
    this.owners.set(name, owner)
  }

  forget(ref: QueueRef): void {
    const name = nameOfRef(ref)
    if (!this.owners.delete(name)) return
    if (this.cautiousUntilMs.size >= MOST_QUEUES) this.cautiousUntilMs.clear()
    this.cautiousUntilMs.set(name, this.monotonicMs() + CAUTIOUS_MS)
  }
}
