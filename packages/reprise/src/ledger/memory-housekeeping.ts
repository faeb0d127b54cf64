/**
 * How the ledger in memory forgets and compacts. Imports its own layer.
 */
import type { Compacted, CompactRequest, Forgotten, ForgetRequest, RunRemoval, ScopeFilter } from './ledger.js'
import {
  nameOf,
  scopeOfRun,
  type AttemptRow,
  type DeadLetter,
  type EventScope,
  type OwnerRecord,
  type Json,
  type PolicyRecord,
  type RunRecord,
  type StoredEvent,
  type TaskKey,
  type TaskRecord,
} from './records.js'
import { expectFinished, expectHistory } from './limits.js'

interface KeptTask {
  readonly payloadHash: string
  task: TaskRecord
}

interface KeptPolicy {
  readonly record: PolicyRecord
  readonly keptAtMs: number
}

interface KeptRun {
  run: RunRecord
  definition: Json
}

/** All that the ledger in memory holds. */
export interface MemoryTables {
  readonly runs: Map<string, KeptRun>
  readonly tasks: Map<string, KeptTask>
  readonly policies: Map<string, KeptPolicy>
  readonly attempts: Map<string, AttemptRow[]>
  readonly checkpoints: Map<string, Json>
  readonly owners: Map<string, OwnerRecord>
  /** By task and generation. */
  readonly dead: Map<string, DeadLetter>
  events: StoredEvent[]
  lastSeq: number
}

/** A letter's place in the table. */
export function letterName(letter: TaskKey & { readonly generation: number }): string {
  return `${nameOf(letter)}\u0000${letter.generation}`
}

export function isIn(one: TaskKey | StoredEvent, { scopeKind, scope }: ScopeFilter | EventScope = {}): boolean {
  return (scopeKind === undefined || one.scopeKind === scopeKind) && (scope === undefined || one.scope === scope)
}

export function forget(tables: MemoryTables, request: ForgetRequest): Forgotten {
  expectFinished(request.status)
  const old = [...tables.tasks.values()]
    .map(({ task }) => task)
    .filter(({ status, updatedAtMs }) => status === request.status && updatedAtMs < request.beforeMs)
    .filter(({ scopeKind, scope }) => scopeKind !== 'run' || !tables.runs.has(scope))
    .toSorted((a, b) => a.updatedAtMs - b.updatedAtMs)
    .slice(0, request.limit)
  return remove(tables, old)
}

export function removeRun(tables: MemoryTables, id: string, limit: number): RunRemoval {
  const run = scopeOfRun(id)
  const all = [...tables.tasks.values()].map(({ task }) => task).filter((task) => isIn(task, run))
  const removed = remove(tables, all.slice(0, limit))
  if (all.length > limit) return { ...removed, isDone: false }
  tables.runs.delete(id)
  const events = tables.events.length
  tables.events = tables.events.filter((event) => !isIn(event, run))
  return { ...removed, events: removed.events + events - tables.events.length, isDone: true }
}

function remove(tables: MemoryTables, old: readonly TaskRecord[]): Forgotten {
  const names = new Set(old.map(nameOf))
  let attempts = 0
  for (const name of names) {
    attempts += tables.attempts.get(name)?.length ?? 0
    tables.tasks.delete(name)
    tables.attempts.delete(name)
    tables.checkpoints.delete(name)
  }
  const [events, deadLetters] = [tables.events.length, tables.dead.size]
  tables.events = tables.events.filter((event) => !names.has(nameOf(event)))
  for (const [name, letter] of tables.dead) if (names.has(nameOf(letter))) tables.dead.delete(name)
  return {
    tasks: old.length,
    attempts,
    events: events - tables.events.length,
    deadLetters: deadLetters - tables.dead.size,
  }
}

export function compact(tables: MemoryTables, request: CompactRequest, now: number): Compacted {
  const { maxHistoryPerTask, eventsBeforeMs, lettersBeforeMs = -Infinity, limit } = request
  const counts = { tasks: 0, attempts: 0, events: 0, deadLetters: 0, policies: 0, owners: 0, reclaimedBytes: 0 }
  if (maxHistoryPerTask !== undefined) {
    expectHistory(maxHistoryPerTask)
    const long = [...tables.tasks.values()]
      .filter(({ task }) => (tables.attempts.get(nameOf(task))?.length ?? 0) > maxHistoryPerTask)
      .slice(0, limit)
    for (const kept of long) {
      const removed = shorten(tables, kept, maxHistoryPerTask, now)
      counts.tasks++
      counts.attempts += removed.attempts
      counts.events += removed.events
      counts.deadLetters += removed.deadLetters
    }
  }
  if (eventsBeforeMs !== undefined) {
    const old = new Set(tables.events.slice(0, limit).filter(({ atMs }) => atMs < eventsBeforeMs))
    tables.events = tables.events.filter((event) => !old.has(event))
    counts.events += old.size
  }
  const closed = [...tables.dead].filter(([, { closed: end }]) => end !== undefined && end.atMs < lettersBeforeMs)
  for (const [name] of closed.slice(0, limit)) {
    tables.dead.delete(name)
    counts.deadLetters++
  }
  counts.policies = dropPolicies(tables, request)
  counts.owners = dropOwners(tables, request)
  return counts
}

/** Half is left, so that a task that goes on failing is not shortened at every attempt. */
function shorten(tables: MemoryTables, kept: KeptTask, most: number, now: number): Omit<Forgotten, 'tasks'> {
  const { task } = kept
  const rows = (tables.attempts.get(nameOf(task)) ?? []).toSorted(inOrder)
  const left = Math.ceil(most / 2)
  const gone = rows.slice(0, rows.length - left)
  tables.attempts.set(nameOf(task), rows.slice(rows.length - left))
  const isOf = (other: TaskKey | StoredEvent): boolean => nameOf(other) === nameOf(task)
  const oldEvents = new Set(allButLast(tables.events.filter(isOf), left))
  const letters = [...tables.dead.values()].filter(isOf).toSorted((a, b) => a.generation - b.generation)
  const oldLetters = allButLast(letters, left)
  tables.events = tables.events.filter((event) => !oldEvents.has(event))
  for (const letter of oldLetters) tables.dead.delete(letterName(letter))
  const removed = { attempts: gone.length, events: oldEvents.size, deadLetters: oldLetters.length }
  const { scopeKind, scope, id, correlationId } = task
  const untilMs = gone.reduce((time, { endedAtMs }) => Math.max(time, endedAtMs), task.compacted?.untilMs ?? -Infinity)
  kept.task = { ...task, compacted: { attempts: gone.length + (task.compacted?.attempts ?? 0), untilMs } }
  const event = { type: 'compacted', scopeKind, scope, id, atMs: now, correlationId, detail: removed } as const
  tables.events.push({ ...event, seq: ++tables.lastSeq })
  return removed
}

function allButLast<T>(items: readonly T[], count: number): readonly T[] {
  return items.slice(0, Math.max(0, items.length - count))
}

function dropPolicies({ tasks, policies }: MemoryTables, { policiesBeforeMs, limit }: CompactRequest): number {
  if (policiesBeforeMs === undefined) return 0
  const used = new Set([...tasks.values()].map(({ task }) => task.policyHash))
  const unused = [...policies.values()]
    .filter(({ record, keptAtMs }) => !used.has(record.hash) && keptAtMs < policiesBeforeMs)
    .slice(0, limit)
  for (const { record } of unused) policies.delete(record.hash)
  return unused.length
}

function dropOwners({ tasks, owners }: MemoryTables, { ownersBeforeMs, limit }: CompactRequest): number {
  if (ownersBeforeMs === undefined) return 0
  const owning = new Set([...tasks.values()].map(({ task }) => task.owner))
  const gone = [...owners.values()]
    .filter(({ id, leaseUntilMs }) => leaseUntilMs < ownersBeforeMs && !owning.has(id))
    .slice(0, limit)
  for (const { id } of gone) owners.delete(id)
  return gone.length
}

function inOrder(a: AttemptRow, b: AttemptRow): number {
  return a.generation - b.generation || a.attempt - b.attempt || a.execution - b.execution
}
