/**
 * What happens to a job beside its workflows, as events of its run: written in the transaction that makes it true, so each
 * is there once. Pure. Imports the library's types.
 */
import type { Json, RunRecord, StoredEvent } from 'reprise/durable'

export type JobEvent = Omit<StoredEvent, 'seq'>

/** The names of AD-44, and those of a job's life beside them. */
export const JOB_EVENTS = [
  'RetryBudgetExhausted',
  'BestEffortCompletion',
  'LateDatacenterResult',
  'JobSubmitted',
  'JobCompleted',
  'JobUpdated',
  'JobRetried',
] as const

export type JobEventName = (typeof JOB_EVENTS)[number]

/** The types that the ledger has for events of runs. */
const TYPES: Readonly<Record<JobEventName, 'run_started' | 'run_finished' | 'run_changed' | 'run_resumed'>> = {
  RetryBudgetExhausted: 'run_changed',
  BestEffortCompletion: 'run_changed',
  LateDatacenterResult: 'run_changed',
  JobSubmitted: 'run_started',
  JobCompleted: 'run_finished',
  JobUpdated: 'run_changed',
  JobRetried: 'run_resumed',
}

export function jobEvent(
  event: JobEventName,
  { id, correlationId }: Pick<RunRecord, 'id' | 'correlationId'>,
  about: Readonly<Record<string, Json>>,
  now: number,
): JobEvent {
  return {
    type: TYPES[event],
    scopeKind: 'run',
    scope: id,
    id: '',
    atMs: now,
    correlationId,
    detail: { event, ...about },
  }
}
