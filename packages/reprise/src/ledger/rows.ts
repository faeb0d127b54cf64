/**
 * Rows of SQL tables and the records they are, for every store that has tables: columns for what is searched, JSON for
 * the rest. A row that is none of ours is told as what it is, corrupt, with its place. Imports its own layer.
 */
import { rankOf } from './claim-order.js'
import type { FailureExample, ResumeStats } from './analytics.js'
import { fields, listOf, NUMBER, shapeFaults, TEXT } from './json-shape.js'
import type {
  AttemptRow,
  Compaction,
  DeadLetter,
  GateRecord,
  Json,
  LedgerEvent,
  LetterClosing,
  OwnerRecord,
  RunRecord,
  Scope,
  ScopeKind,
  StoredEvent,
  TaskKey,
  TaskProgress,
  TaskRecord,
} from './records.js'
import { keyIn, RUN_STATUSES, SCOPE_KINDS, scopeOfRun, TASK_STATUSES, wordsOf } from './records.js'
import type { TaskResult } from './ledger.js'
import { TASK_CLASSES, type Tally, tallyOf } from './tally.js'

export type SqlValue = number | string | null
export type SqlRow = Readonly<Record<string, SqlValue>>

/** Told with the name of the ledger by whoever knows it. */
export class DamagedRow extends Error {}

export interface TaskRow {
  readonly pk: number
  readonly task: TaskRecord
  /** As it is written. */
  readonly input: string
}

export const TASK_COLUMNS = `pk, scope_kind, scope, id, queue, generation, status, due_at, owner, fence, progress,
  policy_hash, input, result, stop_reason, tally, correlation_id, created_at, updated_at,
  compacted_attempts, compacted_until`

export function scopeOf(row: SqlRow): Scope {
  return { scopeKind: row['scope_kind'] as ScopeKind, scope: row['scope'] as string }
}

/** The columns of a task's key. */
export function keyInRow(row: SqlRow): TaskKey {
  const [scopeKind, scope, id] = [row['scope_kind'] as ScopeKind, row['scope'] as string, row['id'] as string]
  if (!SCOPE_KINDS.includes(scopeKind))
    throw new DamagedRow(`${scope}/${id} is in a scope of the kind ${JSON.stringify(scopeKind)}`)
  return { scopeKind, scope, id }
}

export function taskOf(row: SqlRow): TaskRow {
  const key = keyInRow(row)
  const { result, tally } = row
  const status = row['status'] as TaskRecord['status']
  if (!TASK_STATUSES.includes(status)) throw new DamagedRow(`${wordsOf(key)} has the status ${JSON.stringify(status)}`)
  // Without spreads, which take longer than all the rest: lists have very many of them.
  const task: { -readonly [Field in keyof TaskRecord]: TaskRecord[Field] } = {
    scopeKind: key.scopeKind,
    scope: key.scope,
    id: key.id,
    queue: row['queue'] as string,
    generation: row['generation'] as number,
    status,
    dueAtMs: row['due_at'] as number | null,
    owner: row['owner'] as string | null,
    fence: row['fence'] as number,
    progress: parse(row['progress'], key) as unknown as TaskProgress,
    policyHash: row['policy_hash'] as string,
    input: parse(row['input'], key),
    stopReason: row['stop_reason'] as TaskRecord['stopReason'],
    correlationId: row['correlation_id'] as string,
    createdAtMs: row['created_at'] as number,
    updatedAtMs: row['updated_at'] as number,
  }
  if (typeof tally === 'string') task.tally = tally
  if (typeof result === 'string') task.result = parse(result, key)
  if (row['compacted_until'] !== null) task.compacted = compactionOf(row)
  return { pk: row['pk'] as number, task, input: row['input'] as string }
}

export function compactionOf(row: SqlRow): Compaction {
  return { attempts: row['compacted_attempts'] as number, untilMs: row['compacted_until'] as number }
}

/** What a change may change, in the order of the update statement. */
export const UPDATED_COLUMNS = [
  'queue',
  'generation',
  'status',
  'claim_rank',
  'due_at',
  'owner',
  'fence',
  'progress',
  'policy_hash',
  'result',
  'stop_reason',
  'updated_at',
] as const

export function updatedValues(task: TaskRecord): SqlValue[] {
  return [
    task.queue,
    task.generation,
    task.status,
    rankOf(task),
    task.dueAtMs,
    task.owner,
    task.fence,
    text(task.progress),
    task.policyHash,
    task.result === undefined ? null : text(task.result),
    task.stopReason,
    task.updatedAtMs,
  ]
}

export function attemptValues(pk: number, row: AttemptRow): SqlValue[] {
  return [
    pk,
    row.generation,
    row.attempt,
    row.execution,
    row.startedAtMs,
    row.endedAtMs,
    row.outcome,
    row.delayBeforeMs,
    row.failure === null ? null : text(row.failure),
    row.signature,
    row.owner,
  ]
}

export function attemptOf(row: SqlRow, { scopeKind, scope, id }: TaskKey): AttemptRow {
  return {
    scopeKind,
    scope,
    id,
    generation: row['generation'] as number,
    attempt: row['attempt'] as number,
    execution: row['execution'] as number,
    startedAtMs: row['started_at'] as number,
    endedAtMs: row['ended_at'] as number,
    outcome: row['outcome'] as AttemptRow['outcome'],
    delayBeforeMs: row['delay_before'] as number,
    failure: failureIn(row, scopeKind, scope, id),
    signature: row['signature'] as string | null,
    owner: row['owner'] as string,
  }
}

function failureIn(row: SqlRow, scopeKind: ScopeKind, scope: string, id: string): AttemptRow['failure'] {
  const failure = row['failure']
  if (failure === null || failure === undefined) return null
  return parse(failure, `attempt of ${wordsOf({ scopeKind, scope, id })}`) as unknown as AttemptRow['failure']
}

/** Greater than every id that begins with a prefix, once it stands behind it: stores compare ids byte by byte. */
export const AFTER_PREFIX = '\u{10ffff}'

export const RUN_COLUMNS = `id, kind, name, status, owner, fence, resumes, fingerprint, detail, correlation_id, created_at,
  updated_at, ended_at`

export function runOf(row: SqlRow): RunRecord {
  const place = `run ${String(row['id'])}`
  const status = row['status'] as RunRecord['status']
  if (!RUN_STATUSES.includes(status)) throw new DamagedRow(`${place} has the status ${JSON.stringify(status)}`)
  return {
    id: row['id'] as string,
    kind: row['kind'] as string,
    name: row['name'] as string,
    status,
    owner: row['owner'] as string | null,
    fence: row['fence'] as number,
    resumes: row['resumes'] as number,
    fingerprint: row['fingerprint'] as string,
    detail: parse(row['detail'], place),
    correlationId: row['correlation_id'] as string,
    createdAtMs: row['created_at'] as number,
    updatedAtMs: row['updated_at'] as number,
    endedAtMs: row['ended_at'] as number | null,
  }
}

/** In the order of the columns. */
export function runValues(run: RunRecord): SqlValue[] {
  const { id, kind, name, correlationId, createdAtMs, updatedAtMs, endedAtMs } = run
  return [id, kind, name, ...runState(run), correlationId, createdAtMs, updatedAtMs, endedAtMs]
}

/** What changes, in the order of the update statement. */
export function changedRunValues(run: RunRecord): SqlValue[] {
  return [...runState(run), run.updatedAtMs, run.endedAtMs, run.id]
}

function runState({ status, owner, fence, resumes, fingerprint, detail }: RunRecord): SqlValue[] {
  return [status, owner, fence, resumes, fingerprint, text(detail)]
}

export function gateOf(row: SqlRow): GateRecord {
  const key = row['key'] as string
  const [settings, manualRevision] = [row['settings'], row['manual_revision'] as number]
  return {
    key,
    kind: row['kind'] as GateRecord['kind'],
    state: parse(row['state'], `gate ${key}`),
    ...(settings !== null && { settings: parse(settings, `gate ${key}`) }),
    ...(manualRevision > 0 && { manualRevision }),
  }
}

/** In the order of the columns. */
export function gateValues({ key, kind, state, settings, manualRevision = 0 }: GateRecord): SqlValue[] {
  return [key, kind, text(state), settings === undefined ? null : text(settings), manualRevision]
}

const OWNER = fields(
  {
    id: TEXT,
    host: TEXT,
    pid: NUMBER,
    processStart: TEXT,
    bootId: TEXT,
    startedAtMs: NUMBER,
    leaseUntilMs: NUMBER,
  },
  { leaseMs: NUMBER, slots: NUMBER, running: NUMBER, queues: listOf(TEXT), role: TEXT, site: TEXT, version: TEXT },
)

/**
 * The process of the row; undefined if it is damaged. Nothing can be said of that process: it writes its row again at the next
 * heartbeat if it lives, and if not, its tasks are taken over like those of any process without a row.
 */
export function ownerIn(row: SqlRow): OwnerRecord | undefined {
  const record = parse(row['record'], 'an owner')
  return shapeFaults(OWNER, record, '').length === 0 ? (record as unknown as OwnerRecord) : undefined
}

export function ownersIn(rows: readonly SqlRow[]): OwnerRecord[] {
  return rows.map(ownerIn).filter((owner) => owner !== undefined)
}

export function deadLetterOf(row: SqlRow): DeadLetter {
  const key = keyInRow(row)
  const [closedAtMs, by] = [row['closed_at'], row['closed_by']]
  return {
    ...key,
    generation: row['generation'] as number,
    atMs: row['at'] as number,
    signature: row['signature'] as string,
    stopReason: row['stop_reason'] as DeadLetter['stopReason'],
    failure: parseOrNull(row['failure'], `dead letter of ${wordsOf(key)}`) as DeadLetter['failure'],
    ...(typeof closedAtMs === 'number' && { closed: { atMs: closedAtMs, by: by as LetterClosing } }),
  }
}

export function eventOf(row: SqlRow): StoredEvent {
  const seq = row['seq'] as number
  return {
    seq,
    type: row['type'] as LedgerEvent['type'],
    scopeKind: row['scope_kind'] as LedgerEvent['scopeKind'],
    scope: row['scope'] as string,
    id: row['id'] as string,
    atMs: row['at'] as number,
    correlationId: row['correlation_id'] as string,
    detail: parse(row['detail'], `event ${seq}`),
  }
}

/** A row, or a sum of rows, of tallies; all zero without one. */
export function tallyInRow(row: SqlRow | undefined): Tally {
  return tallyOf(TASK_CLASSES.map((column) => numberOf(row?.[column])))
}

export function text(value: unknown): string {
  return JSON.stringify(value)
}

/** Of a task that succeeded. */
export function resultOf(row: SqlRow, run: string): TaskResult {
  const id = row['id'] as string
  const place = keyIn(scopeOfRun(run), id)
  const progress = parse(row['progress'], place) as { readonly retry?: { readonly failures?: unknown } | null } | null
  const failures = progress?.retry?.failures
  return { id, result: parseOrNull(row['result'], place), failures: typeof failures === 'number' ? failures : 0 }
}

/** `place`: what it is of, for the error. A key becomes words only then: lists have very many rows. */
export function parse(value: SqlValue | undefined, place: string | TaskKey): Json {
  // The input of every step.
  if (value === 'null') return null
  try {
    return JSON.parse(typeof value === 'string' ? value : '') as Json
  } catch (error) {
    const words = typeof place === 'string' ? place : wordsOf(place)
    throw new DamagedRow(`${words} holds no JSON`, { cause: error })
  }
}

function parseOrNull(value: SqlValue | undefined, place: string | TaskKey): Json {
  return value === null || value === undefined ? null : parse(value, place)
}

/** A failed attempt, joined with its task. */
export function exampleOf(row: SqlRow): FailureExample {
  const key = keyInRow(row)
  const failure = parse(row['failure'] ?? 'null', `attempt of ${wordsOf(key)}`) as { message?: string } | null
  return {
    ...key,
    generation: numberOf(row['generation']),
    attempt: numberOf(row['attempt']),
    execution: numberOf(row['execution']),
    atMs: numberOf(row['ended_at']),
    message: typeof failure?.message === 'string' ? failure.message : '',
    correlationId: row['correlation_id'] as string,
  }
}

/** A sum over nothing is null; one of whole numbers may come as text. */
export function numberOf(value: SqlValue | undefined): number {
  return Number(value ?? 0)
}

/** What was counted of attempts, and of events. */
export function resumesOf(
  rows: SqlRow | undefined,
  resumed: SqlRow | undefined,
  runs: SqlRow | undefined,
): ResumeStats {
  return {
    interruptedTasks: numberOf(rows?.['tasks']),
    interruptions: numberOf(rows?.['times']),
    counted: numberOf(rows?.['counted']),
    reExecutions: numberOf(rows?.['again']),
    resumedTasks: numberOf(resumed?.['tasks']),
    resumes: numberOf(resumed?.['times']),
    recovered: numberOf(rows?.['recovered']),
    resumedRuns: numberOf(runs?.['tasks']),
    runResumes: numberOf(runs?.['times']),
  }
}
