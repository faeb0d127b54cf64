/**
 * Whether a task kept to its policy, however often it changed hands: the delays are those that its seed says, and nothing
 * started past its deadline, its time budget or the date that one ran out at. Imports core and the types of a history.
 */
import { backoffDelay } from '../../packages/reprise/src/core/backoff.js'
import type { Policy } from '../../packages/reprise/src/core/policy.js'
import { drawsOf } from '../../packages/reprise/src/core/state.js'
import type { AttemptRow } from '../../packages/reprise/src/ledger/records.js'
import { CLOCK_TOLERANCE_MS, type TaskHistory } from './task-history.js'

export function policyFaults(history: TaskHistory, policy: Policy): string[] {
  const rows = history.rows.filter(
    ({ generation, outcome }) => generation === history.task.generation && outcome !== 'denied',
  )
  return [...delayFaults(history, rows, policy), ...limitFaults(history, rows, policy)]
}

/** The delay is drawn once, as a function of the seed and the number. */
function delayFaults({ task }: TaskHistory, rows: readonly AttemptRow[], policy: Policy): string[] {
  const draw = drawsOf(task.progress.retry.seed)
  let previousMs = 0
  return rows
    .filter(({ attempt, execution }) => attempt > 1 && execution === 1)
    .flatMap(({ attempt, delayBeforeMs }) => {
      const drawn = backoffDelay(policy, attempt - 1, previousMs, draw)
      previousMs = delayBeforeMs
      return Math.abs(drawn - delayBeforeMs) > 0.001
        ? [`attempt ${attempt} waited ${delayBeforeMs} ms, and ${drawn} were drawn`]
        : []
    })
}

function limitFaults({ task, events }: TaskHistory, rows: readonly AttemptRow[], policy: Policy): string[] {
  const { deadlineAtMs, expiresAtMs, totalDelayMs } = task.progress.retry
  const faults: string[] = []
  if (policy.retryBudgetMs !== undefined && totalDelayMs > policy.retryBudgetMs)
    faults.push(`waited ${totalDelayMs} ms of ${policy.retryBudgetMs}`)
  const takenAtMs = events.filter(({ type }) => type === 'resumed').map(({ atMs }) => atMs)
  const isPast = (atMs: number, limitMs: number | null): boolean =>
    limitMs !== null && atMs >= limitMs + CLOCK_TOLERANCE_MS
  for (const [index, row] of rows.entries()) {
    const { attempt, execution, startedAtMs } = row
    if (isPast(startedAtMs, deadlineAtMs)) faults.push(`attempt ${attempt}.${execution} started past the deadline`)
    // The date counts for a task that had failed when it was taken up; for others the sum of delays alone.
    const before = rows.slice(0, index)
    const resumedAtMs = takenAtMs.find((atMs) => atMs <= startedAtMs && hasFailedBy(before, atMs))
    if (task.generation > 1 || resumedAtMs === undefined) continue
    // Not the start: to wait for a free process is not the task's fault.
    if (isPast(Math.max(resumedAtMs, dueAtMs(before, row)), expiresAtMs))
      faults.push(`attempt ${attempt}.${execution} started past its expiry`)
  }
  return faults
}

function hasFailedBy(rows: readonly AttemptRow[], atMs: number): boolean {
  return rows.some(({ outcome, failure, endedAtMs }) => {
    return (outcome !== 'interrupted' || failure !== null) && endedAtMs <= atMs
  })
}

/** When the attempt was due: after the wait that follows a failure, at once after an interruption. */
function dueAtMs(before: readonly AttemptRow[], { execution, delayBeforeMs }: AttemptRow): number {
  const endedAtMs = before.at(-1)?.endedAtMs ?? 0
  return execution > 1 ? endedAtMs : endedAtMs + delayBeforeMs
}
