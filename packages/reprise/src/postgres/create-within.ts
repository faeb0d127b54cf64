/**
 * Creates a task in a transaction of the caller: a statement on the caller's client, so that the task is there if the
 * transaction commits, and not if it does not. Imports the driver's types, the ledger's port and its own layer.
 *
 * Invariants: one statement writes, so that it is whole also on a client without a transaction. Nothing that other tasks
 * need is locked until the caller commits: the policy is kept beside, and a tally has a row of its own, which a sweep merges.
 */
import { randomUUID } from 'node:crypto'
import { LedgerError } from '../ledger/errors.js'
import type { Creation, NewTask, TransactionClient } from '../ledger/ledger.js'
import { type SqlRow, TASK_COLUMNS, taskOf } from '../ledger/rows.js'
import { TASK_CLASSES } from '../ledger/tally.js'
import { Batch } from './batch.js'
import { getTypeParser, type Row, type Statement } from './connections.js'
import { type Part, PARTS } from './write-shape.js'

export interface CreateWithinParts {
  /** The ledger's, for messages. */
  readonly name: string
  readonly schema: string
  /** What processes that look for work listen to. */
  readonly channel: string
  /** On a connection of the ledger. */
  readonly ask: (statement: Statement, values: readonly unknown[]) => Promise<SqlRow[]>
}

/** Which database a connection leads to, and whether the schema is there; it fails for nobody. */
const IDENTITY = `SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), oid, to_regnamespace($1)::oid) AS identity
  FROM pg_database WHERE datname = current_database()`

const MADE = Object.entries(PARTS.made)

export class TransactionCreator {
  private readonly parts: CreateWithinParts
  private readonly insert: string
  private readonly insertCounted: string
  private readonly select: string
  /** Clients that are known to lead to the ledger's database. */
  private readonly known = new WeakSet<TransactionClient>()

  constructor(parts: CreateWithinParts) {
    this.parts = parts
    const { schema } = parts
    this.insert = insertText(schema, false)
    this.insertCounted = insertText(schema, true)
    this.select = `SELECT ${TASK_COLUMNS}, payload_hash FROM ${schema}.tasks
      WHERE scope_kind = $1 AND scope = $2 AND id = $3`
  }

  async create(client: TransactionClient, created: NewTask): Promise<Creation> {
    await this.expectSameDatabase(client)
    const { task, payloadHash } = created
    const batch = new Batch(task.createdAtMs)
    // The key is taken by the statement.
    batch.take({ created: [created] }, () => 0)
    const [made] = batch.parts().made as readonly [Part<'made'>]
    const values = MADE.filter(([column]) => column !== 'pk').map(([column]) => made[column as keyof typeof made])
    const isCounted = task.tally !== undefined
    const text = isCounted ? this.insertCounted : this.insert
    const { channel } = this.parts
    const given = [...values, channel, randomUUID(), ...(isCounted ? [randomUUID()] : [])]
    const [written] = await query(client, text, given)
    if (written?.['made'] === 1) return { type: 'created', task }
    const [row] = await query(client, this.select, [task.scopeKind, task.scope, task.id])
    // Removed by a sweep in between, or hidden by the snapshot of a stricter isolation.
    if (row === undefined)
      throw this.failure(`task ${task.scope}/${task.id} exists, and the transaction does not see it`)
    const isSame = row['payload_hash'] === payloadHash
    return { type: isSame ? 'existing' : 'conflict', task: taskOf(row as SqlRow).task }
  }

  private async expectSameDatabase(client: TransactionClient): Promise<void> {
    if (this.known.has(client)) return
    const { schema, ask } = this.parts
    const [own] = await ask({ name: 'reprise_identity', text: IDENTITY }, [schema])
    const [theirs] = await query(client, IDENTITY, [schema])
    if (own?.['identity'] !== theirs?.['identity'])
      throw this.failure(
        'the client is connected to another database: give it one that leads to the database of the ledger',
      )
    this.known.add(client)
  }

  private failure(why: string): LedgerError {
    return new LedgerError('refused', `The ledger ${this.parts.name} cannot record in this transaction: ${why}`)
  }
}

async function query(client: TransactionClient, text: string, values: readonly unknown[]): Promise<Row[]> {
  // The program may have parsers of its own.
  const { rows } = (await client.query({ text, values: [...values], types: { getTypeParser } })) as { rows: Row[] }
  return rows
}

/** Processes hear of it when it is committed. `isCounted`: the task has a tally. */
function insertText(schema: string, isCounted: boolean): string {
  const columns = MADE.map(([column]) => column)
  let next = 1
  const values = MADE.map(([column, type]) =>
    column === 'pk' ? `nextval('${schema}.task_keys')` : `$${next++}::${type}`,
  )
  const [channel, payload] = [next++, next++]
  const tally = columns.indexOf('tally')
  const zeros = TASK_CLASSES.map((name) => (name === 'fresh' ? '1' : '0')).join(', ')
  const counted = `, tallied AS (INSERT INTO ${schema}.tallies (name, owner, lane, ${TASK_CLASSES.join(', ')})
    SELECT ${values[tally]}, $${next}::text, 0, ${zeros} FROM made)`
  return `WITH made AS (INSERT INTO ${schema}.tasks (${columns.join(', ')}) VALUES (${values.join(', ')})
    ON CONFLICT (scope_kind, scope, id) DO NOTHING RETURNING pk)${isCounted ? counted : ''},
    told AS (SELECT pg_notify($${channel}::text, $${payload}::text) FROM made)
    SELECT (SELECT count(*)::int4 FROM made) AS made, (SELECT count(*)::int4 FROM told) AS told`
}
