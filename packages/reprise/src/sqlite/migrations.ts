/**
 * The schema, as numbered steps that only go forward. A step that has been released is never changed: another one
 * follows. Two migrators at once are safe, since each step runs in a transaction that locks first and looks again.
 * Imports its own layer.
 */
import { LedgerError, unreleased } from '../ledger/errors.js'
import type { SqliteDatabase } from './driver.js'

export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE policies (
    hash TEXT PRIMARY KEY,
    policy TEXT NOT NULL,
    tasks INTEGER NOT NULL,
    kept_at REAL NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE tasks (
    pk INTEGER PRIMARY KEY,
    -- 'task': scope is the name that a program registered. 'run': scope is the id of a run, and the task is a step.
    scope_kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    queue TEXT NOT NULL,
    generation INTEGER NOT NULL,
    status TEXT NOT NULL,
    -- 0: interrupted, 1: a retry, 2: fresh. In this order they are claimed.
    claim_rank INTEGER NOT NULL DEFAULT 2,
    due_at REAL,
    owner TEXT,
    fence INTEGER NOT NULL,
    progress TEXT NOT NULL,
    policy_hash TEXT NOT NULL,
    payload_hash TEXT NOT NULL,
    input TEXT NOT NULL,
    result TEXT,
    stop_reason TEXT,
    -- The row of tallies that counts the task, if one does.
    tally TEXT,
    correlation_id TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    attempts_kept INTEGER NOT NULL DEFAULT 0,
    compacted_attempts INTEGER NOT NULL DEFAULT 0,
    compacted_until REAL,
    UNIQUE (scope_kind, scope, id)
  ) STRICT;
  CREATE INDEX tasks_due ON tasks (queue, policy_hash, claim_rank, due_at, id) WHERE status = 'waiting';
  CREATE INDEX tasks_owned ON tasks (owner, queue) WHERE owner IS NOT NULL;
  CREATE INDEX tasks_undecided ON tasks (scope_kind, scope, id) WHERE status = 'undecided';
  CREATE INDEX tasks_finished ON tasks (status, updated_at) WHERE status IN ('succeeded', 'failed', 'cancelled');
  CREATE INDEX tasks_history ON tasks (attempts_kept) WHERE attempts_kept >= 10;

  CREATE TABLE attempts (
    task INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    execution INTEGER NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL NOT NULL,
    outcome TEXT NOT NULL,
    delay_before REAL NOT NULL,
    failure TEXT,
    signature TEXT,
    owner TEXT NOT NULL,
    PRIMARY KEY (task, generation, attempt, execution)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX attempts_failed ON attempts (signature, task, ended_at) WHERE signature IS NOT NULL;

  -- How far a task that has not ended has come, as its program says.
  CREATE TABLE checkpoints (
    task INTEGER PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT;

  CREATE TABLE gates (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    settings TEXT,
    manual_revision INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;

  -- How many tasks that name a tally are of which class.
  CREATE TABLE tallies (
    name TEXT PRIMARY KEY,
    fresh INTEGER NOT NULL,
    retrying INTEGER NOT NULL,
    undecided INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    cancelled INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE owners (
    id TEXT PRIMARY KEY,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE dead (
    scope_kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    at REAL NOT NULL,
    signature TEXT NOT NULL,
    stop_reason TEXT NOT NULL,
    failure TEXT,
    closed_at REAL,
    closed_by TEXT,
    PRIMARY KEY (scope_kind, scope, id, generation)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX dead_at ON dead (at, scope_kind, scope, id, generation);

  CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    scope_kind TEXT NOT NULL,
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    at REAL NOT NULL,
    correlation_id TEXT NOT NULL,
    detail TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_task ON events (scope_kind, scope, id);

  CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    owner TEXT,
    fence INTEGER NOT NULL,
    resumes INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    detail TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    ended_at REAL,
    definition TEXT NOT NULL
  ) STRICT;
  CREATE INDEX runs_begun ON runs (created_at);
  CREATE INDEX runs_named ON runs (name, created_at);
  `,
]

export const SCHEMA_VERSION = MIGRATIONS.length

export function schemaVersion(database: SqliteDatabase): number {
  const row = database.prepare('PRAGMA user_version').get() as { user_version: number }
  return row.user_version
}

/** For readers, which change nothing: the schema must be the one that this program knows. */
export function expectCurrent(database: SqliteDatabase, name: string): void {
  expectOurs(database, name)
  expectKnown(database, name)
  const version = schemaVersion(database)
  if (version === SCHEMA_VERSION) return
  const message = `${name} has schema ${version}, and this program reads ${SCHEMA_VERSION}: run \`reprise store migrate\` first`
  throw new LedgerError('unusable', message)
}

/** Refuses a schema that a newer version wrote. */
export function expectKnown(database: SqliteDatabase, name: string): void {
  const version = schemaVersion(database)
  if (version > SCHEMA_VERSION) throw newerFormat(name, version)
}

function newerFormat(name: string, version: number, known = SCHEMA_VERSION): LedgerError {
  const versions = `version ${version}, and this program knows ${known}`
  return new LedgerError('newer_format', `${name} was written by a newer Reprise (${versions}): update this program`)
}

/**
 * Refuses a schema that a newer or an unreleased version of the library wrote. Throws what SQLite throws if somebody else
 * is writing. `steps` is an argument for tests.
 */
export function migrate(database: SqliteDatabase, name: string, steps = MIGRATIONS): void {
  expectReleased(database, name)
  if (schemaVersion(database) === steps.length && isOurs(database)) return
  database.exec('BEGIN IMMEDIATE')
  try {
    // Somebody else may have been faster.
    const version = isOurs(database) ? schemaVersion(database) : 0
    if (version > steps.length) throw newerFormat(name, version, steps.length)
    if (version === 0) expectEmpty(database, name)
    for (const step of steps.slice(version)) database.exec(step)
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    database.exec(`PRAGMA user_version = ${steps.length}`)
    database.exec('COMMIT')
  } catch (error) {
    rollBack(database)
    throw error
  }
}

/** `REPR`: what the file is, for whoever finds it. */
export const APPLICATION_ID = 0x52_45_50_52

function isOurs(database: SqliteDatabase): boolean {
  const { application_id: id } = database.prepare('PRAGMA application_id').get() as { application_id: number }
  return id === APPLICATION_ID
}

/** For readers: a file with nothing in it may become a ledger. */
export function expectOurs(database: SqliteDatabase, name: string): void {
  if (isOurs(database)) expectReleased(database, name)
  else expectEmpty(database, name)
}

/** Before the first release, tables were keyed by `run`, and versions were counted from 1 as well. */
function expectReleased(database: SqliteDatabase, name: string): void {
  if (!isOurs(database)) return
  const columns = database.prepare('PRAGMA table_info(tasks)').all() as { name: string }[]
  if (columns.some((column) => column.name === 'run')) throw unreleased(name, 'take a new file')
}

/** Another program's tables stay its own. */
function expectEmpty(database: SqliteDatabase, name: string): void {
  const row = database.prepare('SELECT name FROM sqlite_schema LIMIT 1').get() as { name: string } | undefined
  if (row === undefined) return
  const cure = 'give the ledger a file of its own'
  throw new LedgerError('unusable', `${name} is the database of another program (it has ${row.name}): ${cure}`)
}

/** After some errors SQLite has done so itself. */
function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // What went wrong first is what is told.
  }
}
