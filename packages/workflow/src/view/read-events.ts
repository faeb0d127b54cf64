/**
 * What happened to a run, in order of time: its attempts, and what was recorded beside them. Imports the library and the
 * shapes.
 *
 * Invariant: two pages are kept, and what is later than the tasks that were read so far, however many events there are.
 */
import type { AttemptRow, Ledger, RunRecord, StoredEvent, TaskRecord } from 'reprise/durable'
import { readSessions, runEvents } from './read-times.js'
import { retryStateOf } from './retry-state.js'
import { pagesOf, scopeOf } from './run-pages.js'
import { attemptMs, type TimeSpan } from './run-times.js'
import { taskState } from './step-look.js'
import type { EventView } from './views.js'

/** Tasks of one page, which are read with their attempts; events of one page. */
const PAGE = 2000

/**
 * What happened to a run, in order of time: attempts, waits, resumes and changes. Empty if there is no such run.
 * @example for (const { timeMs, type, step } of await viewEvents(ledger, 'nightly-1')) console.log(timeMs, type, step)
 */
export async function viewEvents(ledger: Ledger, run: string): Promise<EventView[]> {
  const all: EventView[] = []
  for await (const page of eventPages(ledger, run)) for (const event of page) all.push(event)
  return all
}

/** Something that follows from one read of a source: no later read gives an event before `untilMs`. */
interface Batch {
  readonly events: readonly EventView[]
  readonly untilMs: number
}

/** The same, page by page: a run may have very many steps. `onStored` hears of each event that is a row of its own. */
export async function* eventPages(
  ledger: Ledger,
  run: string,
  onStored: (event: StoredEvent) => void = () => undefined,
): AsyncGenerator<readonly EventView[]> {
  const record = await ledger.run(run)
  if (record === undefined) return
  const sources = [storedEvents(ledger, run, onStored), mapEvents(ledger, record), taskEvents(ledger, record)]
  const untilMs = sources.map(() => -Infinity)
  let pending: Pending[] = []
  for (;;) {
    // The source that is behind the others says how far all of them are.
    const behind = untilMs.indexOf(Math.min(...untilMs))
    const next = await (sources[behind] as AsyncGenerator<Batch>).next()
    untilMs[behind] = next.done === true ? Infinity : next.value.untilMs
    if (next.done !== true) for (const event of next.value.events) pending.push({ event, source: behind })
    const certainMs = Math.min(...untilMs)
    const isCertain = ({ event }: Pending): boolean => event.timeMs < certainMs
    const page = pending.filter(isCertain).toSorted(inOrder)
    pending = pending.filter((one) => !isCertain(one))
    if (page.length > 0) yield page.map(({ event }) => event)
    if (certainMs === Infinity) return
  }
}

interface Pending {
  readonly event: EventView
  readonly source: number
}

function inOrder(a: Pending, b: Pending): number {
  return a.event.timeMs - b.event.timeMs || order(a.event) - order(b.event) || a.source - b.source
}

/** Events of the run and of its steps that are rows of their own. */
async function* storedEvents(
  ledger: Ledger,
  run: string,
  onStored: (event: StoredEvent) => void,
): AsyncGenerator<Batch> {
  const pages = pagesOf(
    (after: StoredEvent | undefined) => ledger.events(after?.seq ?? 0, PAGE, scopeOf(run)),
    undefined,
    PAGE,
  )
  for await (const page of pages) {
    for (const event of page) onStored(event)
    const last = page.at(-1)
    if (last !== undefined) yield { events: page.map(storedView), untilMs: last.atMs }
  }
}

/** What happened to each step: nothing of it is earlier than its creation, and those that follow were created later. */
async function* taskEvents(ledger: Ledger, record: RunRecord): AsyncGenerator<Batch> {
  const { id: run } = record
  const sessions = await readSessions(ledger, record, await runEvents(ledger, run), Infinity)
  for (let after: TaskRecord | undefined; ; ) {
    const page = await ledger.analytics.runHistory(run, { limit: PAGE, ...(after && { after }) })
    const last = page.at(-1)?.task
    if (last === undefined) return
    const events = page.flatMap(({ task, attempts }) => eventsOfTask(task, attempts, sessions))
    yield { events, untilMs: last.createdAtMs }
    if (page.length < PAGE) return
    after = last
  }
}

/** All that is known of one step. */
export function eventsOfTask(
  task: TaskRecord,
  attempts: readonly AttemptRow[],
  sessions: readonly TimeSpan[],
): EventView[] {
  const { correlationId } = task
  const ended = attempts.flatMap((row, index) => attemptViews(row, attempts[index - 1], correlationId, sessions))
  return [...ended, ...currentViews(task), ...endViews(task)]
}

/** What concerns the maps of the run as a whole: resumes, ends, and changes by hand; items are in pages of their own. */
async function* mapEvents(ledger: Ledger, { id: run }: RunRecord): AsyncGenerator<Batch> {
  const maps = await ledger.runs({ idPrefix: `${run}/` })
  if (maps.length === 0) return
  const events: EventView[] = []
  for (const { id } of maps) {
    const [, map = ''] = id.split('/')
    for (const event of await runEvents(ledger, id))
      events.push({ ...storedView(event), type: event.type.replace(/^run_/, 'map_'), step: map })
  }
  // Changes of queues by hand are of no run. None concerns this one before it began.
  const [first] = await runEvents(ledger, run)
  const changes = pagesOf(
    (after: StoredEvent | undefined) =>
      ledger.events(after?.seq ?? first?.seq ?? 0, PAGE, { scopeKind: '', scope: '' }),
    undefined,
    PAGE,
  )
  for await (const page of changes)
    for (const event of page) {
      const { gate } = event.detail as { readonly gate?: unknown }
      const [of, map] = String(gate).split('/')
      if (of === `queue:${run}` && map !== undefined) events.push({ ...storedView(event), step: map })
    }
  yield { events, untilMs: Infinity }
}

export function storedView({ type, id, atMs, correlationId, detail }: StoredEvent): EventView {
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
  const denial = failure?.denial
  if (outcome === 'denied' && denial !== undefined)
    return [...waiting, { ...base, timeMs: endedAtMs, type: 'attempt_denied', detail: { ...which, ...denial } }]
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
