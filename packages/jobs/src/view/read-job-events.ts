/** Events of jobs by their names, each once. Imports the library and what writes them. */
import type { Json, Ledger, StoredEvent } from 'reprise/durable'
import { JOB_EVENTS, type JobEventName } from '../drive/job-event.js'

/** Something that happened to a job. */
export interface JobEventView {
  /** Its place in the order of events: continue after it. */
  readonly seq: number
  /** What happened. */
  readonly event: JobEventName
  /** The job. */
  readonly jobId: string
  /** When it happened. */
  readonly atMs: number
  /** What else is known of it. */
  readonly detail: Readonly<Record<string, Json>>
}

/** Which events are read. */
export interface JobEventFilter {
  /** Events of this job. @default of all jobs @example { job: 'probe-1' } */
  readonly job?: string
  /** Events of the store that are looked at; those of other things are left out. @default 500 @example { limit: 100 } */
  readonly limit?: number
}

/** Some events of jobs. */
export interface JobEventPage {
  /** In order. */
  readonly events: readonly JobEventView[]
  /** Where to continue, also if no event was a job's. */
  readonly lastSeq: number
}

/** Events after `afterSeq`. */
export async function readJobEvents(
  ledger: Ledger,
  afterSeq: number,
  { job, limit = 500 }: JobEventFilter = {},
): Promise<JobEventPage> {
  const scope = job === undefined ? undefined : ({ scopeKind: 'run', scope: job } as const)
  const stored = await ledger.events(afterSeq, limit, scope)
  return { events: stored.flatMap((event) => viewOf(event) ?? []), lastSeq: stored.at(-1)?.seq ?? afterSeq }
}

function viewOf({ seq, scope, atMs, detail }: StoredEvent): JobEventView | undefined {
  if (typeof detail !== 'object' || detail === null || Array.isArray(detail)) return undefined
  const { event, ...rest } = detail as Readonly<Record<string, Json>>
  const name = JOB_EVENTS.find((known) => known === event)
  return name === undefined ? undefined : { seq, event: name, jobId: scope, atMs, detail: rest }
}
