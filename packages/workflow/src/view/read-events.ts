/**
 * What happened to a run, in order of time: its attempts, and what was recorded beside them. Imports the library and the
 * shapes.
 *
 * Invariant: two pages are kept, and what is later than the tasks that were read so far, however many events there are.
 */
import type { AttemptRow, Json, Ledger, RunRecord, StoredEvent, TaskRecord } from 'reprise/durable'
import { readSessions, runEvents } from './read-times.js'
import { isOlder, retryStateOf } from './retry-state.js'
import { pagesOf, scopeOf } from './run-pages.js'
import { attemptMs, type TimeSpan } from './run-times.js'
import { type Allowance, Policies, reasonOf, STATE_OF, taskState } from './step-views.js'
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

/** Events of one source, in order of time. */
export function orderedEvents(events: readonly EventView[]): EventView[] {
  return events.toSorted((a, b) => a.timeMs - b.timeMs || order(a) - order(b))
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
  const policies = new Policies()
  const sessions = await readSessions(ledger, record, await runEvents(ledger, run), Infinity)
  for (let after: TaskRecord | undefined; ; ) {
    const page = await ledger.analytics.runHistory(run, { limit: PAGE, ...(after && { after }) })
    const last = page.at(-1)?.task
    if (last === undefined) return
    await policies.know(
      ledger,
      page.map(({ task }) => task),
    )
    const events = page.flatMap(({ task, attempts }) =>
      eventsOfTask(task, attempts, { sessions, allowed: policies.of(task.policyHash) }),
    )
    yield { events, untilMs: last.createdAtMs }
    if (page.length < PAGE) return
    after = last
  }
}

/** What the events of a task need beside its rows. */
export interface EventContext {
  /** When processes conducted the run. */
  readonly sessions: readonly TimeSpan[]
  /** What the policy of the task allows. */
  readonly allowed: Allowance
}

/** All that is known of one step. */
export function eventsOfTask(
  task: TaskRecord,
  attempts: readonly AttemptRow[],
  { sessions, allowed }: EventContext,
): EventView[] {
  const base = { run: task.scope, step: task.id, correlationId: task.correlationId }
  const waited = new WaitedTime()
  const ended = attempts.flatMap((row, index) => {
    const of = { ...base, attempt: row.attempt, attemptsAllowed: allowed.attempts }
    const before = attempts[index - 1]
    const waitedMs = waited.upTo(row)
    const waiting = isAfterWait(row, before)
      ? [waitBefore(of, row, { endedAtMs: before?.endedAtMs ?? 0, waitedMs, retryBudgetMs: allowed.retryBudgetMs })]
      : []
    return [...waiting, ...attemptViews(of, row, sessions)]
  })
  return [...ended, ...currentViews(task, attempts.at(-1), allowed), ...earlierViews(task, attempts), ...endViews(task)]
}

/** What concerns the maps of the run as a whole: resumes, ends, and changes by hand; items are in pages of their own. */
async function* mapEvents(ledger: Ledger, { id: run }: RunRecord): AsyncGenerator<Batch> {
  const maps = await ledger.runs({ idPrefix: `${run}/` })
  if (maps.length === 0) return
  const events: EventView[] = []
  for (const { id } of maps) {
    const [, map = ''] = id.split('/')
    for (const event of await runEvents(ledger, id)) events.push(mapView(event, run, map))
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
      if (of === `queue:${run}` && map !== undefined) events.push({ ...storedView(event), run, step: map })
    }
  yield { events, untilMs: Infinity }
}

export function storedView({ type, scope, id, atMs, correlationId, detail }: StoredEvent): EventView {
  const base = { run: scope, step: id === '' ? null : id, attempt: null, attemptsAllowed: null, correlationId }
  return viewOf(base, atMs, type, detail)
}

/** With its fields in one order: an event that is read twice is known by its text. */
function viewOf(base: AttemptBase, timeMs: number, type: string, detail: Json): EventView {
  const { run, step, attempt, attemptsAllowed, correlationId } = base
  return { timeMs, type, run, step, attempt, attemptsAllowed, correlationId, detail }
}

/** Of a map, which is recorded as a run of its own. */
export function mapView(event: StoredEvent, run: string, map: string): EventView {
  return { ...storedView(event), run, type: event.type.replace(/^run_/, 'map_'), step: map }
}

type AttemptBase = Pick<EventView, 'run' | 'step' | 'attempt' | 'attemptsAllowed' | 'correlationId'>

/** An attempt that was denied without a wait was denied with the failure before it: the gate said so at once. */
function isAfterWait(row: AttemptRow, before: AttemptRow | undefined): boolean {
  if (before === undefined || before.attempt >= row.attempt || before.generation !== row.generation) return false
  return row.outcome !== 'denied' || row.delayBeforeMs > 0
}

/** The sum of the waits of a generation, attempt by attempt: a task that polls may have thousands. */
class WaitedTime {
  private generation = 0
  private totalMs = 0
  /** Of one generation: the wait before each attempt, which was begun again if its process was lost. */
  private readonly delays = new Map<number, number>()

  /** The attempts before were given before, generation by generation. */
  upTo({ generation, attempt, delayBeforeMs }: AttemptRow): number {
    if (generation !== this.generation) {
      this.delays.clear()
      this.generation = generation
      this.totalMs = 0
    }
    this.totalMs += delayBeforeMs - (this.delays.get(attempt) ?? 0)
    this.delays.set(attempt, delayBeforeMs)
    return this.totalMs
  }
}

/** The wait before an attempt began when the attempt before it had ended. */
function waitBefore(
  base: AttemptBase,
  { generation, delayBeforeMs: delayMs }: AttemptRow,
  {
    endedAtMs,
    waitedMs,
    retryBudgetMs,
  }: { readonly endedAtMs: number; readonly waitedMs: number; readonly retryBudgetMs: number | null },
): EventView {
  const detail = { generation, delayMs, nextAttemptAtMs: endedAtMs + delayMs, waitedMs, retryBudgetMs }
  return viewOf(base, endedAtMs, 'waiting', detail)
}

function attemptViews(base: AttemptBase, row: AttemptRow, sessions: readonly TimeSpan[]): EventView[] {
  const { execution, generation, startedAtMs, endedAtMs, outcome, failure, delayBeforeMs } = row
  const which = { generation, execution }
  const denial = failure?.denial
  if (outcome === 'denied' && denial !== undefined)
    return [viewOf(base, endedAtMs, 'attempt_denied', { ...which, ...denial })]
  const durationMs = attemptMs(row, sessions)
  const ended = { ...which, outcome, durationMs, failure: failure === null ? null : { ...failure } }
  return [
    viewOf(base, startedAtMs, 'attempt_started', { ...which, delayBeforeMs }),
    viewOf(base, endedAtMs, 'attempt_finished', ended),
  ]
}

/** How a step had ended when a fresh set of attempts was granted. */
function earlierViews(
  { scope: run, id, progress, correlationId }: TaskRecord,
  rows: readonly AttemptRow[],
): EventView[] {
  const base = { run, step: id, attempt: null, attemptsAllowed: null, correlationId }
  return (progress.earlier ?? []).map(({ generation, status, stopReason, attempts, waitedMs, endedAtMs }) => {
    const last = rows.findLast((row) => row.generation === generation)
    const failure = status === 'failed' && last?.failure ? { ...last.failure } : null
    const detail = { generation, state: STATE_OF[status], stopReason, attempts, waitedMs, failure }
    return viewOf(base, endedAtMs, 'step_finished', detail)
  })
}

/** How a step ended, and why. */
function endViews(task: TaskRecord): EventView[] {
  const { scope: run, id, status, generation, stopReason, updatedAtMs, correlationId } = task
  if (status !== 'succeeded' && status !== 'failed' && status !== 'cancelled') return []
  const { launched, totalDelayMs } = retryStateOf(task)
  const { lastFailure } = task.progress
  const hasFailure = status === 'failed' && !isOlder(task) && lastFailure !== null
  const failure = hasFailure ? { ...lastFailure } : null
  const sums = { attempts: launched, waitedMs: totalDelayMs }
  const state = taskState(task)
  const skipped = state === 'skipped' ? { reason: reasonOf(task) } : {}
  const detail = { generation, state, stopReason, ...sums, failure, ...skipped }
  const base = { run, step: id, attempt: null, attemptsAllowed: null, correlationId }
  return [viewOf(base, updatedAtMs, 'step_finished', detail)]
}

/** What has not ended has no row yet. A wait began with the end of the attempt before it, which may be recorded later. */
function currentViews(
  task: TaskRecord,
  before: AttemptRow | undefined,
  { attempts: attemptsAllowed, retryBudgetMs }: Allowance,
): EventView[] {
  const { scope: run, id, status, progress, generation, updatedAtMs, correlationId } = task
  const [current, retry] = [progress.current ?? null, retryStateOf(task)]
  const base = { run, step: id, attemptsAllowed, correlationId }
  const { lastDelayMs: delayMs, totalDelayMs: waitedMs } = retry
  const beganAtMs = before?.endedAtMs ?? updatedAtMs
  const waiting = (attempt: number): EventView => {
    const detail = { generation, delayMs, nextAttemptAtMs: beganAtMs + delayMs, waitedMs, retryBudgetMs }
    return viewOf({ ...base, attempt }, beganAtMs, 'waiting', detail)
  }
  if (status === 'running' && current !== null) {
    const { attempt, execution, startedAtMs } = current
    const hasWaited = before !== undefined && before.generation === generation && before.attempt < attempt
    const detail = { generation, execution, delayBeforeMs: delayMs }
    return [
      ...(hasWaited ? [waiting(attempt)] : []),
      viewOf({ ...base, attempt }, startedAtMs, 'attempt_started', detail),
    ]
  }
  return status === 'waiting' && retry.failures > 0 ? [waiting(retry.launched + 1)] : []
}

/** Of what happened at one time: an end before what follows from it, the end of all last. */
const ORDER: Readonly<Record<string, number>> = {
  run_started: 0,
  run_resumed: 0,
  attempt_finished: 1,
  breaker_changed: 2,
  step_finished: 4,
  run_finished: 5,
}

function order({ type }: EventView): number {
  return ORDER[type] ?? 3
}
