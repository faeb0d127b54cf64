/**
 * What happens to a run, as it comes: first all that happened, page by page, then what has changed since the last look.
 * Imports the library and the events of a run.
 *
 * Invariant: what is remembered are the events of the last few seconds, by which an event that is read twice is known.
 */
import type { Ledger, StoredEvent } from 'reprise/durable'
import { eventPages, eventsOfTask, storedView } from './read-events.js'
import { readSessions, runEvents } from './read-times.js'
import { PAGE, pagesOf, scopeOf, tasksOfRun } from './run-pages.js'
import { Policies } from './step-views.js'
import type { EventView } from './views.js'

/** A change is committed some time after the time that it is given. */
const OVERLAP_MS = 10_000

export class EventFollower {
  private readonly ledger: Ledger
  private readonly run: string
  private readonly policies = new Policies()
  /** Events that were told and may be read again, with their times. */
  private readonly told = new Map<string, number>()
  private lookedAtMs: number | undefined = undefined
  private mark: number | undefined = undefined
  /** Events up to this one are not read again. */
  private lastSeq = 0

  constructor(ledger: Ledger, run: string) {
    this.ledger = ledger
    this.run = run
  }

  /** What has happened since the last call, in order of time; nothing if nobody has written anything. */
  async *news(): AsyncGenerator<readonly EventView[]> {
    const mark = await this.ledger.changeMark()
    if (mark === this.mark) return
    const [nowMs, before] = [await this.ledger.now(), this.lookedAtMs]
    const sinceMs = (before ?? nowMs) - OVERLAP_MS
    const note = ({ seq, atMs }: StoredEvent): void => {
      if (atMs < sinceMs) this.lastSeq = seq
    }
    if (before === undefined) {
      for await (const page of eventPages(this.ledger, this.run, note)) {
        for (const event of page) if (event.timeMs >= sinceMs) this.told.set(JSON.stringify(event), event.timeMs)
        yield page
      }
    } else {
      for (const [key, timeMs] of this.told) if (timeMs < sinceMs) this.told.delete(key)
      const changes = await this.changes(sinceMs, note)
      const fresh = changes.filter((event) => event.timeMs >= sinceMs && this.isNew(event))
      if (fresh.length > 0) yield fresh.toSorted((a, b) => a.timeMs - b.timeMs)
    }
    this.mark = mark
    this.lookedAtMs = nowMs
  }

  private isNew(event: EventView): boolean {
    const key = JSON.stringify(event)
    if (this.told.has(key)) return false
    this.told.set(key, event.timeMs)
    return true
  }

  /** Of what changed at this time or later. */
  private async changes(sinceMs: number, note: (event: StoredEvent) => void): Promise<EventView[]> {
    const { ledger, run } = this
    const record = await ledger.run(run)
    if (record === undefined) return []
    const found: EventView[] = []
    const from = this.lastSeq
    const stored = pagesOf((after: StoredEvent | undefined) => ledger.events(after?.seq ?? from, PAGE, scopeOf(run)))
    for await (const page of stored)
      for (const event of page) {
        note(event)
        found.push(storedView(event))
      }
    const sessions = await readSessions(ledger, record, await runEvents(ledger, run), Infinity)
    for await (const page of tasksOfRun(ledger, run, { sinceMs })) {
      await this.policies.know(ledger, page)
      for (const task of page) {
        const context = { sessions, allowed: this.policies.of(task.policyHash) }
        found.push(...eventsOfTask(task, await ledger.attempts(task), context))
      }
    }
    return found
  }
}
