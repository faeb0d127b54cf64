/**
 * The port to a durable store, in parts: what writes (`LedgerWriter`), what reads (`LedgerReader`), what is kept small
 * (`LedgerHousekeeping`), and answers about many tasks (`LedgerAnalytics`). Imports types of its own layer.
 */
import type { LedgerAnalytics } from './analytics.js'
import type { LedgerHousekeeping } from './ledger-housekeeping.js'
import type { LedgerReader } from './ledger-reader.js'
import type { LedgerWriter } from './ledger-writer.js'

export type { Seat } from './claim-places.js'
export type * from './filters.js'
export type * from './ledger-housekeeping.js'
export type * from './ledger-reader.js'
export type * from './ledger-writer.js'

/** Whether a store that can be away is there. */
export type StoreAvailability =
  | {
      readonly isAway: true
      /** What the last question failed with, or that it has no answer. */
      readonly reason: string
    }
  | {
      readonly isAway: false
      /** How long it was away. */
      readonly awayMs: number
    }

/**
 * A store of durable tasks: `MemoryLedger`, `SqliteLedger`, `PostgresLedger`, or one of your own. Methods reject with a
 * `LedgerError`.
 */
export interface Ledger extends LedgerWriter, LedgerReader, LedgerHousekeeping {
  /** What to call it in messages: never a secret. */
  readonly name: string
  /** Who can share it: processes of one machine, which see each other, or of many. */
  readonly spans: 'machine' | 'network'
  /** Questions about many tasks; they are answered from what is there, and write nothing. */
  readonly analytics: LedgerAnalytics
  /** The ledger's own time: milliseconds since the epoch. @example const nowMs = await ledger.now() */
  now(): Promise<number>
  /**
   * The time that leases of all processes are written and judged by: the wall clock as it is now, or the database's.
   * Unlike `now` it may jump.
   * @example const nowMs = await ledger.leaseNow()
   */
  leaseNow(): Promise<number>
  /**
   * A number that differs from an earlier one if another process has changed or removed tasks, runs or gates since, and
   * stays the same if nobody has written: a cheap way to see whether a look is worthwhile. A heartbeat may change it.
   * @example
   * const before = await ledger.changeMark()
   * const isSame = before === (await ledger.changeMark())
   */
  changeMark(): Promise<number>
  /**
   * Calls `heard` when another process has made a task due at once, where a store can tell; a hint, which may be lost
   * or come for nothing. Resolves to a function that ends it.
   * @example
   * const stop = await ledger.listen(() => console.log('look again'))
   * stop()
   */
  listen(heard: () => void): Promise<() => void>
  /**
   * Calls `heard` when the store has not answered for some seconds, and when it answers again. Resolves to a function that
   * ends it.
   * @default absent, for a store that cannot be away
   * @example
   * const stop = await ledger.watchAvailability?.(({ isAway }) => console.log(isAway ? 'away' : 'back'))
   * stop?.()
   */
  watchAvailability?(heard: (state: StoreAvailability) => void): Promise<() => void>
  /** Closes files and connections. Nothing may be asked of the ledger afterwards. @example await ledger.close() */
  close(): Promise<void>
}
