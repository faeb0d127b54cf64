/**
 * A record made by hand, whole: fails, is interrupted, and succeeds. Tests of the checkers break it in one place each.
 * Imports the ledger.
 */
import { initialState, snapshot } from '../../packages/reprise/src/core/state.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import type {
  AttemptRow,
  DeadLetter,
  GateRecord,
  LedgerEvent,
  TaskRecord,
} from '../../packages/reprise/src/ledger/records.js'
import type { Expectation, Start } from './history.js'
import { clockReading } from '../clock-reading.js'

export interface SampleRecord {
  task: TaskRecord
  rows: AttemptRow[]
  events: LedgerEvent[]
  letters: DeadLetter[]
  starts: Start[]
  gates: GateRecord[]
  expected: Expectation
}

const KEY = { scopeKind: 'task', scope: 'work', id: 'a' } as const
const FAILURE = { name: 'Error', message: 'no' }

function taskOf(): TaskRecord {
  const retry = { ...initialState(null), launched: 2, failures: 1, totalDelayMs: 100, lastDelayMs: 100 }
  return {
    ...KEY,
    queue: 'work',
    generation: 1,
    status: 'succeeded',
    dueAtMs: null,
    owner: null,
    fence: 3,
    progress: { retry: snapshot(retry, 7), current: null, interruptions: 0, lastFailure: FAILURE },
    policyHash: 'p',
    input: 1,
    result: 'done',
    stopReason: null,
    correlationId: 'c',
    createdAtMs: 1000,
    updatedAtMs: 1210,
  }
}

export function rowOf(
  attempt: number,
  execution: number,
  outcome: AttemptRow['outcome'],
  times: [number, number],
): AttemptRow {
  const [startedAtMs, endedAtMs] = times
  const failure = outcome === 'failure' ? FAILURE : null
  const delayBeforeMs = attempt === 1 ? 0 : 100
  return {
    ...KEY,
    signature: null,
    generation: 1,
    attempt,
    execution,
    startedAtMs,
    endedAtMs,
    outcome,
    delayBeforeMs,
    failure,
    owner: 'o',
  }
}

export const eventOf = (type: LedgerEvent['type'], atMs: number, detail: LedgerEvent['detail'] = {}): LedgerEvent => ({
  ...KEY,
  type,
  atMs,
  correlationId: 'c',
  detail,
})

/** Fails, is interrupted in its second attempt, and succeeds. */
export function whole(): SampleRecord {
  return {
    task: taskOf(),
    rows: [
      rowOf(1, 1, 'failure', [1000, 1010]),
      rowOf(2, 1, 'interrupted', [1110, 1150]),
      rowOf(2, 2, 'success', [1200, 1210]),
    ],
    events: [eventOf('interrupted', 1150)],
    letters: [],
    starts: [
      { task: 'a', attempt: 1, execution: 1, generation: 1, fence: 1, atMs: 1001 },
      { task: 'a', attempt: 2, execution: 1, generation: 1, fence: 2, atMs: 1111 },
      { task: 'a', attempt: 2, execution: 2, generation: 1, fence: 3, atMs: 1201 },
    ],
    gates: [],
    expected: { attempts: 3, finished: true, created: ['a'], results: new Map([['a', 'done']]) },
  }
}

/** Its process is lost, which costs the first attempt; the second succeeds. */
export function charged(): SampleRecord {
  const written = whole()
  alter(written.task, { fence: 2 })
  alter(written.task.progress, { allotted: 1 })
  written.rows = [chargedRow(), rowOf(2, 1, 'success', [1110, 1120])]
  written.events = [eventOf('interrupted', 1010, { attempt: 1, orderly: false, charged: true })]
  written.starts = written.starts.slice(0, 2)
  written.expected = { ...written.expected, onInterrupt: 'charge', isAllotted: true }
  return written
}

/** The same, and the process that was taken for lost delivers the result before anybody begins the second attempt. */
export function chargedLate(): SampleRecord {
  const written = charged()
  alter(written.task, { fence: 1 })
  alter(written.task.progress.retry, { launched: 1 })
  written.rows = [chargedRow(), rowOf(1, 2, 'success', [1000, 1060])]
  written.starts = written.starts.slice(0, 1)
  return written
}

function chargedRow(): AttemptRow {
  return { ...rowOf(1, 1, 'interrupted', [1000, 1010]), failure: FAILURE }
}

export async function ledgerOf({ task, rows, events, letters, gates }: SampleRecord): Promise<MemoryLedger> {
  const ledger = new MemoryLedger({ clock: clockReading(() => 2000) })
  await ledger.create([{ task, policy: { hash: 'p', policy: null }, payloadHash: 'h' }])
  await ledger.transact({ tasks: [task] }, () => ({ attempts: rows, events, dead: letters, gates, result: null }))
  return ledger
}

export function letter(generation: number): DeadLetter {
  return { ...KEY, generation, atMs: 1, signature: 's', stopReason: 'attempts_exhausted', failure: null }
}

/** Assigns through the readonly of the records. */
export function alter<T extends object>(target: T | undefined, values: Partial<T>): void {
  Object.assign(target as T, values)
}
