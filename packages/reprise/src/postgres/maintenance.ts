/**
 * What is done to a ledger's schema on a server: looked at, also where it cannot be used, copied as of one moment, made of
 * another ledger's rows. Imports its own layer.
 */
import { TASK_STATUSES } from '../ledger/records.js'
import {
  COPIED_TABLES,
  type CopiedCounts,
  type CopiedRows,
  type CopiedTable,
  countTask,
  placeColumns,
  portionsOf,
  ROWS_AT_ONCE,
} from '../ledger/copied-tables.js'
import { LedgerError } from '../ledger/errors.js'
import { ownersIn, type SqlRow } from '../ledger/rows.js'
import { wholeRows } from '../ledger/row-check.js'
import { TallyCounts, TASK_CLASSES } from '../ledger/tally.js'
import type {
  ConnectionFacts,
  StoreCheck,
  StoreContent,
  StoreDamage,
  StoreFacts,
  TableFacts,
} from '../ledger/store-facts.js'
import { addressOf, type PostgresAddress } from './address.js'
import { type Connection, Connections, NOW } from './connections.js'
import { ledgerFailure } from './failures.js'
import { migrateWithin, migrationSql, schemaState } from './migrations.js'
import { loadDriver } from './open-postgres.js'
import { ServerTime } from './server-time.js'

type Use<T> = (connection: Connection, address: PostgresAddress) => Promise<T>

/** As long as counting very many rows may take. */
const STATEMENT_MS = 600_000

/** One connection, to whatever kind of server it is. */
async function connected<T>(given: string, use: Use<T>): Promise<T> {
  const address = addressOf(given)
  const connections = new Connections(loadDriver(address), address, new ServerTime(), false)
  try {
    const client = await connections.single(STATEMENT_MS)
    const query: Connection['query'] = async (statement, values = []) => {
      const text = typeof statement === 'string' ? statement : statement.text
      return (await client.query(text, [...values])).rows
    }
    try {
      return await use({ query }, address)
    } finally {
      await client.end()
    }
  } catch (error) {
    throw ledgerFailure(address.name, 'opened', error)
  } finally {
    await connections.end()
  }
}

export function inspectPostgres(given: string): Promise<StoreFacts> {
  return connected(given, async (connection, { name, schema }) => {
    const state = await schemaState(connection, schema, name)
    const [server] = await connection.query(`SELECT current_setting('server_version') AS version,
      pg_is_in_recovery() AS is_replica, current_setting('fsync') AS fsync,
      current_setting('synchronous_commit') AS synchronous_commit,
      current_setting('full_page_writes') AS full_page_writes`)
    const tables = await tablesOf(connection, schema)
    const { version, is_replica: isReplica, ...durability } = server as Readonly<Record<string, string>>
    return {
      kind: 'postgres',
      name,
      version: version as string,
      schema: state,
      bytes: tables.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
      tables,
      content: state.version === state.newest ? await contentOf(connection, schema) : undefined,
      connections: await connectionsOf(connection),
      isReplica: (isReplica as unknown) === true,
      durability,
    }
  })
}

async function tablesOf(connection: Connection, schema: string): Promise<TableFacts[]> {
  const rows = await connection.query(
    `SELECT c.relname::text AS name, pg_total_relation_size(c.oid) AS bytes,
       greatest(c.reltuples, coalesce(s.n_live_tup, 0))::bigint AS rows
     FROM pg_class c LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
     WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r' ORDER BY 2 DESC, 1`,
    [schema],
  )
  return rows as unknown as TableFacts[]
}

async function contentOf(connection: Connection, schema: string): Promise<StoreContent> {
  const counts = await connection.query(`SELECT status, count(*) AS tasks FROM ${schema}.tasks GROUP BY status`)
  const known = new Map(counts.map((row) => [row['status'] as string, row['tasks'] as number]))
  const owners = await connection.query(`SELECT record FROM ${schema}.owners ORDER BY id`)
  const [rest] =
    await connection.query(`SELECT ${NOW}, (SELECT count(*) FROM ${schema}.dead WHERE closed_at IS NULL) AS letters,
    (SELECT min(due_at) FROM ${schema}.tasks WHERE status = 'waiting') AS due`)
  return {
    nowMs: rest?.['now'] as number,
    tasks: Object.fromEntries(
      TASK_STATUSES.flatMap((status) => (known.has(status) ? [[status, known.get(status)]] : [])),
    ),
    oldestDueAtMs: (rest?.['due'] ?? null) as number | null,
    owners: ownersIn(owners as SqlRow[]),
    deadLetters: rest?.['letters'] as number,
  }
}

async function connectionsOf(connection: Connection): Promise<ConnectionFacts> {
  const [row] = await connection.query(`SELECT count(*) AS used, current_setting('max_connections')::int AS most,
    count(*) FILTER (WHERE application_name = 'reprise' AND datname = current_database()) AS own
    FROM pg_stat_activity WHERE backend_type = 'client backend'`)
  return { own: row?.['own'] as number, used: row?.['used'] as number, most: row?.['most'] as number }
}

/** What a migration would execute; empty if there is nothing to do. */
export function pendingPostgresSql(given: string): Promise<readonly string[]> {
  return connected(given, async (connection, { name, schema }) => {
    const { version, newest } = await schemaState(connection, schema, name)
    return version >= newest ? [] : migrationSql(schema, version)
  })
}

/** All rows, as of one moment: others go on writing. `take` is handed them bit by bit. */
export function copyPostgres(given: string, take: (rows: CopiedRows) => Promise<CopiedCounts>): Promise<CopiedCounts> {
  return connected(given, async (connection, { name, schema }) => {
    const { version, newest } = await schemaState(connection, schema, name)
    if (version === 0) throw new LedgerError('missing', `There is no ledger ${name}`)
    if (version !== newest) {
      const isNewer = version > newest
      const cure = isNewer ? 'update this program' : 'run `reprise store migrate` first'
      const message = `The ledger ${name} has schema ${version}, and this program ${newest}: ${cure}`
      throw new LedgerError(isNewer ? 'newer_format' : 'unusable', message)
    }
    await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    return take(rowsOf(connection, schema))
  })
}

/** Looks at what the server knows of damage, then at every row; `take` is handed the rows. Nothing is changed. */
export function checkPostgres(given: string, take: (rows: CopiedRows) => Promise<void>): Promise<StoreCheck> {
  return connected(given, async (connection, { name, schema }) => {
    const state = await schemaState(connection, schema, name)
    if (state.version === 0) throw new LedgerError('missing', `There is no ledger ${name}`)
    const [server] = await connection.query(`SELECT current_setting('server_version') AS version`)
    const tables = await tablesOf(connection, schema)
    const bytes = tables.reduce((sum, table) => sum + (table.bytes ?? 0), 0)
    const facts = { kind: 'postgres', version: String(server?.['version']), schema: state, bytes } as const
    if (state.version !== state.newest) return { ...facts, damage: [] }
    const damage = [...(await invalidIndexes(connection, schema)), ...(await failedChecksums(connection))]
    await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await take(
      wholeRows(rowsOf(connection, schema), ({ place, reason }) => damage.push({ place, problem: reason, cure: null })),
    )
    return { ...facts, damage }
  })
}

/** Left behind by an index that was not finished, or switched off by hand: statements do not use it, or it misses rows. */
async function invalidIndexes(connection: Connection, schema: string): Promise<StoreDamage[]> {
  const rows = await connection.query(
    `SELECT c.relname::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace = to_regnamespace($1) AND NOT (i.indisvalid AND i.indisready) ORDER BY 1`,
    [schema],
  )
  return rows.map((row) => ({
    place: `index ${String(row['name'])}`,
    problem: 'the server marks it as invalid',
    cure: `psql -c 'REINDEX INDEX ${schema}.${String(row['name'])}'`,
  }))
}

/** Pages that were damaged on the disk, as far as the server has read them; null where it keeps no checksums. */
async function failedChecksums(connection: Connection): Promise<StoreDamage[]> {
  const [row] = await connection.query(
    `SELECT coalesce(checksum_failures, 0) AS failures FROM pg_stat_database WHERE datname = current_database()`,
  )
  const failures = Number(row?.['failures'] ?? 0)
  if (failures === 0) return []
  const problem = `the server has found ${failures} damaged pages: restore it from a backup of the server`
  return [{ place: 'the database', problem, cure: null }]
}

async function* rowsOf(connection: Connection, schema: string): CopiedRows {
  for (const table of COPIED_TABLES) {
    const { name, columns, order } = table
    // A gate without a state is there to be locked, and nothing else.
    const where = name === 'gates' ? 'WHERE state IS NOT NULL' : ''
    const from = `FROM ${schema}.${name} ${where} ORDER BY ${order.join(', ')}`
    // The server knows the length of a text without reading it.
    const bytes = columns.map((column) => `coalesce(octet_length(${column}::text), 0)::bigint`).join(' + ')
    await connection.query(`DECLARE lengths CURSOR FOR
      SELECT ${placeColumns(table).join(', ')}, ${bytes} AS bytes ${from}`)
    await connection.query(`DECLARE copied CURSOR FOR SELECT ${columns.join(', ')} ${from}`)
    for (;;) {
      const lengths = (await connection.query(`FETCH ${ROWS_AT_ONCE} FROM lengths`)) as SqlRow[]
      if (lengths.length === 0) break
      for (const count of portionsOf(table, lengths))
        yield { table, rows: (await connection.query(`FETCH ${count} FROM copied`)) as SqlRow[] }
    }
    await connection.query('CLOSE lengths')
    await connection.query('CLOSE copied')
  }
}

/** Makes the ledger of the rows of another; refused where there is anything already. All or nothing, the schema too. */
export function restorePostgres(given: string, source: CopiedRows): Promise<CopiedCounts> {
  return connected(given, async (connection, { name, schema }) => {
    const counts: Record<string, number> = {}
    await connection.query('BEGIN')
    await migrateWithin(connection, schema, name)
    // Whoever writes waits until it is there, or finds that it is not.
    await connection.query(`LOCK TABLE ${schema}.tasks, ${schema}.runs, ${schema}.events IN ACCESS EXCLUSIVE MODE`)
    await expectUnused(connection, schema, name)
    const tallies = new TallyCounts()
    for await (const { table, rows } of source) {
      if (table.isDerived) continue
      if (table.name === 'tasks') for (const row of rows) countTask(row, tallies)
      await insert(connection, schema, table, rows)
      counts[table.name] = (counts[table.name] ?? 0) + rows.length
    }
    for (const [tally, delta] of tallies.entries()) {
      await connection.query(INSERT_TALLY.replace('$.', `${schema}.`), [tally, ...delta])
    }
    await connection.query(`UPDATE ${schema}.event_numbers
      SET last = greatest(last, (SELECT coalesce(max(seq), 0) FROM ${schema}.events))`)
    // Keys are given out in blocks, of which the next begins behind the last that is used.
    await connection.query(`SELECT setval('${schema}.task_keys',
      (SELECT coalesce(max(pk) / 1000 + 1, 1) * 1000 FROM ${schema}.tasks), false)`)
    await connection.query('COMMIT')
    return counts
  })
}

const INSERT_TALLY = `INSERT INTO $.tallies (name, ${TASK_CLASSES.join(', ')})
  VALUES ($1, ${TASK_CLASSES.map((_, index) => `$${index + 2}`).join(', ')})`

async function expectUnused(connection: Connection, schema: string, name: string): Promise<void> {
  const [row] = await connection.query(`SELECT EXISTS (SELECT 1 FROM ${schema}.tasks)
    OR EXISTS (SELECT 1 FROM ${schema}.runs) OR EXISTS (SELECT 1 FROM ${schema}.events) AS is_used`)
  if (row?.['is_used'] !== true) return
  const cure = 'restore into a schema of its own (…?schema=NAME), or drop this one'
  throw new LedgerError('refused', `The ledger ${name} has tasks, runs or events already: ${cure}`)
}

async function insert(
  connection: Connection,
  schema: string,
  { name, columns }: CopiedTable,
  rows: readonly SqlRow[],
): Promise<void> {
  const list = columns.join(', ')
  const [first] = rows
  // One that may be very long: as JSON it would be longer yet, and longer than a string can be.
  if (rows.length === 1 && first !== undefined) {
    await connection.query(
      `INSERT INTO ${schema}.${name} (${list}) VALUES (${columns.map((_, index) => `$${index + 1}`).join(', ')})`,
      columns.map((column) => first[column] ?? null),
    )
    return
  }
  // The types are those of the table.
  await connection.query(
    `INSERT INTO ${schema}.${name} (${list})
     SELECT ${list} FROM json_populate_recordset(null::${schema}.${name}, $1::json)`,
    [JSON.stringify(rows)],
  )
}
