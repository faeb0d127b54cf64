/**
 * One try to write some units of work together. Imports its own layer.
 *
 * Two ways to the same end. `quick`: decided upon what is known, and sent as one statement, which writes a task only if
 * it is unchanged. Else what was named is locked first, gates before runs before tasks, each in the order of their keys;
 * then it is decided, written and committed. A unit that cannot go the first way is given back to go the second.
 */
import type { DueRequest, QueueRef } from '../ledger/ledger.js'
import { nameOf } from '../ledger/records.js'
import { DamagedRow, gateOf, runOf, type SqlRow } from '../ledger/rows.js'
import { Batch, type BatchRow } from './batch.js'
import type { ClaimMemory } from './claim-memory.js'
import { dueSearch, onlyFresh, onlyPlain, placeSearch } from './claim-search.js'
import type { Connections, PooledConnection } from './connections.js'
import { NO_FLOOR } from './due-floor.js'
import { failureKind, ledgerFailure, StaleRead } from './failures.js'
import { type CachedRow, type RowCache, cachedRowOf } from './row-cache.js'
import type { ServerTime } from './server-time.js'
import { keyColumns, type Statements } from './statements.js'
import type { KeySupply, TaskKeys } from './task-keys.js'
import type { Unit } from './unit.js'
import { isUsual, type UsualStart, usualStart } from './usual-start.js'
import { shapeOf } from './write-shape.js'
import { writeStatement, writeValues } from './write-statement.js'
import { type Noted, notedOf, type Turn, type Writers } from './writers.js'

/** Tasks that were claimed before it was decided, and have to be given back. */
export interface UnwantedClaim {
  readonly pks: readonly number[]
  /** Since when each was due. */
  readonly dueAtMs: readonly number[]
  readonly start: UsualStart
}

export interface TransactionParts {
  readonly name: string
  readonly schema: string
  readonly sql: Statements
  readonly connections: Connections
  readonly writers: Writers
  readonly cache: RowCache
  readonly keys: TaskKeys
  readonly time: ServerTime
  readonly claims: ClaimMemory
  /** Whose rows of tallies are written. */
  readonly owner: () => string
  /** Told after every commit. */
  readonly onWritten: (rows: readonly BatchRow[]) => void
}

export class Transaction {
  private readonly parts: TransactionParts
  private readonly units: readonly Unit[]
  private readonly quick: boolean
  private readonly lane: number
  private readonly results = new Map<Unit, unknown>()
  private batch: Batch = new Batch(0)
  /** They have thrown, and said so. */
  private readonly refused = new Set<Unit>()
  /** To be done again. */
  readonly left = new Set<Unit>()
  /** Of what was sent: whether that was committed is not known until the answer comes. */
  turn: Turn | undefined = undefined
  /** Tasks that a claim has found. */
  private due: readonly CachedRow[] = []
  /** From which due time on it has looked for them. */
  private from = NO_FLOOR
  /** How the tasks of a claim begin that is decided after it is written. */
  private start: UsualStart | undefined = undefined
  unwanted: UnwantedClaim | undefined = undefined

  constructor(parts: TransactionParts, units: readonly Unit[], quick: boolean, lane: number) {
    this.parts = parts
    this.units = units
    this.quick = quick
    this.lane = lane
  }

  async run(connection: PooledConnection): Promise<void> {
    await this.parts.writers.enter(connection)
    const supply = await this.parts.keys.reserve(this.mostNewTasks(), connection)
    try {
      const ref = this.request && onlyFresh(this.request)
      const owner = ref && !this.units[0]?.decidesFirst ? this.parts.claims.usual.ownerOf(ref) : undefined
      if (ref !== undefined && owner !== undefined) await this.runAtOnce(connection, supply, ref, owner)
      else if (this.quick) await this.runQuick(connection, supply)
      else await this.runLocked(connection, supply)
    } finally {
      supply.giveBack()
    }
  }

  private mostNewTasks(): number {
    const { cache } = this.parts
    let count = 0
    // What is known may be old: it may have been forgotten since, and be made anew.
    for (const { names } of this.units) for (const name of names) if (!this.quick || !cache.has(name)) count++
    return count
  }

  // ── upon what is known ─────────────────────────────────────────────────────────────────────────

  private async runQuick(connection: PooledConnection, supply: KeySupply): Promise<void> {
    const { time, cache } = this.parts
    await this.knowTime(connection)
    const batch = new Batch(time.now())
    this.batch = batch
    for (const unit of this.units) {
      // Known when it was chosen for this way, and found to be old by another transaction since: it is there, for all
      // anybody knows, so nobody may be shown that it is not.
      if (unit.work.creates !== true && unit.names.some((name) => !cache.has(name))) this.giveBack(unit)
      for (const name of unit.names) batch.addTask(name, cache.get(name))
    }
    this.decideAll(supply, [])
    for (const unit of [...this.results.keys()]) {
      // What writes nothing has only looked, and what it looked at may be old.
      const isOnlyLook = unit.names.every((name) => !batch.isWritten(name))
      if (isOnlyLook || !batch.isOfTasks) this.giveBack(unit)
    }
    if (this.results.size === 0) return
    const sentAtMs = time.sentAtMs
    const [row] = await this.send(connection, false)
    if (row === undefined) {
      this.undone(connection)
      throw new StaleRead()
    }
    time.heard(row['now'] as number, sentAtMs)
    this.committed(notedOf(row))
  }

  private async knowTime(connection: PooledConnection): Promise<void> {
    const { time, sql } = this.parts
    if (time.isFresh) return
    const sentAtMs = time.sentAtMs
    const [row] = await connection.query(sql.now)
    time.heard(row?.['now'] as number, sentAtMs)
  }

  // ── a claim in one statement ───────────────────────────────────────────────────────────────────

  private async runAtOnce(
    connection: PooledConnection,
    supply: KeySupply,
    ref: QueueRef,
    owner: string,
  ): Promise<void> {
    const { sql, time, writers } = this.parts
    const { floors } = this.parts.claims
    const [unit] = this.units as [Unit]
    await this.knowTime(connection)
    const start = usualStart(owner, time.now())
    this.from = floors.of(ref)
    this.start = start
    this.turn = writers.turn(connection)
    const { writer, decision } = this.turn
    const { queue, policyHash } = ref
    const limit = this.request?.limit
    const values = [writer, decision, queue, policyHash, start.now, this.from, limit, owner, start.current]
    const sentAtMs = time.sentAtMs
    let rows: SqlRow[]
    try {
      rows = (await connection.query(sql.claimAtOnce, values)) as SqlRow[]
    } catch (error) {
      if (failureKind(error) !== 'lost') this.undone(connection)
      throw error
    }
    const [first] = rows
    if (first === undefined) {
      this.undone(connection)
      throw new StaleRead()
    }
    time.heard(first['now'] as number, sentAtMs)
    const claimed = first['pk'] === null ? [] : rows
    // Some are not as they were created: what is locked first claims them too.
    if (claimed.length < (first['found'] as number)) this.parts.claims.usual.forget(ref)
    if (claimed.length === 0) {
      // None is fresh, or another is due: what is locked first finds all of them.
      floors.forget(ref)
      unit.decidesFirst = true
      this.giveBack(unit)
    } else if (!this.decideWritten(supply, claimed, start)) {
      this.takeBack(
        claimed.map(({ pk }) => pk as number),
        claimed.map((row) => row['due_at'] as number),
      )
    }
  }

  /** Whether it was decided as it is written. */
  private decideWritten(supply: KeySupply, rows: readonly SqlRow[], start: UsualStart): boolean {
    const batch = new Batch(start.now)
    this.batch = batch
    try {
      this.due = rows.map(cachedRowOf)
    } catch {
      // A damaged row: the claim that locks first says so.
      return false
    }
    for (const row of this.due) batch.addTask(nameOf(row.task), row)
    this.decideAll(supply, this.due)
    const usual = isUsual(this.due, (index) => rows[index]?.['progress'] as string, start)
    if (this.results.size === 0 || !batch.settle(this.due, usual)) return false
    this.turn = undefined
    this.start = undefined
    this.committed({ made: null, changed: null })
    return true
  }

  /** The tasks are to be given back, and then the claim is made by locking first. */
  private takeBack(pks: readonly number[], dueAtMs: readonly number[]): void {
    const [unit] = this.units as [Unit]
    const { start } = this
    for (const ref of this.request?.queues ?? []) this.parts.claims.usual.forget(ref)
    if (start !== undefined && pks.length > 0) this.unwanted = { pks, dueAtMs, start }
    unit.decidesFirst = true
    this.giveBack(unit)
  }

  // ── upon what is locked ────────────────────────────────────────────────────────────────────────

  private async runLocked(connection: PooledConnection, supply: KeySupply): Promise<void> {
    try {
      const due = await this.lock(connection)
      this.decideAll(supply, due)
      if (this.results.size === 0 || this.batch.isEmpty) {
        await connection.query('ROLLBACK')
        this.noteClaim()
        this.tellResults()
        return
      }
      // Both are sent at once, in this order: if the statement fails, there is nothing to commit.
      const sending = this.send(connection, true)
      const [sent, ended] = await Promise.allSettled([sending, connection.query('COMMIT')])
      if (sent.status === 'rejected') throw isStale(sent.reason) ? new StaleRead() : sent.reason
      if (ended.status === 'rejected') {
        if (failureKind(ended.reason) !== 'lost') this.undone(connection)
        throw ended.reason
      }
    } catch (error) {
      if (failureKind(error) !== 'lost') {
        await connection.query('ROLLBACK').catch(() => undefined)
      }
      throw error
    }
    this.committed({ made: null, changed: null })
  }

  private async lock(connection: PooledConnection): Promise<readonly CachedRow[]> {
    const { sql, time } = this.parts
    const keys = this.units.map((unit) => unit.keys)
    const gates = namesOf(keys.flatMap((one) => one.gates ?? []))
    const runs = namesOf(keys.flatMap((one) => one.runs ?? []))
    const tasks = keys.flatMap((one) => one.tasks)
    const none = Promise.resolve([])
    const sentAtMs = time.sentAtMs
    const [, gateRows, runRows, taskRows, placeRows, dueRows, [clock]] = await Promise.all([
      connection.query('BEGIN'),
      gates.length === 0 ? none : connection.query(sql.lockGates, [gates]),
      runs.length === 0 ? none : connection.query(sql.lockRuns, [runs]),
      tasks.length === 0 ? none : connection.query(sql.lockTasks, keyColumns(tasks)),
      this.findPlaces(connection),
      this.findDue(connection, time.now()),
      time.isFresh ? none : connection.query(sql.now),
    ])
    if (clock !== undefined) time.heard(clock['now'] as number, sentAtMs)
    if (gateRows.length < gates.length) {
      // One that is not there cannot be locked: it is made, by itself, so that nothing is locked in another order.
      await Promise.all([connection.query('ROLLBACK'), connection.query(sql.addGates, [gates])])
      return this.lock(connection)
    }
    const batch = new Batch(time.now())
    this.batch = batch
    for (const row of gateRows as SqlRow[]) if (row['state'] !== null) batch.addGate(gateOf(row))
    for (const row of runRows as SqlRow[]) batch.addRun(runOf(row))
    for (const row of placeRows as SqlRow[]) batch.places.set(row['queue'] as string, row['places'] as number)
    for (const key of tasks) {
      batch.addTask(nameOf(key), undefined)
      // The cached row is dropped; it is cached again after the commit.
      this.parts.cache.forget(key)
    }
    const due = ((await this.findMore(connection, dueRows.length, batch.now)) ?? (dueRows as SqlRow[])).map(cachedRowOf)
    this.due = due
    for (const row of [...(taskRows as SqlRow[]).map(cachedRowOf), ...due]) batch.addTask(nameOf(row.task), row)
    return due
  }

  private get request(): DueRequest | undefined {
    return this.units.find(({ work }) => work.due !== undefined)?.work.due
  }

  /** The rows from the beginning, where there were too few from a due time on. */
  private async findMore(connection: PooledConnection, count: number, now: number): Promise<SqlRow[] | undefined> {
    const { request, from } = this
    if (request === undefined || from === NO_FLOOR || count >= request.limit) return undefined
    for (const ref of request.queues) this.parts.claims.floors.forget(ref)
    return (await this.findDue(connection, now)) as SqlRow[]
  }

  /** `now`: not later than that of the decision, so that nothing begins before it is due. */
  private findDue(connection: PooledConnection, now: number): ReturnType<PooledConnection['query']> {
    const { request } = this
    if (request === undefined) return Promise.resolve([])
    const { sql, claims } = this.parts
    const ref = onlyPlain(request)
    this.from = ref === undefined ? NO_FLOOR : claims.floors.of(ref)
    const { statement, values } = dueSearch(sql, request, now, this.from)
    return connection.query(statement, values)
  }

  /** What limited queues have before the claim. */
  private findPlaces(connection: PooledConnection): ReturnType<PooledConnection['query']> {
    const search = this.request && placeSearch(this.parts.sql, this.request)
    return search === undefined ? Promise.resolve([]) : connection.query(search.statement, search.values)
  }

  // ── both ───────────────────────────────────────────────────────────────────────────────────────

  private decideAll(supply: KeySupply, due: readonly CachedRow[]): void {
    for (const unit of this.units) {
      if (this.left.has(unit)) continue
      try {
        this.results.set(unit, unit.work.decide(this.batch, supply, due))
      } catch (error) {
        // It was shown what is known, which may be old: it may throw again upon what is so. The tasks of a claim that is
        // written already are given back before the caller hears of the error.
        if (this.quick || this.start !== undefined) {
          this.giveBack(unit)
          continue
        }
        this.refused.add(unit)
        // What the deciding function throws is its caller's own.
        unit.reject(error instanceof DamagedRow ? ledgerFailure(this.parts.name, 'read', error) : error)
      }
    }
  }

  /** Before anything else can be sent. `sure`: nobody else can have changed what was read. */
  private async send(connection: PooledConnection, sure: boolean): ReturnType<PooledConnection['query']> {
    const { schema, writers } = this.parts
    const shape = shapeOf(this.batch.parts())
    const turn = writers.turn(connection)
    const values = writeValues(turn, shape, { owner: this.parts.owner(), lane: this.lane })
    this.turn = turn
    try {
      return await connection.query(writeStatement(schema, shape, sure), values)
    } catch (error) {
      if (failureKind(error) !== 'lost') this.undone(connection)
      throw error
    }
  }

  /** It is known that nothing was committed. */
  private undone(connection: PooledConnection): void {
    this.parts.writers.leave(connection)
    this.turn = undefined
  }

  /** All of it was written, or all but some tasks. */
  committed({ made, changed }: Noted): void {
    // The answer of a claim was lost, and with it what there was to decide.
    if (this.start !== undefined) {
      this.takeBack(changed ?? [], made ?? [])
      return
    }
    const { cache, onWritten } = this.parts
    const [there, kept] = [made && new Set(made), changed && new Set(changed)]
    const isThere = (row: BatchRow): boolean => (row.isNew ? there : kept)?.has(row.pk) ?? true
    const rows = this.batch.writtenRows()
    const written = rows.filter(isThere)
    for (const row of written) cache.put(row)
    this.batch.written()
    this.noteClaim()
    this.parts.claims.floors.written(written)
    onWritten(written)
    if (written.length < rows.length) this.giveBackMissing(rows.filter((row) => !isThere(row)))
    this.tellResults()
  }

  private noteClaim(): void {
    const { request, due, batch, from } = this
    if (request !== undefined) this.parts.claims.note(request, due, batch, from)
  }

  private tellResults(): void {
    for (const [unit, result] of this.results) unit.resolve(result as never)
  }

  private giveBackMissing(rows: readonly BatchRow[]): void {
    const names = new Set(rows.map(({ task }) => nameOf(task)))
    for (const { task } of rows) this.parts.cache.forget(task)
    for (const unit of [...this.results.keys()]) {
      if (!unit.keys.tasks.some((key) => names.has(nameOf(key)))) continue
      unit.work.written?.(unit.keys.tasks.filter((key) => !names.has(nameOf(key))))
      this.giveBack(unit)
    }
  }

  /** It goes the other way. */
  private giveBack(unit: Unit): void {
    unit.mustLock = true
    this.results.delete(unit)
    this.left.add(unit)
  }

  /** Units that are neither written nor rejected. */
  unsettled(): Unit[] {
    return this.units.filter((unit) => !this.left.has(unit) && !this.refused.has(unit))
  }
}

/** The division by zero that a statement makes of what it did not expect. */
function isStale(error: unknown): boolean {
  return (error as { code?: string } | null)?.code === '22012'
}

function namesOf(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted()
}
