/**
 * Who writes: every connection has a row of its own, in which each transaction notes its number. When a connection is
 * lost and nobody knows whether its last transaction was committed, the row says so, and is closed: what may still be
 * under way finds it closed and writes nothing. Imports its own layer and the ledger's errors.
 */
import { randomUUID } from 'node:crypto'
import type { PoolClient } from 'pg'
import { LedgerError } from '../ledger/errors.js'
import type { Connection, PooledConnection } from './connections.js'
import type { Reader } from './reader.js'
import type { Statements } from './statements.js'

/** A connection's turn to write. */
export interface Turn {
  readonly writer: string
  readonly decision: number
}

/**
 * What became of a transaction that was committed: the tasks that were written, where it was not all of them. Of a claim in
 * one statement: the tasks that were claimed, and in place of those that were made since when these were due.
 */
export interface Noted {
  readonly made: readonly number[] | null
  readonly changed: readonly number[] | null
}

/** More than connections live at a time. */
const MOST_IDS = 1000

interface Writer {
  readonly id: string
  decision: number
}

export class Writers {
  private readonly sql: Statements
  private readonly process = randomUUID()
  private readonly writers = new WeakMap<PoolClient, Writer>()
  private readonly ids: string[] = []
  private count = 0

  constructor(sql: Statements) {
    this.sql = sql
  }

  /** Makes the row of this connection, if it has none; not within a transaction that may be undone. */
  async enter(connection: PooledConnection): Promise<void> {
    const { client } = connection
    if (this.writers.has(client)) return
    const writer = { id: `${this.process}/${this.count++}`, decision: 0 }
    this.ids.push(writer.id)
    // Those before are of connections that are long gone; compaction removes their rows.
    if (this.ids.length > MOST_IDS) this.ids.shift()
    await connection.query(this.sql.newWriter, [writer.id])
    this.writers.set(client, writer)
  }

  /** The next number of this connection, which has entered. What is not committed has to `leave`. */
  turn({ client }: PooledConnection): Turn {
    const writer = this.writers.get(client) as Writer
    writer.decision++
    return { writer: writer.id, decision: writer.decision }
  }

  /** Nothing was committed, perhaps since the row is gone: the connection begins with another one. */
  leave({ client }: PooledConnection): void {
    this.writers.delete(client)
  }

  /** Over another connection, when this one is lost: what it did, or undefined if that is nothing. */
  async outcomeOf({ writer, decision }: Turn, connection: Connection): Promise<Noted | undefined> {
    const [row] = await connection.query(this.sql.lastDecision, [writer])
    if (row === undefined) throw forgotten()
    return (row['decision'] as number) < decision ? undefined : notedOf(row)
  }

  /**
   * How often other processes have written: each of their transactions counts in the row of its connection, in the same
   * statement, so that nothing is written for the sum.
   */
  async decisionsOfOthers(reader: Reader): Promise<number> {
    const [row] = await reader.query(this.sql.decisions, [`${this.process}/`])
    return row?.['decisions'] as number
  }

  /** In order: nobody will ask what became of them. */
  async end(connection: Connection): Promise<void> {
    if (this.ids.length > 0) await connection.query(this.sql.removeWriters, [this.ids])
  }
}

/** It was there when the connection entered. To take it for not written could be to write it twice. */
function forgotten(): LedgerError {
  const why = 'the server was out of reach for so long that the note of it was removed'
  return new LedgerError(
    'unusable',
    `Whether the last decision was written is not known: ${why}: start again, and others go on with what is left`,
  )
}

export function notedOf(row: Readonly<Record<string, unknown>>): Noted {
  return { made: row['made'] as Noted['made'], changed: row['changed'] as Noted['changed'] }
}
