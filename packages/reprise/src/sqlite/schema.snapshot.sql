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

CREATE TABLE checkpoints (
    task INTEGER PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT;

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

CREATE TABLE gates (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    settings TEXT,
    manual_revision INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;

CREATE TABLE owners (
    id TEXT PRIMARY KEY,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

CREATE TABLE policies (
    hash TEXT PRIMARY KEY,
    policy TEXT NOT NULL,
    tasks INTEGER NOT NULL,
    kept_at REAL NOT NULL
  ) STRICT, WITHOUT ROWID;

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

CREATE TABLE sqlite_sequence(name,seq);

CREATE TABLE tallies (
    name TEXT PRIMARY KEY,
    fresh INTEGER NOT NULL,
    retrying INTEGER NOT NULL,
    undecided INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    cancelled INTEGER NOT NULL
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

CREATE INDEX tasks_finished ON tasks (status, updated_at) WHERE status IN ('succeeded', 'failed', 'cancelled');

CREATE INDEX tasks_history ON tasks (attempts_kept) WHERE attempts_kept >= 10;

CREATE INDEX tasks_owned ON tasks (owner, queue) WHERE owner IS NOT NULL;

CREATE INDEX tasks_undecided ON tasks (scope_kind, scope, id) WHERE status = 'undecided';
