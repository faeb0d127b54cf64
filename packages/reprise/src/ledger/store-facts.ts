/** What people want to know of a store as such, the same of every kind. Imports types of its own layer. */
import type { StatusCounts } from './ledger.js'
import type { OwnerRecord } from './records.js'

export interface StoreFacts {
  readonly kind: 'sqlite' | 'postgres'
  /** Its address, without a password. */
  readonly name: string
  /** Of SQLite, or of the server. */
  readonly version: string
  /** The schema that is there, 0 for none, and the newest that this program knows. */
  readonly schema: SchemaState
  /** All of it, with indexes and what is free. */
  readonly bytes: number
  readonly tables: readonly TableFacts[]
  /** Undefined where there is no schema, or one that this program does not know. */
  readonly content: StoreContent | undefined
  /** Of a server. */
  readonly connections: ConnectionFacts | null
  /** It only follows another server, and cannot be written. */
  readonly isReplica: boolean
  /** Settings that decide what a crash may lose. */
  readonly durability: Readonly<Record<string, string>>
}

export interface SchemaState {
  /** 0: there is none. */
  readonly version: number
  readonly newest: number
}

export interface TableFacts {
  readonly name: string
  /** As good as the store knows without counting; null if it does not. */
  readonly rows: number | null
  /** With its indexes; null where that cannot be told. */
  readonly bytes: number | null
}

export interface StoreContent {
  /** By the clock that leases are judged by. */
  readonly nowMs: number
  readonly tasks: StatusCounts
  /** When the first of those that wait is due. */
  readonly oldestDueAtMs: number | null
  readonly owners: readonly OwnerRecord[]
  readonly deadLetters: number
}

export interface ConnectionFacts {
  /** Of programs like this one, to this database. */
  readonly own: number
  readonly used: number
  readonly most: number
}

/** What a look at every page and row of a store has found; nothing was changed. */
export interface StoreCheck {
  readonly kind: 'sqlite' | 'postgres'
  /** Of SQLite, or of the server. */
  readonly version: string
  readonly schema: SchemaState
  readonly bytes: number
  /** Empty: the store is whole. */
  readonly damage: readonly StoreDamage[]
}

export interface StoreDamage {
  readonly place: string
  readonly problem: string
  /** A statement or command that mends it alone; null where only a copy of what is readable helps. */
  readonly cure: string | null
}
