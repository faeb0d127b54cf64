/**
 * Who writes: every connection has a row of its own, in which each transaction notes its number. When a connection is
 * lost and nobody knows whether its last transaction was committed, the row says so, and is closed: what may still be
 * under way finds it closed and writes nothing. Imports its own layer.
 */
import { randomUUID } from 'node:crypto'
import type { PoolClient } from 'pg'
import type { Connection, PooledConnection } from './connections.js'
import type { Statements } from './statements.js'

/** A connection's turn to write. */
export interface Turn {
  readonly writer: string
  readonly decision: number
}

/** What became of a transaction that was committed: the tasks that were written, where it was not all of them. */
export interface Noted {
  readonly made: readonly number[] | null
  readonly changed: readonly number[] | null
}

interface Writer {
  readonly id: string
  decision: number
}

export class Writers {
  private readonly sql: Statements
  private readonly process = randomUUID()
  private readonly writers = new Map<PoolClient, Writer>()
  private readonly ids: string[] = []

  constructor(sql: Statements) {
    this.sql = sql
  }

  /** The next number of this connection. What is not committed has to be `undone`. */
  async turn(connection: PooledConnection): Promise<Turn> {
    const { client } = connection
    let writer = this.writers.get(client)
    if (writer === undefined) {
      writer = { id: `${this.process}/${this.ids.length}`, decision: 0 }
      this.ids.push(writer.id)
      await connection.query(this.sql.newWriter, [writer.id, Date.now()])
      this.writers.set(client, writer)
      client.once('end', () => this.writers.delete(client))
    }
    writer.decision++
    return { writer: writer.id, decision: writer.decision }
  }

  /** It is known that nothing was committed. */
  undone({ client }: PooledConnection): void {
    const writer = this.writers.get(client)
    if (writer !== undefined) writer.decision--
  }

  /** Over another connection, when this one is lost: what it did, or undefined if that is nothing. */
  async outcomeOf({ writer, decision }: Turn, connection: Connection): Promise<Noted | undefined> {
    const [row] = await connection.query(this.sql.lastDecision, [writer])
    if (row === undefined || (row['decision'] as number) < decision) return undefined
    return notedOf(row)
  }

  /** In order: nobody will ask what became of them. */
  async end(connection: Connection): Promise<void> {
    if (this.ids.length > 0) await connection.query(this.sql.removeWriters, [this.ids])
  }
}

export function notedOf(row: Readonly<Record<string, unknown>>): Noted {
  return { made: row['made'] as Noted['made'], changed: row['changed'] as Noted['changed'] }
}
