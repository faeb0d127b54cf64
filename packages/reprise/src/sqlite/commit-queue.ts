/**
 * Group commit: what is asked to be written within one turn of the event loop is written in one transaction, so that
 * many tasks share one sync of the disk.
 *
 * Invariants: work is run in the order it came; its promise settles after the commit. A unit that throws leaves nothing
 * behind and spoils no other. A database that others write to is waited for in JavaScript, since SQLite's own waiting
 * blocks the event loop. After an error of the disk nothing more is written: what was acknowledged is safe, and what
 * follows would not be. Imports its own layer.
 */
import { LedgerError } from '../ledger/errors.js'
import { BUSY, FATAL, resultCode, type SqliteDatabase, type SqliteStatement } from './driver.js'

interface Unit {
  readonly work: () => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** Hears of every transaction that begins, and of every one that is undone. */
export interface TransactionListener {
  begin(): void
  undo(): void
}

/** Longer than any transaction of ours: somebody else holds the file. */
const MAX_WAIT_MS = 30_000
/** So long a transaction may go on before the event loop gets its turn. */
const MAX_UNITS = 250

export class CommitQueue {
  private readonly database: SqliteDatabase
  private readonly name: string
  private readonly sql: Readonly<Record<'begin' | 'commit', SqliteStatement>>
  private readonly listener: TransactionListener
  private units: Unit[] = []
  private scheduled = false
  private waitingSinceMs: number | undefined = undefined
  private broken: LedgerError | undefined = undefined

  constructor(database: SqliteDatabase, name: string, listener: TransactionListener) {
    this.database = database
    this.name = name
    this.listener = listener
    this.sql = { begin: database.prepare('BEGIN IMMEDIATE'), commit: database.prepare('COMMIT') }
  }

  /** Runs `work` in the next transaction; it must be synchronous. */
  add<T>(work: () => T): Promise<T> {
    if (this.broken !== undefined) return Promise.reject(this.broken)
    return new Promise<T>((resolve, reject) => {
      this.units.push({ work, resolve, reject })
      if (this.scheduled) return
      this.scheduled = true
      setImmediate(() => this.flush())
    })
  }

  /** Refuses everything from now on; what has been added is still written. */
  close(): void {
    if (this.units.length > 0) this.flush()
    this.broken ??= new LedgerError('closed', `The ledger ${this.name} is closed`)
  }

  private flush(): void {
    this.scheduled = false
    const units = this.units.splice(0, MAX_UNITS)
    if (units.length === 0 || !this.begin(units)) return
    if (this.units.length > 0) this.schedule(0)
    this.listener.begin()
    const done = this.perform(units)
    if (done !== undefined) this.commit(done)
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
      this.sql.begin.run()
      this.waitingSinceMs = undefined
      return true
    } catch (error) {
      if (resultCode(error) === BUSY && this.mayWait()) {
        this.units.unshift(...units)
        this.schedule(1 + Math.random() * 9)
      } else {
        this.fail(units, error)
      }
      return false
    }
  }

  private mayWait(): boolean {
    const now = performance.now()
    this.waitingSinceMs ??= now
    return now - this.waitingSinceMs < MAX_WAIT_MS
  }

  /** The results by unit; undefined if all had to be undone. */
  private perform(units: readonly Unit[]): [Unit, unknown][] | undefined {
    const done: [Unit, unknown][] = []
    for (const unit of units) {
      try {
        done.push([unit, unit.work()])
      } catch (error) {
        const code = resultCode(error)
        if (code === undefined) {
          // It decided to throw before it wrote.
          unit.reject(error)
          continue
        }
        this.database.exec('ROLLBACK')
        this.listener.undo()
        if (FATAL.has(code)) this.fail(units, error)
        else this.performWithout(unit, units, error)
        return undefined
      }
    }
    return done
  }

  /** One unit's statement failed: the others are done again without it. */
  private performWithout(unit: Unit, units: readonly Unit[], error: unknown): void {
    unit.reject(error)
    this.units.unshift(...units.filter((other) => other !== unit))
    if (this.units.length > 0) this.schedule(0)
  }

  private commit(done: readonly [Unit, unknown][]): void {
    try {
      this.sql.commit.run()
    } catch (error) {
      this.listener.undo()
      this.fail(
        done.map(([unit]) => unit),
        error,
      )
      return
    }
    for (const [unit, result] of done) unit.resolve(result as never)
  }

  private fail(units: readonly Unit[], error: unknown): void {
    const busy = resultCode(error) === BUSY
    const message = busy
      ? `The ledger ${this.name} has been locked by another program for ${MAX_WAIT_MS / 1000} s`
      : `The ledger ${this.name} cannot be written: ${(error as Error).message}`
    const failure = new LedgerError(busy ? 'busy' : 'unusable', message, error)
    if (!busy) this.broken = failure
    const left = busy ? [] : this.units.splice(0)
    for (const unit of [...units, ...left]) unit.reject(failure)
    this.waitingSinceMs = undefined
  }
}
