/**
 * What happened to a run, in order of time: its attempts, and what was recorded beside them. Imports the library and the
 * shapes.
 */
import type { AttemptRow, Ledger, StoredEvent, TaskRecord } from 'reprise/durable'
import { retryStateOf } from './retry-state.js'
import { attemptMs, sessionsOf, type TimeSpan } from './run-times.js'
import { taskState } from './step-look.js'
import type { EventView } from './views.js'

const PAGE = 1000

/**
 * What happened to a run, in order of time: attempts, waits, resumes and changes. Empty if there is no such run.
 * @example for (const { timeMs, type, step } of await viewEvents(ledger, 'nightly-1')) console.log(timeMs, type, step)
 */
export async function viewEvents(ledger: Ledger, run: string): Promise<EventView[]> {
  const [stored, all, record] = [
    await storedEvents(ledger, run),
    await ledger.attemptsOfRun(run),
    await ledger.run(run),
  ]
  const sessions = record === undefined ? [] : sessionsOf(record, stored, all, Infinity)
  const events: EventView[] = stored.map(storedView)
  const rows = grouped(all)
  for (const task of await ledger.list({ scopeKind: 'run', scope: run })) {
    const attempts = rows.get(task.id) ?? []
    events.push(
      ...attempts.flatMap((row, index) => attemptViews(row, attempts[index - 1], task.correlationId, sessions)),
    )
    events.push(...currentViews(task), ...endViews(task))
  }
  return events.toSorted((a, b) => a.timeMs - b.timeMs || order(a) - order(b))
}

function grouped(rows: readonly AttemptRow[]): Map<string, AttemptRow[]> {
  const byTask = new Map<string, AttemptRow[]>()
  for (const row of rows) byTask.set(row.id, [...(byTask.get(row.id) ?? []), row])
  return byTask
}

async function storedEvents(ledger: Ledger, run: string): Promise<StoredEvent[]> {
  const all: StoredEvent[] = []
  for (;;) {
    const page = await ledger.events(all.at(-1)?.seq ?? 0, PAGE, { scopeKind: 'run', scope: run })
    all.push(...page)
    if (page.length < PAGE) return all
  }
}

function storedView({ type, id, atMs, correlationId, detail }: StoredEvent): EventView {
  return { timeMs: atMs, type, step: id === '' ? null : id, attempt: null, correlationId, detail }
}

/** The wait before it began when the attempt before it had ended. */
function attemptViews(
  row: AttemptRow,
  before: AttemptRow | undefined,
  correlationId: string,
  sessions: readonly TimeSpan[],
): EventView[] {
  const { id, attempt, execution, generation, startedAtMs, endedAtMs, outcome, failure, delayBeforeMs } = row
  const base = { step: id, attempt, correlationId }
  const which = { generation, execution }
  const isAfterWait = before !== undefined && before.attempt < attempt && before.generation === generation
  const waiting: EventView[] = isAfterWait
    ? [
        {
          ...base,
          timeMs: before.endedAtMs,
          type: 'waiting',
          detail: { generation, delayMs: delayBeforeMs, nextAttemptAtMs: before.endedAtMs + delayBeforeMs },
        },
      ]
    : []
  return [
    ...waiting,
    { ...base, timeMs: startedAtMs, type: 'attempt_started', detail: { ...which, delayBeforeMs } },
    {
      ...base,
      timeMs: endedAtMs,
      type: 'attempt_finished',
      detail: {
        ...which,
        outcome,
        durationMs: attemptMs(row, sessions),
        failure: failure === null ? null : { ...failure },
      },
    },
  ]
}

/** How a step ended, and why. */
function endViews(task: TaskRecord): EventView[] {
  const { id, status, generation, stopReason, updatedAtMs, correlationId } = task
  if (status !== 'succeeded' && status !== 'failed' && status !== 'cancelled') return []
  const { launched, totalDelayMs } = retryStateOf(task)
  const detail = { generation, state: taskState(task), stopReason, attempts: launched, waitedMs: totalDelayMs }
  return [{ timeMs: updatedAtMs, type: 'step_finished', step: id, attempt: null, correlationId, detail }]
}

/** What has not ended has no row yet. */
function currentViews(task: TaskRecord): EventView[] {
  const { id, status, progress, generation, dueAtMs, updatedAtMs, correlationId } = task
  const [current, retry] = [progress.current ?? null, retryStateOf(task)]
  const base = { step: id, correlationId }
  if (status === 'running' && current !== null) {
    const { attempt, execution, startedAtMs } = current
    const detail = { generation, execution, delayBeforeMs: retry.lastDelayMs }
    return [{ ...base, timeMs: startedAtMs, type: 'attempt_started', attempt, detail }]
  }
  if (status !== 'waiting' || retry.failures === 0) return []
  const detail = { generation, delayMs: retry.lastDelayMs, nextAttemptAtMs: dueAtMs }
  return [{ ...base, timeMs: updatedAtMs, type: 'waiting', attempt: retry.launched + 1, detail }]
}

/** Of what happened at one time: an end before what follows from it, the end of all last. */
function order({ type }: EventView): number {
  if (type === 'run_started') return 0
  if (type === 'attempt_finished') return 1
  return type === 'run_finished' ? 3 : 2
}
