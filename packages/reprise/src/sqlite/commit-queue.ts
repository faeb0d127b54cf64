/**
 * Group commit: what is asked to be written within one turn of the event loop is written in one transaction, so that
 * many tasks share one sync of the disk.
 *
 * Invariants: work is run in the order it came; its promise settles after the commit. A unit that throws leaves nothing
 * behind and spoils no other. A database that others write to is waited for in JavaScript, since SQLite's own waiting
 * blocks the event loop. After an error of the disk nothing more is written or synced through this handle: what was
 * acknowledged is safe, and what follows would not be. Imports its own layer.
 */
import { LedgerError } from '../ledger/errors.js'
import type { SqliteDatabase, SqliteStatement } from './driver.js'
import { FATAL, ledgerFailure, MAX_WAIT_MS } from './failures.js'
import { RESULT_CODES, resultCode } from './result-codes.js'
import type { OpenFiles } from './open-files.js'
import { DamagedRow } from '../ledger/rows.js'

interface Unit {
  readonly work: () => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** Hears of every transaction that begins, of its end, and of every one that is undone. */
export interface TransactionListener {
  begin(): void
  /** Before the commit: what it writes is committed too. */
  end(): void
  undo(): void
}

/** So long a transaction may go on before the event loop gets its turn. */
const MAX_UNITS = 250
/** Pages of the log after which it is written back: as many as SQLite takes when it does it by itself. */
const PAGES_PER_CHECKPOINT = 1000
/** A unit writes about four pages when it is alone, and less than one among others. What it writes is learnt at checkpoints. */
const [LEAST_UNITS, MOST_UNITS] = [256, 1024]

/** Thrown by work that has written before it failed: what it wrote is undone. */
export class HalfDone extends Error {}

export interface CommitQueueOptions {
  readonly files?: OpenFiles | undefined
  readonly maxWaitMs?: number
  readonly listener?: TransactionListener
}

export class CommitQueue {
  private readonly database: SqliteDatabase
  private readonly name: string
  private readonly files: OpenFiles | undefined
  private readonly maxWaitMs: number
  private readonly listener: TransactionListener | undefined
  private units: Unit[] = []
  private scheduled = false
  private waitingSinceMs: number | undefined = undefined
  private unitsSinceCheckpoint = 0
  private unitsPerCheckpoint = LEAST_UNITS
  private checkpoint: SqliteStatement | undefined = undefined
  private broken: LedgerError | undefined = undefined

  constructor(database: SqliteDatabase, name: string, options: CommitQueueOptions = {}) {
    this.database = database
    this.name = name
    this.files = options.files
    this.maxWaitMs = options.maxWaitMs ?? MAX_WAIT_MS
    this.listener = options.listener
  }

  /** Runs `work` in the next transaction; it must be synchronous. */
  add<T>(work: () => T): Promise<T> {
    if (this.broken !== undefined) return Promise.reject(this.broken)
    return new Promise<T>((resolve, reject) => {
      this.units.push({ work, resolve, reject })
      this.schedule(0)
    })
  }

  /** Runs `work` beside the transactions; it must only read. */
  async read<T>(work: () => T | Promise<T>): Promise<T> {
    const startMs = performance.now()
    for (;;) {
      if (this.broken !== undefined) throw this.broken
      try {
        return await work()
      } catch (error) {
        // Another process may be recovering the log.
        const mayWait = resultCode(error) === RESULT_CODES.BUSY && performance.now() - startMs < this.maxWaitMs
        if (!mayWait) throw this.failed('read', error)
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs()))
    }
  }

  /** Refuses everything from now on; what has been added is still written. */
  close(): void {
    const closed = new LedgerError('closed', `The ledger ${this.name} is closed`)
    let left = Infinity
    // Others may hold the lock: then nothing becomes fewer.
    while (this.broken === undefined && this.units.length > 0 && this.units.length < left) {
      left = this.units.length
      this.flush()
    }
    for (const unit of this.units.splice(0)) unit.reject(closed)
    if (this.broken === undefined) this.database.close()
    this.broken ??= closed
  }

  private flush(): void {
    this.scheduled = false
    const units = this.units.splice(0, MAX_UNITS)
    if (units.length === 0 || !this.begin(units)) return
    if (this.units.length > 0) this.schedule(0)
    this.listener?.begin()
    const done = this.perform(units)
    if (done !== undefined && this.commit(done)) this.checkpointAfter(units.length)
  }

  private schedule(delayMs: number): void {
    if (this.scheduled) return
    this.scheduled = true
    if (delayMs === 0) setImmediate(() => this.flush())
    else setTimeout(() => this.flush(), delayMs)
  }

  /** False if somebody else writes just now: the units wait. */
  private begin(units: Unit[]): boolean {
    try {
      this.expectFiles()
      this.database.exec('BEGIN IMMEDIATE')
      this.waitingSinceMs = undefined
      return true
    } catch (error) {
      const isBusy = resultCode(error) === RESULT_CODES.BUSY
      if (isBusy && this.mayWait()) {
        this.units.unshift(...units)
        this.schedule(pauseMs())
      } else {
        this.waitingSinceMs = undefined
        if (isBusy) this.giveUpWaiting(units, error)
        else this.fail(units, error)
      }
      return false
    }
  }

  private giveUpWaiting(units: readonly Unit[], error: unknown): void {
    const failure = ledgerFailure(this.name, 'written', error)
    for (const unit of units) unit.reject(failure)
    if (this.units.length > 0) this.schedule(0)
  }

  private mayWait(): boolean {
    const now = performance.now()
    this.waitingSinceMs ??= now
    return now - this.waitingSinceMs < this.maxWaitMs
  }

  private expectFiles(): void {
    const problem = this.files?.problem
    if (problem === undefined) return
    // The log is still in this process's hands: what was acknowledged goes into the database before nobody has it.
    if (problem === 'log') this.database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    const what = problem === 'database' ? 'its file' : 'its file -wal'
    const cure = 'end all programs that use it before you touch its files, then start again'
    throw new LedgerError('unusable', `The ledger ${this.name}: ${what} was removed or replaced while in use: ${cure}`)
  }

  /** The results by unit; undefined if all had to be undone. */
  private perform(units: readonly Unit[]): [Unit, unknown][] | undefined {
    const done: [Unit, unknown][] = []
    for (const unit of units) {
      try {
        done.push([unit, unit.work()])
      } catch (error) {
        const code = resultCode(error)
        if (code === undefined && !(error instanceof HalfDone)) {
          // It decided to throw before it wrote.
          unit.reject(this.failed('written', error))
          continue
        }
        this.listener?.undo()
        if (code !== undefined && FATAL.has(code)) this.fail(units, error)
        else this.performWithout(unit, units, this.failed('written', error instanceof HalfDone ? error.cause : error))
        return undefined
      }
    }
    return done
  }

  /** One unit's statement failed: the others are done again without it. */
  private performWithout(unit: Unit, units: readonly Unit[], error: unknown): void {
    try {
      this.database.exec('ROLLBACK')
    } catch (undoing) {
      this.fail(units, undoing)
      return
    }
    unit.reject(error)
    this.units.unshift(...units.filter((other) => other !== unit))
    if (this.units.length > 0) this.schedule(0)
  }

  private commit(done: readonly [Unit, unknown][]): boolean {
    try {
      this.listener?.end()
      this.database.exec('COMMIT')
    } catch (error) {
      // Whether it was written is not known; nobody is told that it was.
      this.listener?.undo()
      this.fail(
        done.map(([unit]) => unit),
        error,
      )
      return false
    }
    for (const [unit, result] of done) unit.resolve(result as never)
    return true
  }

  /**
   * SQLite would do it by itself, and say nothing if the disk fails: it would try again, and take the second sync, which
   * succeeds though the first one's pages are gone, for a reason to throw the log away.
   */
  private checkpointAfter(units: number): void {
    this.unitsSinceCheckpoint += units
    if (this.unitsSinceCheckpoint < this.unitsPerCheckpoint) return
    try {
      this.checkpoint ??= this.database.prepare('PRAGMA wal_checkpoint(PASSIVE)')
      const { log: pages } = this.checkpoint.get() as { log: number }
      // -1 while another process writes the log back: then nothing is learned.
      if (pages >= 0) {
        const expected = Math.floor((this.unitsSinceCheckpoint * PAGES_PER_CHECKPOINT) / Math.max(1, pages))
        this.unitsPerCheckpoint = Math.min(MOST_UNITS, Math.max(LEAST_UNITS, expected))
      }
      this.unitsSinceCheckpoint = 0
    } catch (error) {
      this.unitsSinceCheckpoint = 0
      // Others may be at it.
      if (resultCode(error) !== RESULT_CODES.BUSY) this.fail([], error)
    }
  }

  /** What the caller is told; the work's own error is his. */
  private failed(act: 'read' | 'written', error: unknown): unknown {
    const code = resultCode(error)
    if (code === undefined) return error instanceof DamagedRow ? ledgerFailure(this.name, act, error) : error
    if (FATAL.has(code)) this.fail([], error, act)
    return this.broken ?? ledgerFailure(this.name, act, error)
  }

  private fail(units: readonly Unit[], error: unknown, act: 'read' | 'written' = 'written'): void {
    const failure = ledgerFailure(this.name, act, error)
    this.broken = failure
    for (const unit of [...units, ...this.units.splice(0)]) unit.reject(failure)
    try {
      this.database.abandon()
    } catch {
      // What failed first is told.
    }
  }
}

function pauseMs(): number {
  return 1 + Math.random() * 9
}
