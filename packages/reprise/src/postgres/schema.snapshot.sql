CREATE TABLE attempts (
  task bigint NOT NULL,
  generation integer NOT NULL,
  attempt integer NOT NULL,
  execution integer NOT NULL,
  started_at double precision NOT NULL,
  ended_at double precision NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  delay_before double precision NOT NULL,
  failure text,
  signature text COLLATE "C",
  owner text COLLATE "C" NOT NULL,
  CONSTRAINT attempts_pkey PRIMARY KEY (task, generation, attempt, execution)
);

CREATE TABLE checkpoints (
  task bigint NOT NULL,
  value text NOT NULL,
  CONSTRAINT checkpoints_pkey PRIMARY KEY (task)
);

CREATE TABLE dead (
  scope_kind text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  generation integer NOT NULL,
  at double precision NOT NULL,
  signature text COLLATE "C" NOT NULL,
  stop_reason text COLLATE "C" NOT NULL,
  failure text,
  closed_at double precision,
  closed_by text COLLATE "C",
  CONSTRAINT dead_pkey PRIMARY KEY (scope_kind, scope, id, generation)
);

CREATE TABLE event_numbers (
  one boolean NOT NULL,
  last bigint NOT NULL,
  CONSTRAINT event_numbers_one_check CHECK (one),
  CONSTRAINT event_numbers_pkey PRIMARY KEY (one)
);

CREATE TABLE events (
  seq bigint NOT NULL,
  type text COLLATE "C" NOT NULL,
  scope_kind text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  at double precision NOT NULL,
  correlation_id text COLLATE "C" NOT NULL,
  detail text NOT NULL,
  CONSTRAINT events_pkey PRIMARY KEY (seq)
);

CREATE TABLE gates (
  key text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  state text,
  settings text,
  manual_revision integer NOT NULL DEFAULT 0,
  CONSTRAINT gates_pkey PRIMARY KEY (key)
);

CREATE TABLE meta (
  one boolean NOT NULL,
  version integer NOT NULL,
  CONSTRAINT meta_one_check CHECK (one),
  CONSTRAINT meta_pkey PRIMARY KEY (one)
);

CREATE TABLE owners (
  id text COLLATE "C" NOT NULL,
  record text NOT NULL,
  CONSTRAINT owners_pkey PRIMARY KEY (id)
);

CREATE TABLE policies (
  hash text COLLATE "C" NOT NULL,
  policy text NOT NULL,
  kept_at double precision NOT NULL,
  CONSTRAINT policies_pkey PRIMARY KEY (hash)
);

CREATE TABLE runs (
  id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  name text NOT NULL,
  status text COLLATE "C" NOT NULL,
  owner text COLLATE "C",
  fence bigint NOT NULL,
  resumes integer NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  detail text NOT NULL,
  correlation_id text COLLATE "C" NOT NULL,
  created_at double precision NOT NULL,
  updated_at double precision NOT NULL,
  ended_at double precision,
  definition text NOT NULL,
  CONSTRAINT runs_pkey PRIMARY KEY (id)
);

CREATE TABLE tallies (
  name text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL DEFAULT ''::text,
  lane integer NOT NULL DEFAULT 0,
  fresh bigint NOT NULL,
  retrying bigint NOT NULL,
  undecided bigint NOT NULL,
  succeeded bigint NOT NULL,
  failed bigint NOT NULL,
  cancelled bigint NOT NULL,
  CONSTRAINT tallies_pkey PRIMARY KEY (name, owner, lane)
) WITH {fillfactor=50};

CREATE TABLE tasks (
  pk bigint NOT NULL,
  version bigint NOT NULL DEFAULT 1,
  scope_kind text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  queue text COLLATE "C" NOT NULL,
  generation integer NOT NULL,
  status text COLLATE "C" NOT NULL,
  claim_rank smallint NOT NULL DEFAULT 2,
  due_at double precision,
  owner text COLLATE "C",
  fence bigint NOT NULL,
  progress text NOT NULL,
  policy_hash text COLLATE "C" NOT NULL,
  payload_hash text COLLATE "C" NOT NULL,
  input text NOT NULL,
  result text,
  stop_reason text COLLATE "C",
  tally text COLLATE "C",
  correlation_id text COLLATE "C" NOT NULL,
  created_at double precision NOT NULL,
  updated_at double precision NOT NULL,
  attempts_kept integer NOT NULL DEFAULT 0,
  compacted_attempts integer NOT NULL DEFAULT 0,
  compacted_until double precision,
  CONSTRAINT tasks_pkey PRIMARY KEY (pk),
  CONSTRAINT tasks_scope_kind_scope_id_key UNIQUE (scope_kind, scope, id)
);

CREATE TABLE writers (
  id text COLLATE "C" NOT NULL,
  decision bigint NOT NULL,
  made bigint[],
  changed bigint[],
  closed boolean NOT NULL DEFAULT false,
  since double precision NOT NULL,
  CONSTRAINT writers_pkey PRIMARY KEY (id)
) WITH {fillfactor=50};

CREATE INDEX attempts_failed ON attempts USING btree (signature, task, ended_at) WHERE (signature IS NOT NULL);
CREATE UNIQUE INDEX attempts_pkey ON attempts USING btree (task, generation, attempt, execution);
CREATE UNIQUE INDEX checkpoints_pkey ON checkpoints USING btree (task);
CREATE INDEX dead_at ON dead USING btree (at, scope_kind, scope, id, generation);
CREATE UNIQUE INDEX dead_pkey ON dead USING btree (scope_kind, scope, id, generation);
CREATE UNIQUE INDEX event_numbers_pkey ON event_numbers USING btree (one);
CREATE UNIQUE INDEX events_pkey ON events USING btree (seq);
CREATE INDEX events_scope ON events USING btree (scope_kind, scope, seq);
CREATE INDEX events_task ON events USING btree (scope_kind, scope, id, seq);
CREATE UNIQUE INDEX gates_pkey ON gates USING btree (key);
CREATE UNIQUE INDEX meta_pkey ON meta USING btree (one);
CREATE UNIQUE INDEX owners_pkey ON owners USING btree (id);
CREATE UNIQUE INDEX policies_pkey ON policies USING btree (hash);
CREATE INDEX runs_begun ON runs USING btree (created_at);
CREATE INDEX runs_named ON runs USING btree (name, created_at);
CREATE UNIQUE INDEX runs_pkey ON runs USING btree (id);
CREATE INDEX tallies_owned ON tallies USING btree (owner) WHERE (owner <> ''::text);
CREATE UNIQUE INDEX tallies_pkey ON tallies USING btree (name, owner, lane);
CREATE INDEX tasks_due ON tasks USING btree (queue, policy_hash, claim_rank, due_at, id) WHERE (status = 'waiting'::text);
CREATE INDEX tasks_finished ON tasks USING btree (status, updated_at) WHERE (status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text]));
CREATE INDEX tasks_history ON tasks USING btree (attempts_kept) WHERE (attempts_kept >= 10);
CREATE INDEX tasks_owned ON tasks USING btree (owner, queue) WHERE (owner IS NOT NULL);
CREATE UNIQUE INDEX tasks_pkey ON tasks USING btree (pk);
CREATE UNIQUE INDEX tasks_scope_kind_scope_id_key ON tasks USING btree (scope_kind, scope, id);
CREATE INDEX tasks_undecided ON tasks USING btree (scope_kind, scope, id) WHERE (status = 'undecided'::text);
CREATE UNIQUE INDEX writers_pkey ON writers USING btree (id);

CREATE SEQUENCE task_keys; -- {"start_value":"1000","increment_by":"1000","min_value":"0","max_value":"9223372036854775807","cache_size":"1","cycle":false}
