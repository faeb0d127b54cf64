/**
 * The schema, as numbered steps that only go forward. A step that has been released is never changed: another one
 * follows. Two migrators at once are safe, since they take the same lock and look again. Who may not create anything can
 * still use a schema that is up to date. Imports its own layer and the ledger's errors.
 */
import { LedgerError, unreleased } from '../ledger/errors.js'
import type { SchemaState } from '../ledger/store-facts.js'
import type { Connection } from './connections.js'

/** `$schema` stands for the schema's name. Texts are compared byte by byte, as every other ledger does. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE $schema.tasks (
    pk bigint PRIMARY KEY,
    version bigint NOT NULL DEFAULT 1,
    -- 'task': scope is the name that a program registered. 'run': scope is the id of a run, and the task is a step.
    scope_kind text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    generation integer NOT NULL,
    status text COLLATE "C" NOT NULL,
    -- 0: interrupted, 1: a retry, 2: fresh. In this order they are claimed.
    claim_rank smallint NOT NULL DEFAULT 2,
    due_at float8,
    owner text COLLATE "C",
    fence bigint NOT NULL,
    progress text NOT NULL,
    policy_hash text COLLATE "C" NOT NULL,
    payload_hash text COLLATE "C" NOT NULL,
    input text NOT NULL,
    result text,
    stop_reason text COLLATE "C",
    -- The tally that counts the task, if one does.
    tally text COLLATE "C",
    correlation_id text COLLATE "C" NOT NULL,
    created_at float8 NOT NULL,
    updated_at float8 NOT NULL,
    attempts_kept integer NOT NULL DEFAULT 0,
    compacted_attempts integer NOT NULL DEFAULT 0,
    compacted_until float8,
    UNIQUE (scope_kind, scope, id)
  );
  CREATE INDEX tasks_due ON $schema.tasks (queue, policy_hash, claim_rank, due_at, id) WHERE status = 'waiting';
  CREATE INDEX tasks_owned ON $schema.tasks (owner, queue) WHERE owner IS NOT NULL;
  CREATE INDEX tasks_undecided ON $schema.tasks (scope_kind, scope, id) WHERE status = 'undecided';
  CREATE INDEX tasks_finished ON $schema.tasks (status, updated_at) WHERE status IN ('succeeded', 'failed', 'cancelled');
  CREATE INDEX tasks_history ON $schema.tasks (attempts_kept) WHERE attempts_kept >= 10;
  -- Keys are taken in blocks, so that whoever creates a task knows its key before it is written.
  CREATE SEQUENCE $schema.task_keys INCREMENT BY 1000 MINVALUE 0 START WITH 1000;

  CREATE TABLE $schema.attempts (
    task bigint NOT NULL,
    generation integer NOT NULL,
    attempt integer NOT NULL,
    execution integer NOT NULL,
    started_at float8 NOT NULL,
    ended_at float8 NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    delay_before float8 NOT NULL,
    failure text,
    signature text COLLATE "C",
    owner text COLLATE "C" NOT NULL,
    PRIMARY KEY (task, generation, attempt, execution)
  );
  CREATE INDEX attempts_failed ON $schema.attempts (signature, task, ended_at) WHERE signature IS NOT NULL;

  -- How far a task that has not ended has come, as its program says.
  CREATE TABLE $schema.checkpoints (
    task bigint PRIMARY KEY,
    value text NOT NULL
  );

  CREATE TABLE $schema.policies (
    hash text COLLATE "C" PRIMARY KEY,
    policy text NOT NULL,
    kept_at float8 NOT NULL
  );

  -- One without a state is nobody's yet: it is there to be locked.
  CREATE TABLE $schema.gates (
    key text COLLATE "C" PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    state text,
    settings text,
    manual_revision integer NOT NULL DEFAULT 0
  );

  CREATE TABLE $schema.runs (
    id text COLLATE "C" PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    name text NOT NULL,
    status text COLLATE "C" NOT NULL,
    owner text COLLATE "C",
    fence bigint NOT NULL,
    resumes integer NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    detail text NOT NULL,
    correlation_id text COLLATE "C" NOT NULL,
    created_at float8 NOT NULL,
    updated_at float8 NOT NULL,
    ended_at float8,
    definition text NOT NULL
  );
  CREATE INDEX runs_begun ON $schema.runs (created_at);
  CREATE INDEX runs_named ON $schema.runs (name, created_at);

  -- How many tasks that name a tally are of which class: the sum over its rows. Each process adds to rows of its own, one
  -- for each of its lanes, so that nobody waits for another's commit. Those of owners that are gone are added up in one,
  -- whose owner is ''. One of these may be below 0.
  CREATE TABLE $schema.tallies (
    name text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL DEFAULT '',
    lane integer NOT NULL DEFAULT 0,
    fresh bigint NOT NULL,
    retrying bigint NOT NULL,
    undecided bigint NOT NULL,
    succeeded bigint NOT NULL,
    failed bigint NOT NULL,
    cancelled bigint NOT NULL,
    PRIMARY KEY (name, owner, lane)
  ) WITH (fillfactor = 50);
  CREATE INDEX tallies_owned ON $schema.tallies (owner) WHERE owner <> '';

  CREATE TABLE $schema.owners (
    id text COLLATE "C" PRIMARY KEY,
    record text NOT NULL
  );

  CREATE TABLE $schema.dead (
    scope_kind text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    generation integer NOT NULL,
    at float8 NOT NULL,
    signature text COLLATE "C" NOT NULL,
    stop_reason text COLLATE "C" NOT NULL,
    failure text,
    closed_at float8,
    closed_by text COLLATE "C",
    PRIMARY KEY (scope_kind, scope, id, generation)
  );
  CREATE INDEX dead_at ON $schema.dead (at, scope_kind, scope, id, generation);

  CREATE TABLE $schema.events (
    seq bigint PRIMARY KEY,
    type text COLLATE "C" NOT NULL,
    scope_kind text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    at float8 NOT NULL,
    correlation_id text COLLATE "C" NOT NULL,
    detail text NOT NULL
  );
  CREATE INDEX events_scope ON $schema.events (scope_kind, scope, seq);
  CREATE INDEX events_task ON $schema.events (scope_kind, scope, id, seq);
  -- Numbers of events are given out under a lock that is kept until the commit: no reader can miss one.
  CREATE TABLE $schema.event_numbers (one boolean PRIMARY KEY CHECK (one), last bigint NOT NULL);
  INSERT INTO $schema.event_numbers VALUES (true, 0);

  -- Of every connection that writes, its last decision: so that one whose answer was lost can be looked up.
  CREATE TABLE $schema.writers (
    id text COLLATE "C" PRIMARY KEY,
    decision bigint NOT NULL,
    -- Tasks that were made and changed, where it was not all of them.
    made bigint[],
    changed bigint[],
    closed boolean NOT NULL DEFAULT false,
    since float8 NOT NULL
  ) WITH (fillfactor = 50);
  `,
]

export const SCHEMA_VERSION = MIGRATIONS.length

export async function schemaState(connection: Connection, schema: string, name: string): Promise<SchemaState> {
  return { version: await versionOf(connection, schema, name), newest: SCHEMA_VERSION }
}

/**
 * Makes the schema, or brings it up to date; refuses one that a newer or an unreleased version of the library wrote.
 * `steps` is an argument for tests.
 */
export async function migrate(
  connection: Connection,
  schema: string,
  name: string,
  steps: readonly string[] = MIGRATIONS,
): Promise<void> {
  const version = await versionOf(connection, schema, name)
  expectKnown(version, name, steps.length)
  if (version === steps.length) return
  await connection.query('BEGIN')
  try {
    await migrateWithin(connection, schema, name, steps)
    await connection.query('COMMIT')
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

/** The same as a part of a transaction that has begun. */
export async function migrateWithin(
  connection: Connection,
  schema: string,
  name: string,
  steps: readonly string[] = MIGRATIONS,
): Promise<void> {
  const version = await versionOf(connection, schema, name)
  expectKnown(version, name, steps.length)
  if (version === steps.length) return
  try {
    await migrateLocked(connection, schema, name, steps)
  } catch (error) {
    throw codeOf(error) === NOT_ALLOWED ? mayNotCreate(name, version, error) : error
  }
}

/** For who may not change anything: refuses what is not up to date. */
export async function expectMigrated(connection: Connection, schema: string, name: string): Promise<void> {
  const version = await versionOf(connection, schema, name)
  expectKnown(version, name)
  if (version < SCHEMA_VERSION) throw new LedgerError('unusable', outdated(name, version))
}

async function migrateLocked(
  connection: Connection,
  schema: string,
  name: string,
  steps: readonly string[],
): Promise<void> {
  // Of this schema only, and gone with the transaction.
  await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`reprise migrates ${schema}`])
  // Who owns a schema need not be allowed to create others, and would be refused even if it is there.
  const [found] = await connection.query('SELECT to_regnamespace($1) IS NOT NULL AS is_there', [schema])
  if (found?.['is_there'] !== true) await connection.query(`CREATE SCHEMA ${schema}`)
  await connection.query(metaSql(schema))
  // Somebody else may have been faster.
  const version = await versionOf(connection, schema, name)
  expectKnown(version, name, steps.length)
  if (version === 0) await expectEmpty(connection, schema, name)
  for (const statement of stepsSql(schema, version, steps)) await connection.query(statement)
}

/** Everything that `migrate` would execute, to be read, or to be executed by somebody with more rights. */
export function migrationSql(schema: string, version: number): readonly string[] {
  return ['BEGIN', `CREATE SCHEMA IF NOT EXISTS ${schema}`, metaSql(schema), ...stepsSql(schema, version), 'COMMIT']
}

function metaSql(schema: string): string {
  return `CREATE TABLE IF NOT EXISTS ${schema}.meta (one boolean PRIMARY KEY CHECK (one), version integer NOT NULL)`
}

function stepsSql(schema: string, version: number, steps: readonly string[] = MIGRATIONS): string[] {
  return [
    ...steps.slice(version).map((step) => step.replaceAll('$schema', schema)),
    `INSERT INTO ${schema}.meta VALUES (true, ${steps.length})
    ON CONFLICT (one) DO UPDATE SET version = excluded.version`,
  ]
}

const NOT_ALLOWED = '42501'
const NO_SUCH_COLUMN = '42703'

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | null)?.code
}

/** 0: there is none. */
async function versionOf(connection: Connection, schema: string, name: string): Promise<number> {
  const [found] = await connection.query(
    `SELECT to_regclass($1) IS NOT NULL AS is_there, quote_ident($2) <> $2 AS is_word,
       EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass($3) AND attname = 'run') AS has_run`,
    [`${schema}.meta`, schema, `${schema}.tasks`],
  )
  if (found?.['is_word'] === true) {
    throw new LedgerError(
      'refused',
      `${schema} is a word of SQL, and no name for the schema of ${name}: take another one`,
    )
  }
  if (found?.['is_there'] !== true) return 0
  try {
    const [meta] = await connection.query(`SELECT version FROM ${schema}.meta`)
    // Before the first release, tables were keyed by `run`, and versions were counted from 1 as well.
    if (found['has_run'] === true) throw unreleased(name, 'take a new schema (…?schema=NAME)')
    return (meta?.['version'] as number | undefined) ?? 0
  } catch (error) {
    throw codeOf(error) === NO_SUCH_COLUMN ? foreign(schema, name, 'meta') : error
  }
}

function expectKnown(version: number, name: string, known = SCHEMA_VERSION): void {
  if (version <= known) return
  const versions = `version ${version}, and this program knows ${known}`
  throw new LedgerError('newer_format', `${name} was written by a newer Reprise (${versions}): update this program`)
}

function outdated(name: string, version: number): string {
  const what = version === 0 ? 'has no tables yet' : `has version ${version} of its tables`
  const cure = 'open it once as a user who may create them'
  return `The ledger ${name} ${what}, and this program needs version ${SCHEMA_VERSION}: ${cure}`
}

function mayNotCreate(name: string, version: number, error: unknown): LedgerError {
  const said = error instanceof Error ? error.message : String(error)
  const grant = 'or grant this user CREATE on the database, or on a schema that is there'
  return new LedgerError('unusable', `${outdated(name, version)}, ${grant} (${said})`, error)
}

/** Another program's tables stay its own. */
async function expectEmpty(connection: Connection, schema: string, name: string): Promise<void> {
  const [other] = await connection.query(
    `SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'v', 'm', 'S', 'p', 'f')
     AND relname <> 'meta' LIMIT 1`,
    [schema],
  )
  if (other !== undefined) throw foreign(schema, name, String(other['relname']))
}

function foreign(schema: string, name: string, table: string): LedgerError {
  const cure = 'give the ledger a schema of its own (…?schema=NAME)'
  return new LedgerError('unusable', `the schema ${schema} of ${name} is of another program (it has ${table}): ${cure}`)
}
