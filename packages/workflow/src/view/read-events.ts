/**
 * What happened to a run, in order of time: its attempts, and what was recorded beside them. Imports the library and the
 * shapes.
 */
import type { AttemptRow, Ledger, StoredEvent, TaskRecord } from 'reprise/durable'
import { retryStateOf } from './retry-state.js'
import { allAttemptsOfRun, allEventsOf, allEventsOfRun, tasksOfRun } from './run-pages.js'
import { attemptMs, sessionsOf, type TimeSpan } from './run-times.js'
import { taskState } from './step-look.js'
import type { EventView } from './views.js'

/**
 * What happened to a run, in order of time: attempts, waits, resumes and changes. Empty if there is no such run.
 * @example for (const { timeMs, type, step } of await viewEvents(ledger, 'nightly-1')) console.log(timeMs, type, step)
 */
export async function viewEvents(ledger: Ledger, run: string): Promise<EventView[]> {
  const [stored, all, record] = [
    await allEventsOfRun(ledger, run),
    await allAttemptsOfRun(ledger, run),
    await ledger.run(run),
  ]
  const sessions = record === undefined ? [] : sessionsOf(record, stored, all, Infinity)
  const events: EventView[] = [...stored.map(storedView), ...(await mapEvents(ledger, run))]
  const rows = grouped(all)
  for await (const page of tasksOfRun(ledger, run)) {
    for (const task of page) {
      const attempts = rows.get(task.id) ?? []
      for (const [index, row] of attempts.entries())
        events.push(...attemptViews(row, attempts[index - 1], task.correlationId, sessions))
      events.push(...currentViews(task), ...endViews(task))
    }
  }
  return events.toSorted((a, b) => a.timeMs - b.timeMs || order(a) - order(b))
}

function grouped(rows: readonly AttemptRow[]): Map<string, AttemptRow[]> {
  const byTask = new Map<string, AttemptRow[]>()
  for (const row of rows) {
    const known = byTask.get(row.id)
    if (known === undefined) byTask.set(row.id, [row])
    else known.push(row)
  }
  return byTask
}

/** What concerns the maps of the run as a whole: resumes, ends, and changes by hand; items are in pages of their own. */
async function mapEvents(ledger: Ledger, run: string): Promise<EventView[]> {
  const maps = await ledger.runs({ idPrefix: `${run}/` })
  if (maps.length === 0) return []
  const own: EventView[] = []
  for (const { id } of maps) {
    const [, map = ''] = id.split('/')
    const stored = (await allEventsOfRun(ledger, id)).filter((event) => event.id === '')
    own.push(...stored.map((event) => ({ ...storedView(event), type: event.type.replace(/^run_/, 'map_'), step: map })))
  }
  const changed = await allEventsOf(ledger, { scopeKind: '', scope: '' })
  const byHand = changed.flatMap((event): EventView[] => {
    const { gate } = event.detail as { readonly gate?: unknown }
    const [of, map] = String(gate).split('/')
    return of === `queue:${run}` && map !== undefined ? [{ ...storedView(event), step: map }] : []
  })
  return [...own, ...byHand]
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
