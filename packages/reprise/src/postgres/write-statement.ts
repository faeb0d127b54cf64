/**
 * The one statement that writes a batch: tasks that are new, tasks that changed, and all that goes with them. Its text
 * depends on which of these there are; the values are one array per column, or one value where all rows have the same.
 * Imports its own layer.
 *
 * Invariants: nothing is written unless it is the connection's turn (see `writers` in the schema), so that a statement
 * which arrives late, after its outcome was looked up, does nothing. A task is changed only if it is as it was read, and
 * what goes with a task is written only if the task was.
 */
import { float8Array, int8Array, textArray } from './binary.js'
import type { Statement } from './connections.js'
import { CLOCK, NOW } from './connections.js'
import { TASK_CLASSES } from '../ledger/tally.js'
import {
  type ColumnRow,
  columnsOf,
  type ColumnType,
  commonColumns,
  type PartName,
  PARTS,
  RUN_STATE,
  TASK_STATE,
  type WriteShape,
} from './write-shape.js'
import type { Turn } from './writers.js'

/** `sure`: within a transaction that has locked what it read. What is not as expected then is an error. */
export function writeStatement(schema: string, shape: WriteShape, sure: boolean): Statement {
  const { parts, single } = shape
  const key = `${schema} ${sure} ${single} ${parts.map(({ name, mask }) => `${name}${mask}`).join()}`
  let known = KNOWN.get(key)
  if (known === undefined) {
    known = { name: `reprise_write_${KNOWN.size}`, text: textOf(schema, shape, sure) }
    KNOWN.set(key, known)
  }
  return known
}

const KNOWN = new Map<string, Statement>()

/** Whose rows of tallies a statement adds to. */
export interface TallyPlace {
  readonly owner: string
  /** Of the owner: no two statements of the same lane are under way at once. */
  readonly lane: number
}

/**
 * In the order of the text: the writer, its decision, how many tasks and runs are expected, then column by column, then
 * the place of tallies if there are any.
 */
export function writeValues(
  { writer, decision }: Turn,
  { parts, single }: WriteShape,
  { owner, lane }: TallyPlace,
): unknown[] {
  const countIn = (part: PartName): number => parts.find(({ name }) => name === part)?.rows.length ?? 0
  const values: unknown[] = [writer, decision, countIn('made'), countIn('changed'), countIn('begun')]
  for (const shape of parts) {
    const { name, rows } = shape
    const common = commonColumns(shape)
    const [first] = rows as [ColumnRow]
    for (const [column, type] of columnsOf(name)) {
      values.push(
        single || common.has(column) ? first[column] : ENCODERS[type](rows.map((row) => row[column] as never)),
      )
    }
  }
  if (countIn('tallied') > 0) values.push(owner, lane)
  return values
}

const ENCODERS: Readonly<Record<ColumnType, (values: readonly never[]) => Buffer>> = {
  int8: int8Array,
  float8: float8Array,
  text: textArray,
}

/** Of the writer, in `writers`: nobody has closed its row, and the statement before this one has arrived. */
export const IS_TURN = 'id = $1 AND decision = $2 - 1 AND NOT closed'
const FIRST_COLUMN = 6

function textOf(schema: string, { parts, single }: WriteShape, sure: boolean): string {
  const present = new Set(parts.map(({ name }) => name))
  const has = (name: PartName): boolean => present.has(name)
  const ctes = [`turn AS MATERIALIZED (SELECT 1 FROM ${schema}.writers WHERE ${IS_TURN} FOR UPDATE)`]
  let next = FIRST_COLUMN
  for (const shape of parts) {
    const common = commonColumns(shape)
    const columns = columnsOf(shape.name).map(([column, type]) => ({ column, type, value: `$${next++}::${type}` }))
    const arrays = columns.filter(({ column }) => single || !common.has(column))
    const list = arrays.map(({ column }) => column).join(', ')
    const rows = single
      ? `(SELECT ${arrays.map(({ value }) => value).join(', ')}, 1)`
      : `unnest(${arrays.map(({ value }) => `${value}[]`).join(', ')}) WITH ORDINALITY`
    const values = columns
      .filter(({ column }) => common.has(column))
      .map(({ column, value }) => `, ${value} AS ${column}`)
    ctes.push(`given_${shape.name} AS (SELECT u.*${values.join('')} FROM turn, ${rows} AS u(${list}, nth))`)
    ctes.push(...WRITES[shape.name](schema, has))
  }
  if (has('tallied')) ctes.push(addToTallies(schema, has, next))
  ctes.push(`noted AS (UPDATE ${schema}.writers SET decision = $2, since = ${CLOCK}, made = ${missed('made', '$3', has)},
    changed = ${missed('changed', '$4', has)} FROM turn WHERE id = $1 RETURNING decision, made, changed)`)
  const answer = sure ? `${certainty(has)} AS done` : 'decision, made, changed, $5::int8 AS begun FROM noted'
  return `WITH ${ctes.join(',\n')}\nSELECT ${NOW}, ${answer}`
}

const countOf = (name: PartName, has: (name: PartName) => boolean): string =>
  has(name) ? `(SELECT count(*) FROM ${name})` : '0'

/** All of it, or an error that undoes the transaction. */
function certainty(has: (name: PartName) => boolean): string {
  const asExpected = [
    '(SELECT count(*) FROM turn) = 1',
    `${countOf('made', has)} = $3::int8`,
    `${countOf('changed', has)} = $4::int8`,
    `${countOf('begun', has)} = $5::int8`,
  ]
  return `1 / (CASE WHEN ${asExpected.join(' AND ')} THEN 1 ELSE 0 END)`
}

/** Which tasks were written, where it was not all of them. */
function missed(name: 'made' | 'changed', count: string, has: (name: PartName) => boolean): string {
  if (!has(name)) return `CASE WHEN ${count}::int8 < 0 THEN ARRAY[]::int8[] END`
  return `CASE WHEN (SELECT count(*) FROM ${name}) <> ${count}::int8 THEN ARRAY(SELECT pk FROM ${name}) END`
}

const TASK_COLUMNS = Object.keys(TASK_STATE)
const RUN_COLUMNS = Object.keys(RUN_STATE)

/** What goes with a task is written if it was. `IS TRUE` makes it a look into a hash table, which no join would be here. */
const written = (has: (name: PartName) => boolean): string => {
  const sources = (['made', 'changed'] as const).filter(has).map((name) => `SELECT pk FROM ${name}`)
  const all = sources.length === 0 ? 'SELECT NULL::int8' : sources.join(' UNION ALL ')
  return `WHERE (task IN (${all})) IS TRUE`
}

/** Of the tasks that were written. `owner`: the number of the first of the two parameters. */
function addToTallies(schema: string, has: (name: PartName) => boolean, owner: number): string {
  const deltas = TASK_CLASSES.map(
    (name) => `count(*) FILTER (WHERE becomes = '${name}') - count(*) FILTER (WHERE was = '${name}')`,
  )
  const sets = TASK_CLASSES.map((name) => `${name} = t.${name} + excluded.${name}`).join(', ')
  return `tallied AS (INSERT INTO ${schema}.tallies AS t (name, owner, lane, ${TASK_CLASSES.join(', ')})
    SELECT tally, $${owner}::text, $${owner + 1}::int4, ${deltas.join(', ')} FROM given_tallied ${written(has)}
    GROUP BY tally ORDER BY tally ON CONFLICT (name, owner, lane) DO UPDATE SET ${sets})`
}

const LETTER_KEY = ['scope_kind', 'scope', 'id', 'generation']

type Write = (schema: string, has: (name: PartName) => boolean) => string[]

const WRITES: Readonly<Record<PartName, Write>> = {
  // Written at the end, with parameters of its own.
  tallied: () => [],
  made: (schema) => {
    const columns = Object.keys(PARTS.made).join(', ')
    return [
      `made AS (INSERT INTO ${schema}.tasks (${columns}) SELECT ${columns} FROM given_made ORDER BY nth
        ON CONFLICT (scope_kind, scope, id) DO NOTHING RETURNING pk)`,
    ]
  },
  inputs: () => [],
  changed: (schema, has) => {
    const replaced = '(SELECT i.input FROM given_inputs i WHERE i.task = t.pk)'
    const input = has('inputs') ? [`input = coalesce(${replaced}, t.input)`] : []
    const sets = [...TASK_COLUMNS.map((column) => `${column} = g.${column}`), ...input].join(', ')
    return [
      `changed AS (UPDATE ${schema}.tasks t SET version = t.version + 1, ${sets},
        attempts_kept = t.attempts_kept + g.added FROM given_changed g WHERE t.pk = g.pk AND t.version = g.version
        RETURNING t.pk)`,
    ]
  },
  tried: (schema, has) => {
    const columns = Object.keys(PARTS.tried).join(', ')
    return [`tried AS (INSERT INTO ${schema}.attempts (${columns}) SELECT ${columns} FROM given_tried ${written(has)})`]
  },
  dead: (schema, has) => {
    const { task: _task, ...kept } = PARTS.dead
    const columns = Object.keys(kept).join(', ')
    const again = Object.keys(kept).filter((column) => !LETTER_KEY.includes(column))
    const sets = again.map((column) => `${column} = excluded.${column}`).join(', ')
    return [
      `dead AS (INSERT INTO ${schema}.dead (${columns}) SELECT ${columns} FROM given_dead ${written(has)}
        ON CONFLICT (${LETTER_KEY.join(', ')}) DO UPDATE SET ${sets})`,
    ]
  },
  closed: (schema, has) => {
    const same = LETTER_KEY.map((column) => `d.${column} = g.${column}`).join(' AND ')
    return [
      `closed AS (UPDATE ${schema}.dead d SET closed_at = g.closed_at, closed_by = g.closed_by
        FROM (SELECT * FROM given_closed ${written(has)}) g WHERE ${same} AND d.closed_at IS NULL)`,
    ]
  },
  checkpoints: (schema, has) => [
    `checkpoints AS (INSERT INTO ${schema}.checkpoints (task, value) SELECT task, value FROM given_checkpoints
      ${written(has)} AND value IS NOT NULL ORDER BY task ON CONFLICT (task) DO UPDATE SET value = excluded.value)`,
    `unchecked AS (DELETE FROM ${schema}.checkpoints WHERE task IN (SELECT task FROM given_checkpoints
      ${written(has)} AND value IS NULL))`,
  ],
  policies: (schema) => [
    `policies AS (INSERT INTO ${schema}.policies (hash, policy, kept_at) SELECT hash, policy, kept_at FROM given_policies
      ORDER BY hash ON CONFLICT (hash) DO UPDATE SET kept_at = excluded.kept_at)`,
  ],
  gates: (schema) => [
    `gates AS (UPDATE ${schema}.gates t SET kind = g.kind, state = g.state, settings = g.settings,
      manual_revision = g.manual_revision FROM given_gates g WHERE t.key = g.key)`,
  ],
  begun: (schema) => {
    const columns = Object.keys(PARTS.begun).join(', ')
    return [
      `begun AS (INSERT INTO ${schema}.runs (${columns}) SELECT ${columns} FROM given_begun ORDER BY nth
        ON CONFLICT (id) DO NOTHING RETURNING id)`,
    ]
  },
  runs: (schema) => {
    const sets = RUN_COLUMNS.map((column) => `${column} = g.${column}`).join(', ')
    return [
      `runs AS (UPDATE ${schema}.runs t SET ${sets}, definition = coalesce(g.definition, t.definition)
        FROM given_runs g WHERE t.id = g.id)`,
    ]
  },
  events: (schema) => {
    const columns = Object.keys(PARTS.events).join(', ')
    return [
      `numbers AS (UPDATE ${schema}.event_numbers SET last = last + (SELECT count(*) FROM given_events) RETURNING last)`,
      `events AS (INSERT INTO ${schema}.events (seq, ${columns})
        SELECT last - (SELECT count(*) FROM given_events) + nth, ${columns} FROM given_events, numbers)`,
    ]
  },
}
