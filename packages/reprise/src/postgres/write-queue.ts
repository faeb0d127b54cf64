/**
 * Group commit: what is asked to be written within one turn of the event loop, and while the connections are busy,
 * becomes one transaction. Imports its own layer.
 *
 * Invariants: a promise settles after the commit. When a connection is lost on the way, what became of the transaction is
 * looked up before anything is decided again. A decision that throws spoils no other. A deciding function may be called
 * more than once; only what it answered last is written.
 */
import { LedgerError } from '../ledger/errors.js'
import { ClaimMemory } from './claim-memory.js'
import { failureKind, ledgerFailure, MAX_WAIT_MS, StaleRead } from './failures.js'
import { pause } from './pause.js'
import { type UnwantedClaim, Transaction, type TransactionParts } from './transaction.js'
import { Unit, type Work } from './unit.js'

export interface WriteQueueParts extends Omit<TransactionParts, 'claims'> {
  /** Transactions at a time. */
  readonly lanes: number
}

/** More at once take longer than others would like to wait. */
const MAX_UNITS = 1000
/** After `close` a server that does not answer is asked so many times more what became of a commit. */
const LAST_LOOKS = 5

export class WriteQueue {
  private readonly parts: WriteQueueParts & TransactionParts
  private units: Unit[] = []
  /** Numbers of lanes that are not in use. */
  private readonly freeLanes: number[]
  private scheduled = false
  private closed: LedgerError | undefined = undefined
  private failures = 0
  private whenIdle: (() => void)[] = []

  constructor(parts: WriteQueueParts) {
    this.parts = { ...parts, claims: new ClaimMemory() }
    this.freeLanes = Array.from({ length: parts.lanes }, (_, lane) => lane)
  }

  private get isIdle(): boolean {
    return this.freeLanes.length === this.parts.lanes && this.units.length === 0
  }

  add<T>(work: Work<T>): Promise<T> {
    if (this.closed !== undefined) return Promise.reject(this.closed)
    return new Promise<T>((resolve, reject) => {
      this.units.push(new Unit(work, resolve, reject))
      this.schedule()
    })
  }

  /** Refuses everything from now on; what has been added is still written. */
  async close(): Promise<void> {
    this.closed = new LedgerError('closed', `The ledger ${this.parts.name} is closed`)
    while (!this.isIdle) await new Promise<void>((resolve) => this.whenIdle.push(resolve))
  }

  private schedule(): void {
    if (this.scheduled || this.units.length === 0) return
    this.scheduled = true
    setImmediate(() => this.flush())
  }

  private flush(): void {
    this.scheduled = false
    while (this.units.length > 0 && this.freeLanes.length > 0) {
      const isQuick = this.mayBeQuick(this.units[0] as Unit)
      const lane = this.freeLanes.shift() as number
      const transaction = new Transaction(this.parts, this.take(isQuick), isQuick, lane)
      void this.write(transaction).finally(() => this.leaveLane(transaction, lane))
    }
  }

  private leaveLane({ left }: Transaction, lane: number): void {
    // The one that was left last is taken first: few lanes have rows of tallies where few are needed.
    this.freeLanes.unshift(lane)
    this.units.unshift(...left)
    this.schedule()
    if (this.isIdle) for (const resolve of this.whenIdle.splice(0)) resolve()
  }

  /** The first, and all that can go the same way with it. */
  private take(isQuick: boolean): Unit[] {
    const [first] = this.units as [Unit]
    if (first.isAlone) return this.units.splice(0, 1)
    const names = new Set<string>()
    const taken: Unit[] = []
    const left: Unit[] = []
    for (const unit of this.units) {
      const fits = taken.length < MAX_UNITS && !unit.isAlone && this.mayBeQuick(unit) === isQuick
      // Upon what is known, a task is decided once at a time: its version says whether that was right.
      if (fits && (!isQuick || addNames(unit, names))) taken.push(unit)
      else left.push(unit)
    }
    this.units = left
    return taken
  }

  private mayBeQuick({ mustLock, work, keys, names }: Unit): boolean {
    if (mustLock || (keys.gates?.length ?? 0) + (keys.runs?.length ?? 0) > 0) return false
    if (work.creates === true) return true
    const [only] = names
    return only !== undefined && names.length === 1 && this.parts.cache.has(only)
  }

  private async write(transaction: Transaction): Promise<void> {
    try {
      await this.parts.connections.with((connection) => transaction.run(connection))
      this.failures = 0
    } catch (error) {
      await this.recover(transaction, error)
    }
    if (transaction.unwanted !== undefined) await this.giveBack(transaction, transaction.unwanted)
  }

  /**
   * Tasks that were claimed, and do not begin here: before the claim is made again. However long it takes, since this
   * process lives, and nobody else would take them.
   */
  private async giveBack(transaction: Transaction, { pks, dueAtMs, start }: UnwantedClaim): Promise<void> {
    const { connections, sql, name } = this.parts
    const values = [pks, dueAtMs, start.owner, start.current]
    for (let failures = 1; ; failures++) {
      try {
        await connections.with((connection) => connection.query(sql.giveBack, values))
        return
      } catch (error) {
        if (failureKind(error) === 'final' || (this.closed !== undefined && failures > LAST_LOOKS)) {
          // Others take the tasks over when the lease of this process is over.
          for (const unit of transaction.left) unit.reject(ledgerFailure(name, 'written', error))
          transaction.left.clear()
          return
        }
      }
      await pause(failures)
    }
  }

  private async recover(transaction: Transaction, error: unknown): Promise<void> {
    if (error instanceof StaleRead) {
      for (const unit of transaction.unsettled()) this.again(transaction, unit, error)
      return
    }
    const kind = failureKind(error)
    if (kind === 'final') {
      this.failAlone(transaction, error)
      return
    }
    this.failures++
    if (kind === 'lost' && transaction.turn !== undefined && (await this.wasCommitted(transaction))) return
    for (const unit of transaction.unsettled()) this.again(transaction, unit, error)
    await pause(this.failures)
  }

  private again(transaction: Transaction, unit: Unit, error: unknown): void {
    // At the end nobody waits for a server that does not answer.
    const hasWaited = this.closed !== undefined || performance.now() - unit.sinceMs > MAX_WAIT_MS
    if (hasWaited) unit.reject(ledgerFailure(this.parts.name, 'written', error))
    else transaction.left.add(unit)
  }

  /** It would fail again; if there are several, each is tried by itself. */
  private failAlone(transaction: Transaction, error: unknown): void {
    const units = transaction.unsettled()
    for (const unit of units) {
      if (units.length === 1) {
        unit.reject(ledgerFailure(this.parts.name, 'written', error))
        continue
      }
      unit.isAlone = true
      unit.mustLock = true
      transaction.left.add(unit)
    }
  }

  /** However long it takes: nobody may be told that it was not written, and nobody that it was. */
  private async wasCommitted(transaction: Transaction): Promise<boolean> {
    const { connections, writers, name } = this.parts
    const { turn } = transaction
    if (turn === undefined) return false
    for (let failures = 1; ; failures++) {
      try {
        const noted = await connections.with((other) => writers.outcomeOf(turn, other))
        if (noted !== undefined) transaction.committed(noted)
        return noted !== undefined
      } catch (error) {
        if (failureKind(error) === 'final' || (this.closed !== undefined && failures > LAST_LOOKS)) {
          const failure = unknownOutcome(name, error)
          for (const unit of transaction.unsettled()) unit.reject(failure)
          return true
        }
      }
      await pause(failures)
    }
  }
}

/** A process that does not know what it has written decides nothing more. Others take its tasks over after its lease. */
function unknownOutcome(name: string, error: unknown): LedgerError {
  const { message } = ledgerFailure(name, 'written', error)
  return new LedgerError('unusable', `Whether the last decision was written is not known. ${message}`, error)
}

/** Whether its tasks are not among the names, which they are then. */
function addNames({ names: own }: Unit, names: Set<string>): boolean {
  if (own.some((name) => names.has(name))) return false
  for (const name of own) names.add(name)
  return true
}
