/**
 * A batch: several decisions that become one transaction. Each sees what those before it decided. What is to be written
 * is gathered as rows; nothing is sent from here. Imports its own layer and the port.
 *
 * Invariant: a decision that throws, or that cannot be encoded, leaves nothing in the batch.
 */
import { rankOf } from '../ledger/claim-order.js'
import type { Changes, NewTask, RunChange } from '../ledger/ledger.js'
import {
  type AttemptRow,
  type DeadLetter,
  type GateRecord,
  type InputChange,
  type LedgerEvent,
  nameOf,
  type RunRecord,
  type TaskKey,
  type TaskRecord,
} from '../ledger/records.js'
import { text } from '../ledger/rows.js'
import { TallyMoves, withTallyOf } from '../ledger/tally.js'
import type { CachedRow } from './row-cache.js'
import type { Part, Parts } from './write-shape.js'

/** A task within a batch: as it was read or is to be made, and as it was decided. */
export interface BatchRow extends CachedRow {
  readonly isNew: boolean
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }
type Change = Writable<Part<'changed'>>

export class Batch {
  readonly now: number
  /** How many more tasks of each limited queue could have an owner before this batch. */
  readonly places = new Map<string, number>()
  private readonly rows = new Map<string, BatchRow | undefined>()
  private readonly gates = new Map<string, GateRecord>()
  private readonly runs = new Map<string, RunRecord>()
  private readonly made = new Map<number, Writable<Part<'made'>>>()
  private readonly changed = new Map<number, Change>()
  private readonly changedGates = new Map<string, GateRecord>()
  private readonly begun = new Map<string, Part<'begun'>>()
  private readonly changedRuns = new Map<string, Part<'runs'>>()
  private readonly policies = new Map<string, Part<'policies'>>()
  private readonly tried: Part<'tried'>[] = []
  /** By task and generation. */
  private readonly dead = new Map<string, Part<'dead'>>()
  private readonly closed = new Map<string, Part<'closed'>>()
  private readonly checkpoints = new Map<number, Part<'checkpoints'>>()
  private readonly inputs = new Map<number, Part<'inputs'>>()
  private readonly events: Part<'events'>[] = []
  private readonly tallied = new TallyMoves()
  private readonly whenWritten: (() => void)[] = []
  /** Tasks whose changes were written before they were decided. */
  private readonly settled = new Set<number>()

  constructor(now: number) {
    this.now = now
  }

  addTask(name: string, row: CachedRow | undefined): void {
    this.rows.set(name, row && batchRow(row, row.task, row.version, false))
  }

  addGate(gate: GateRecord): void {
    this.gates.set(gate.key, gate)
  }

  addRun(run: RunRecord): void {
    this.runs.set(run.id, run)
  }

  row(key: TaskKey): BatchRow | undefined {
    return this.rows.get(nameOf(key))
  }

  gate(key: string): GateRecord | undefined {
    return this.gates.get(key)
  }

  run(id: string): RunRecord | undefined {
    return this.runs.get(id)
  }

  /** Rows that were written, as they are after the commit. */
  writtenRows(): BatchRow[] {
    return [...this.rows.values()].flatMap((row) => (row !== undefined && this.hasWritten(row) ? row : []))
  }

  isWritten(name: string): boolean {
    const row = this.rows.get(name)
    return row !== undefined && this.hasWritten(row)
  }

  private hasWritten({ isNew, pk }: BatchRow): boolean {
    return isNew || this.changed.has(pk) || this.settled.has(pk)
  }

  /** If all that is decided was written before, which the versions of the rows say: nothing is left to be written. */
  settle(rows: readonly CachedRow[], isAsWritten: (change: TaskState, index: number) => boolean): boolean {
    if (!this.isOnly(rows, isAsWritten)) return false
    for (const { task, version } of rows) {
      const row = this.row(task) as BatchRow
      this.rows.set(nameOf(task), batchRow(row, row.task, version, false))
      this.settled.add(row.pk)
    }
    this.changed.clear()
    return true
  }

  /** Whether all that is decided is such a change of each of these tasks. */
  isOnly(rows: readonly CachedRow[], isMeant: (change: TaskState, index: number) => boolean): boolean {
    const { made, changed, tried, dead, closed, checkpoints, inputs, policies } = this
    const others = made.size + tried.length + dead.size + closed.size + checkpoints.size + inputs.size + policies.size
    if (others > 0 || !this.isOfTasks || this.tallied.list().length > 0 || changed.size !== rows.length) return false
    return rows.every(({ pk }, index) => {
      const change = changed.get(pk)
      return change !== undefined && isMeant(change, index)
    })
  }

  get isEmpty(): boolean {
    return this.isOfTasks && this.made.size + this.changed.size + this.policies.size === 0
  }

  /** Whether it is of tasks alone, and what goes with them. */
  get isOfTasks(): boolean {
    return this.events.length + this.changedGates.size + this.begun.size + this.changedRuns.size === 0
  }

  parts(): Parts {
    // In the order of their keys, so that two batches with the same tasks do not wait for each other.
    const changed = [...this.changed.values()].toSorted((a, b) => (a.pk as number) - (b.pk as number))
    return {
      made: [...this.made.values()].toSorted(
        (a, b) => compare(a.scope_kind, b.scope_kind) || compare(a.scope, b.scope) || compare(a.id, b.id),
      ),
      inputs: [...this.inputs.values()],
      changed,
      tried: this.tried,
      dead: [...this.dead.values()],
      closed: [...this.closed.values()],
      checkpoints: [...this.checkpoints.values()],
      policies: [...this.policies.values()],
      gates: Array.from(this.changedGates.values(), gateRow),
      begun: [...this.begun.values()],
      runs: [...this.changedRuns.values()],
      events: this.events,
      tallied: this.tallied.list().map(({ pk, tally, was, becomes }) => ({ task: pk, tally, was, becomes })),
    }
  }

  /** Takes in what was decided; `pkOf` gives keys to new tasks. */
  take(changes: Changes, pkOf: () => number): void {
    // All that may throw comes first.
    const created = mapped(changes.created, (one) => this.newRow(one, pkOf()))
    const tasks = mapped(changes.tasks, (task) => ({
      row: this.expectRow(task, created),
      state: stateOf(task),
      task,
    }))
    const tried = mapped(changes.attempts, (attempt) => this.attemptRow(attempt, created))
    const dead = mapped(changes.dead, (letter) => this.deadRow(letter, created))
    const closed = mapped(changes.closedLetters, (letter) => ({
      task: this.expectRow(letter, created).pk,
      scope_kind: letter.scopeKind,
      scope: letter.scope,
      id: letter.id,
      generation: letter.generation,
      closed_at: letter.atMs,
      closed_by: letter.by,
    }))
    const checkpoints = mapped(changes.checkpoints, ({ value, ...key }) => ({
      task: this.expectRow(key, created).pk,
      value: value === undefined ? null : text(value),
    }))
    const inputs = mapped(changes.inputs, (change) => ({ change, input: text(change.input) }))
    for (const { change } of inputs) this.expectRow(change, created)
    const runs = mapped(changes.runs, (change) => this.runRow(change))
    const gates = mapped(changes.gates, (gate) => ({ gate, row: gateRow(gate) }))
    const events = mapped(changes.events, eventRow)
    for (const { row, values } of created) {
      this.rows.set(nameOf(row.task), row)
      this.made.set(row.pk, values)
      this.tallied.created(row.pk, row.task)
    }
    for (const { row, state, task } of tasks) this.change(row, state, task)
    for (const { change, input } of inputs) this.setInput(change, input)
    for (const row of tried) this.countAttempt(row.task as number)
    this.tried.push(...tried)
    for (const row of dead) this.openLetter(row)
    for (const row of closed) this.closeLetter(row)
    for (const row of checkpoints) {
      this.touch(row.task)
      this.checkpoints.set(row.task, row)
    }
    for (const { run, row, isNew } of runs) {
      this.runs.set(run.id, run)
      if (isNew) this.begun.set(run.id, row as Part<'begun'>)
      else this.changedRuns.set(run.id, row)
    }
    for (const { gate } of gates) {
      this.gates.set(gate.key, gate)
      this.changedGates.set(gate.key, gate)
    }
    this.events.push(...events)
  }

  /** `kept` is called once it was written. */
  keepPolicy(hash: string, policy: string, kept: () => void): void {
    this.policies.set(hash, { hash, policy, kept_at: this.now })
    this.whenWritten.push(kept)
  }

  written(): void {
    for (const tell of this.whenWritten) tell()
  }

  private newRow({ task, payloadHash }: NewTask, pk: number): NewRow {
    if (this.row(task) !== undefined) throw new Error(`Task ${task.scope}/${task.id} exists`)
    const input = text(task.input)
    const row: BatchRow = { pk, version: 1, task, input, payloadHash, isNew: true }
    const values = {
      pk,
      scope_kind: task.scopeKind,
      scope: task.scope,
      id: task.id,
      payload_hash: payloadHash,
      input,
      tally: task.tally ?? null,
      correlation_id: task.correlationId,
      created_at: task.createdAtMs,
      ...stateOf(task),
      attempts_kept: 0,
    }
    return { row, values }
  }

  private expectRow(key: TaskKey, created: readonly NewRow[]): BatchRow {
    const row = this.row(key) ?? created.find(({ row: { task } }) => nameOf(task) === nameOf(key))?.row
    if (row === undefined) throw new Error(`Task ${key.scope}/${key.id} does not exist`)
    return row
  }

  private change(row: BatchRow, state: TaskState, task: TaskRecord): void {
    const made = this.made.get(row.pk)
    const known = this.changed.get(row.pk)
    if (made !== undefined) Object.assign(made, state)
    else if (known !== undefined) Object.assign(known, state)
    else this.changed.set(row.pk, Object.assign(state, { pk: row.pk, version: row.version, added: 0 }))
    const version = made === undefined && known === undefined ? row.version + 1 : row.version
    this.tallied.changed(row.pk, row.task, task)
    this.rows.set(nameOf(task), batchRow(row, withTallyOf(row.task, task), version, row.isNew))
  }

  private setInput({ input, ...key }: InputChange, encoded: string): void {
    const row = this.expectRow(key, [])
    const made = this.made.get(row.pk)
    if (made !== undefined) made.input = encoded
    else {
      this.touch(row.pk)
      this.inputs.set(row.pk, { task: row.pk, input: encoded })
    }
    const current = this.expectRow(key, [])
    this.rows.set(nameOf(key), { ...current, input: encoded, task: { ...current.task, input } })
  }

  private countAttempt(pk: number): void {
    const made = this.made.get(pk)
    if (made !== undefined) {
      made.attempts_kept = (made.attempts_kept as number) + 1
      return
    }
    this.touch(pk)
    const change = this.changed.get(pk) as Change
    change.added = (change.added as number) + 1
  }

  /** What goes with a task is written if the task is: so it is. */
  private touch(pk: number): void {
    if (this.made.has(pk) || this.changed.has(pk)) return
    const row = [...this.rows.values()].find((one) => one?.pk === pk) as BatchRow
    this.change(row, stateOf(row.task), row.task)
  }

  private attemptRow(attempt: AttemptRow, created: readonly NewRow[]): Part<'tried'> {
    return {
      task: this.expectRow(attempt, created).pk,
      generation: attempt.generation,
      attempt: attempt.attempt,
      execution: attempt.execution,
      started_at: attempt.startedAtMs,
      ended_at: attempt.endedAtMs,
      outcome: attempt.outcome,
      delay_before: attempt.delayBeforeMs,
      failure: attempt.failure === null ? null : text(attempt.failure),
      signature: attempt.signature === null ? null : plain(attempt.signature),
      owner: attempt.owner,
    }
  }

  private deadRow(letter: DeadLetter, created: readonly NewRow[]): Part<'dead'> {
    return {
      task: this.expectRow(letter, created).pk,
      scope_kind: letter.scopeKind,
      scope: letter.scope,
      id: letter.id,
      generation: letter.generation,
      at: letter.atMs,
      signature: plain(letter.signature),
      stop_reason: letter.stopReason,
      failure: letter.failure === null ? null : text(letter.failure),
      closed_at: letter.closed?.atMs ?? null,
      closed_by: letter.closed?.by ?? null,
    }
  }

  /** A statement changes a row once: so a letter is either put or closed by a batch. */
  private openLetter(row: Part<'dead'>): void {
    this.touch(row.task as number)
    this.dead.set(letterName(row), row)
    this.closed.delete(letterName(row))
  }

  private closeLetter(row: Part<'closed'>): void {
    this.touch(row.task as number)
    const put = this.dead.get(letterName(row))
    const { closed_at, closed_by } = row
    if (put === undefined) this.closed.set(letterName(row), row)
    else if (put.closed_at === null) this.dead.set(letterName(row), { ...put, closed_at, closed_by })
  }

  private runRow({ run, definition }: RunChange): { run: RunRecord; row: Part<'runs'>; isNew: boolean } {
    const isNew = this.runs.get(run.id) === undefined || this.begun.has(run.id)
    if (isNew && definition === undefined && !this.begun.has(run.id)) {
      throw new Error(`Run ${run.id} is new, and nothing says what it runs`)
    }
    const state = {
      id: run.id,
      status: run.status,
      owner: run.owner,
      fence: run.fence,
      resumes: run.resumes,
      fingerprint: run.fingerprint,
      detail: text(run.detail),
      updated_at: run.updatedAtMs,
      ended_at: run.endedAtMs,
      definition: definition === undefined ? this.definitionOf(run.id) : text(definition),
    }
    if (!isNew) return { run, row: state, isNew }
    const { kind, name, correlationId, createdAtMs } = run
    const row = { ...state, kind, name: plain(name), correlation_id: correlationId, created_at: createdAtMs }
    return { run, row, isNew }
  }

  /** As it is to be written by this batch already; null leaves it as it is. */
  private definitionOf(id: string): string | null {
    return ((this.begun.get(id) ?? this.changedRuns.get(id))?.definition ?? null) as string | null
  }
}

function letterName({ task, generation }: Part<'dead'> | Part<'closed'>): string {
  return `${task} ${generation}`
}

/** Field by field: there is one for every change. */
function batchRow({ pk, input, payloadHash }: CachedRow, task: TaskRecord, version: number, isNew: boolean): BatchRow {
  return { pk, version, task, input, payloadHash, isNew }
}

interface NewRow {
  readonly row: BatchRow
  readonly values: Writable<Part<'made'>>
}

export type TaskState = Omit<Part<'changed'>, 'pk' | 'version' | 'added'>

function stateOf(task: TaskRecord): TaskState {
  return {
    queue: task.queue,
    generation: task.generation,
    status: task.status,
    claim_rank: rankOf(task),
    due_at: task.dueAtMs,
    owner: task.owner,
    fence: task.fence,
    progress: text(task.progress),
    policy_hash: task.policyHash,
    result: task.result === undefined ? null : text(task.result),
    stop_reason: task.stopReason,
    updated_at: task.updatedAtMs,
  }
}

function gateRow({ key, kind, state, settings, manualRevision = 0 }: GateRecord): Part<'gates'> {
  const kept = settings === undefined ? null : text(settings)
  return { key, kind, state: text(state), settings: kept, manual_revision: manualRevision }
}

function eventRow({ type, scopeKind, scope, id, atMs, correlationId, detail }: LedgerEvent): Part<'events'> {
  return { type, scope_kind: scopeKind, scope, id, at: atMs, correlation_id: correlationId, detail: text(detail) }
}

const NONE: readonly never[] = []

/** Most changes have few of the lists that they could have. */
function mapped<T, R>(list: readonly T[] | undefined, map: (one: T) => R): readonly R[] {
  return list === undefined || list.length === 0 ? NONE : list.map((one) => map(one))
}

function compare(a: Part<'made'>['scope'], b: Part<'made'>['scope']): number {
  if (a === b) return 0
  return (a as string) < (b as string) ? -1 : 1
}

/** PostgreSQL keeps no U+0000 in a text. In JSON it is written in other letters; here it is replaced. */
function plain(given: string): string {
  return given.includes('\0') ? given.replaceAll('\0', '\uFFFD') : given
}
