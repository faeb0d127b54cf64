/**
 * The schema, as numbered steps that only go forward. A step that has been released is never changed: another one
 * follows. Two migrators at once are safe, since each step runs in a transaction that locks first and looks again.
 * Imports its own layer.
 */
import { LedgerError } from '../ledger/errors.js'
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
    run TEXT NOT NULL,
    id TEXT NOT NULL,
    queue TEXT NOT NULL,
    generation INTEGER NOT NULL,
    status TEXT NOT NULL,
    due_at REAL,
    owner TEXT,
    fence INTEGER NOT NULL,
    progress TEXT NOT NULL,
    policy_hash TEXT NOT NULL,
    payload_hash TEXT NOT NULL,
    input TEXT NOT NULL,
    result TEXT,
    stop_reason TEXT,
    correlation_id TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    attempts_kept INTEGER NOT NULL DEFAULT 0,
    compacted_attempts INTEGER NOT NULL DEFAULT 0,
    compacted_until REAL,
    UNIQUE (run, id)
  ) STRICT;
  CREATE INDEX tasks_due ON tasks (queue, policy_hash, due_at) WHERE status = 'waiting';
  CREATE INDEX tasks_owned ON tasks (owner) WHERE owner IS NOT NULL;
  CREATE INDEX tasks_undecided ON tasks (run, id) WHERE status = 'undecided';
  CREATE INDEX tasks_finished ON tasks (status, updated_at) WHERE status IN ('succeeded', 'failed', 'cancelled');
  CREATE INDEX tasks_history ON tasks (attempts_kept) WHERE attempts_kept >= 10;

  CREATE TABLE attempts (
    task INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    number INTEGER NOT NULL,
    execution INTEGER NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL NOT NULL,
    outcome TEXT NOT NULL,
    delay_before REAL NOT NULL,
    failure TEXT,
    signature TEXT,
    owner TEXT NOT NULL,
    PRIMARY KEY (task, generation, number, execution)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX attempts_failed ON attempts (signature, task, ended_at) WHERE signature IS NOT NULL;

  CREATE TABLE gates (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    state TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE owners (
    id TEXT PRIMARY KEY,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE dead (
    run TEXT NOT NULL,
    id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    at REAL NOT NULL,
    signature TEXT NOT NULL,
    stop_reason TEXT NOT NULL,
    failure TEXT,
    PRIMARY KEY (run, id, generation)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    run TEXT NOT NULL,
    id TEXT NOT NULL,
    at REAL NOT NULL,
    correlation_id TEXT NOT NULL,
    detail TEXT NOT NULL
  ) STRICT;
  CREATE INDEX events_task ON events (run, id);
  `,
  `
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
  `,
  `
  ALTER TABLE gates ADD COLUMN settings TEXT;
  ALTER TABLE gates ADD COLUMN decree INTEGER NOT NULL DEFAULT 0;
  `,
  'CREATE INDEX runs_named ON runs (name, created_at)',
]

export const SCHEMA_VERSION = MIGRATIONS.length

export function schemaVersion(database: SqliteDatabase): number {
  const row = database.prepare('PRAGMA user_version').get() as { user_version: number }
  return row.user_version
}

/** For readers, which change nothing: the schema must be the one that this program knows. */
export function expectCurrent(database: SqliteDatabase, name: string): void {
  expectOurs(database, name)
  const version = schemaVersion(database)
  if (version > SCHEMA_VERSION) throw newerFormat(name, version)
  if (version === SCHEMA_VERSION) return
  const message = `${name} has schema ${version}, and this program reads ${SCHEMA_VERSION}: run \`reprise store migrate\` first`
  throw new LedgerError('unusable', message)
}

function newerFormat(name: string, version: number): LedgerError {
  const versions = `version ${version}, and this program knows ${SCHEMA_VERSION}`
  return new LedgerError('newer_format', `${name} was written by a newer Reprise (${versions}): update this program`)
}

/** Refuses a schema that a newer version of the library wrote. Throws what SQLite throws if somebody else is writing. */
export function migrate(database: SqliteDatabase, name: string): void {
  if (schemaVersion(database) === SCHEMA_VERSION && isOurs(database)) return
  database.exec('BEGIN IMMEDIATE')
  try {
    // Somebody else may have been faster.
    const version = isOurs(database) ? schemaVersion(database) : 0
    if (version > SCHEMA_VERSION) throw newerFormat(name, version)
    if (version === 0) expectEmpty(database, name)
    for (const step of MIGRATIONS.slice(version)) database.exec(step)
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
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

/** For who only looks: a file with nothing in it may become a ledger. */
export function expectOurs(database: SqliteDatabase, name: string): void {
  if (!isOurs(database)) expectEmpty(database, name)
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
