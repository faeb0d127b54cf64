/**
 * A run while it goes on, in the events that are recorded of it: what the conductor or a watcher tells only says where to
 * look, and what is told is read from the ledger. So a line of `run --ndjson` is the line that `events --ndjson` prints
 * later. Beside them it tells what is not recorded: output, progress, and figures of the run. Imports the shapes and the
 * events of a run.
 *
 * Invariant: events are told in the order of the calls of `hear`, each once; what is remembered are steps that have not
 * ended. A ledger that cannot be read is told by whoever writes to it next, and what is not recorded is told all the same.
 */
import type { Json, Ledger, StoredEvent } from 'reprise/durable'
import type { RunEvent } from '../run/run-event.js'
import { eventsOfTask, mapView, orderedEvents, storedView } from './read-events.js'
import { readSessions, runEvents } from './read-times.js'
import { PAGE, scopeOf } from './run-pages.js'
import type { TimeSpan } from './run-times.js'
import { Policies } from './step-views.js'
import type { EventView } from './views.js'

export interface LiveEventOptions {
  /** Whether it also tells what happened before: the run's own events, and those of steps that have not ended. */
  readonly isFromStart?: boolean
}

export class LiveEvents {
  private readonly ledger: Ledger
  private readonly run: string
  private readonly tell: (event: EventView) => void
  private readonly isFromStart: boolean
  private readonly policies = new Policies()
  /** Of steps that have not ended: events that were told. */
  private readonly told = new Map<string, Set<string>>()
  private readonly unread = new Set<string>()
  private sessions: readonly TimeSpan[] = []
  /** What happened before belongs to an earlier process. */
  private fromMs = -Infinity
  /** Recorded events up to these were told, by what they are about: the run, or one of its maps. */
  private readonly lastSeq = new Map<string, number>()
  /** The end of the run, met by a watcher that has steps before it left to tell. */
  private readonly ends: StoredEvent[] = []
  private queue: Promise<void> = Promise.resolve()
  /** Of what was heard: how much was told without a failure. */
  private followed = 0

  constructor(ledger: Ledger, run: string, tell: (event: EventView) => void, options: LiveEventOptions = {}) {
    this.ledger = ledger
    this.run = run
    this.tell = tell
    this.isFromStart = options.isFromStart === true
  }

  hear(event: RunEvent): void {
    // Not behind what waits for the store.
    if (event.type === 'store_away' || event.type === 'store_back') return this.tellUnrecorded(event)
    this.queue = this.queue.then(() => this.follow(event)).catch(() => undefined)
  }

  /** Resolves when all that was heard is told, or when the ledger has given nothing more for this long. */
  async flushed(mostIdleMs?: number): Promise<void> {
    if (mostIdleMs === undefined) return this.queue
    const told = this.queue.then(() => true)
    for (let before = -1; before < this.followed; ) {
      before = this.followed
      if (await isWithin(mostIdleMs, told)) return
    }
  }

  private async follow(event: RunEvent): Promise<void> {
    try {
      await this.tellRecorded(event)
      this.followed++
    } finally {
      this.tellUnrecorded(event)
    }
  }

  private async tellRecorded(event: RunEvent): Promise<void> {
    if (event.type === 'run_started') await this.begin()
    if (RECORDED.has(event.type) && 'step' in event) await this.tellSteps(event.step)
    if (event.type === 'step_finished' || event.type === 'step_skipped') this.told.delete(event.step)
    if (event.type === 'map_started' || event.type === 'map_finished') await this.tellMap(event.step)
    if (event.type === 'run_finished') {
      // Attempts that were interrupted are recorded, and not told.
      await this.tellSteps(...this.told.keys())
      await this.tellStored(this.run)
    }
  }

  private tellUnrecorded(event: RunEvent): void {
    const view = unrecordedView(event)
    if (view !== undefined) this.tell(view)
  }

  /** These, and before them steps that could not be read: the store was away. */
  private async tellSteps(...steps: readonly string[]): Promise<void> {
    for (const step of steps) this.unread.add(step)
    for (const step of this.unread) {
      await this.tellStep(step)
      this.unread.delete(step)
    }
  }

  private async begin(): Promise<void> {
    const { ledger, run } = this
    const record = await ledger.run(run)
    const events = await runEvents(ledger, run)
    if (record !== undefined) this.sessions = await readSessions(ledger, record, events, Infinity)
    const start = events.findLast(({ type }) => type === 'run_started' || type === 'run_resumed')
    if (start !== undefined && !this.isFromStart) {
      this.fromMs = start.atMs
      this.lastSeq.set(run, start.seq - 1)
    }
    await this.tellStored(run)
  }

  private async tellStep(step: string): Promise<void> {
    const { ledger, run, sessions, policies } = this
    const task = await ledger.get({ scopeKind: 'run', scope: run, id: step })
    const all = await this.stored(run)
    const stored = all.filter((event) => !this.isEnd(event))
    this.ends.push(...all.filter((event) => this.isEnd(event)))
    if (task === undefined) return stored.map(storedView).forEach(this.tell)
    await policies.know(ledger, [task])
    const allowed = policies.of(task.policyHash)
    const fresh = eventsOfTask(task, await ledger.attempts(task), { sessions, allowed }).filter((one) =>
      this.isNew(one),
    )
    for (const event of orderedEvents([...stored.map(storedView), ...fresh])) this.tell(event)
  }

  private async tellStored(run: string): Promise<void> {
    for (const event of [...this.ends.splice(0), ...(await this.stored(run))]) this.tell(storedView(event))
  }

  private isEnd({ type }: StoredEvent): boolean {
    return type === 'run_finished'
  }

  private async tellMap(map: string): Promise<void> {
    for (const event of await this.stored(`${this.run}/${map}`)) this.tell(mapView(event, this.run, map))
  }

  private async stored(run: string): Promise<readonly StoredEvent[]> {
    const events: StoredEvent[] = []
    for (;;) {
      const page = await this.ledger.events(this.lastSeq.get(run) ?? 0, PAGE, scopeOf(run))
      const last = page.at(-1)
      if (last === undefined) return events
      this.lastSeq.set(run, last.seq)
      events.push(...page)
    }
  }

  private isNew({ type, step, attempt, timeMs, detail }: EventView): boolean {
    if (timeMs < this.fromMs) return false
    const { generation, execution } = detail as { readonly generation?: number; readonly execution?: number }
    const key = [type, attempt, generation, execution].join(' ')
    const told = this.told.get(step ?? '') ?? new Set()
    this.told.set(step ?? '', told)
    if (told.has(key)) return false
    told.add(key)
    return true
  }
}

/** Waits for what never fails, this long at most. */
async function isWithin(mostMs: number, work: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), mostMs)))
  const isDone = await Promise.race([work, enough])
  clearTimeout(timer)
  return isDone
}

/** What is recorded with its step. */
const RECORDED: ReadonlySet<RunEvent['type']> = new Set([
  'attempt_started',
  'attempt_failed',
  'waiting',
  'budget_denied',
  'step_finished',
  'step_skipped',
])

/** What is told of an event beside what is recorded; undefined if nothing is. */
function unrecordedView(event: RunEvent): EventView | undefined {
  const { timeMs, run } = event
  const nowhere = { timeMs, run, step: null, attempt: null, attemptsAllowed: null, correlationId: null }
  switch (event.type) {
    case 'run_started':
      return {
        ...nowhere,
        type: 'run_state',
        detail: detailOf(event, ['name', 'steps', 'counts', 'resumes', ...TIMES]),
      }
    case 'run_finished':
      return { ...nowhere, type: 'run_summary', detail: detailOf(event, ['state', 'stopReason', ...TIMES]) }
    case 'output':
    case 'parked':
    case 'fallback_started': {
      const { type, step, attempt, attempts: attemptsAllowed } = event
      return {
        ...nowhere,
        type,
        step,
        attempt,
        attemptsAllowed,
        detail: detailOf(event, ['line', 'budget', 'fallback']),
      }
    }
    case 'map_started':
      return { ...nowhere, type: 'map_counts', step: event.step, detail: detailOf(event, ['counts']) }
    case 'map_finished':
      return { ...nowhere, type: 'map_summary', step: event.step, detail: restOf(event) }
    case 'store_away':
    case 'store_back':
    case 'group_waiting':
      return { ...nowhere, type: event.type, detail: restOf(event) }
    case 'map_progress':
    case 'map_note':
    case 'item_failed':
      return { ...nowhere, type: event.type, step: event.step, detail: restOf(event) }
    default:
      return undefined
  }
}

const TIMES = ['activeMs', 'waitedMs', 'downMs'] as const
const COMMON: ReadonlySet<string> = new Set(['type', 'timeMs', 'run', 'step'])

/** Those of these fields that there are. */
function detailOf(event: RunEvent, names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(event).filter(([name]) => names.includes(name)))
}

/** All fields but those that every event has. */
function restOf(event: RunEvent): Json {
  return Object.fromEntries(Object.entries(event).filter(([name]) => !COMMON.has(name)))
}
