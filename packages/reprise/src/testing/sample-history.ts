/** Histories for tests of ledgers. Imports the ledger's types and samples. */
import type { Ledger } from '../ledger/ledger.js'
import type { AttemptRow, DeadLetter, LedgerEvent, TaskKey, TaskRecord } from '../ledger/records.js'
import { newTask } from './sample-task.js'

/** A task with all that belongs to it. */
export interface SampleHistory {
  readonly task: Partial<TaskRecord> & { readonly id: string }
  readonly attempts?: readonly Partial<AttemptRow>[]
  readonly events?: readonly Partial<LedgerEvent>[]
  readonly dead?: readonly Partial<DeadLetter>[]
}

/** Written as a driver would: created, then one transaction for everything. */
export async function writeHistory(ledger: Ledger, histories: readonly SampleHistory[]): Promise<void> {
  await ledger.create(
    histories.map(({ task }) => ({
      ...newTask({ correlationId: `c-${task.id}`, ...task }),
      policy: { hash: task.policyHash ?? 'p1', policy: {} },
    })),
  )
  await Promise.all(
    histories.map(({ task, attempts = [], events = [], dead = [] }) => {
      const key: TaskKey = { scopeKind: task.scopeKind ?? 'task', scope: task.scope ?? 'mail', id: task.id }
      return ledger.transact({ tasks: [key] }, () => ({
        attempts: attempts.map((row) => sampleAttempt(key, row)),
        events: events.map((event) => sampleEvent(key, event)),
        dead: dead.map((letter) => sampleLetter(key, letter)),
        result: undefined,
      }))
    }),
  )
}

export function sampleAttempt(key: TaskKey, row: Partial<AttemptRow>): AttemptRow {
  const { outcome = 'failure', endedAtMs = 0 } = row
  const fails = outcome === 'failure' || outcome === 'timeout'
  return {
    ...key,
    generation: 1,
    attempt: 1,
    execution: 1,
    startedAtMs: endedAtMs,
    endedAtMs,
    outcome,
    delayBeforeMs: 0,
    failure: fails ? { name: 'Error', message: 'no luck' } : null,
    signature: fails ? 'Error: no luck' : null,
    owner: 'me',
    ...row,
  }
}

export function sampleEvent(key: TaskKey, event: Partial<LedgerEvent>): LedgerEvent {
  return { type: 'resumed', ...key, atMs: 0, correlationId: `c-${key.id}`, detail: {}, ...event }
}

function sampleLetter(key: TaskKey, letter: Partial<DeadLetter>): DeadLetter {
  const kind = { signature: 'Error: no luck', stopReason: 'attempts_exhausted', failure: null } as const
  return { ...key, generation: 1, atMs: 0, ...kind, ...letter }
}
