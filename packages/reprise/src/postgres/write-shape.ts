/**
 * What a batch consists of, as rows of columns, and what the text of its statement depends on: which parts there are, and
 * which columns have one value in all rows. Imports nothing.
 */
export type ColumnType = 'int8' | 'float8' | 'text'
type Columns = Readonly<Record<string, ColumnType>>

export const TASK_STATE = {
  queue: 'text',
  generation: 'int8',
  status: 'text',
  claim_rank: 'int8',
  due_at: 'float8',
  owner: 'text',
  fence: 'int8',
  progress: 'text',
  policy_hash: 'text',
  result: 'text',
  stop_reason: 'text',
  updated_at: 'float8',
} as const satisfies Columns

export const RUN_STATE = {
  status: 'text',
  owner: 'text',
  fence: 'int8',
  resumes: 'int8',
  fingerprint: 'text',
  detail: 'text',
  updated_at: 'float8',
  ended_at: 'float8',
} as const satisfies Columns

/** What a batch may consist of, with the columns of each. */
export const PARTS = {
  made: {
    pk: 'int8',
    scope_kind: 'text',
    scope: 'text',
    id: 'text',
    payload_hash: 'text',
    input: 'text',
    tally: 'text',
    correlation_id: 'text',
    created_at: 'float8',
    ...TASK_STATE,
    attempts_kept: 'int8',
  },
  // Before `changed`, which writes them: a statement changes a row once.
  inputs: { task: 'int8', input: 'text' },
  changed: { pk: 'int8', version: 'int8', ...TASK_STATE, added: 'int8' },
  tried: {
    task: 'int8',
    generation: 'int8',
    attempt: 'int8',
    execution: 'int8',
    started_at: 'float8',
    ended_at: 'float8',
    outcome: 'text',
    delay_before: 'float8',
    failure: 'text',
    signature: 'text',
    owner: 'text',
  },
  dead: {
    task: 'int8',
    scope_kind: 'text',
    scope: 'text',
    id: 'text',
    generation: 'int8',
    at: 'float8',
    signature: 'text',
    stop_reason: 'text',
    failure: 'text',
    closed_at: 'float8',
    closed_by: 'text',
  },
  closed: {
    task: 'int8',
    scope_kind: 'text',
    scope: 'text',
    id: 'text',
    generation: 'int8',
    closed_at: 'float8',
    closed_by: 'text',
  },
  checkpoints: { task: 'int8', value: 'text' },
  policies: { hash: 'text', policy: 'text', kept_at: 'float8' },
  gates: { key: 'text', kind: 'text', state: 'text', settings: 'text', manual_revision: 'int8' },
  begun: {
    id: 'text',
    kind: 'text',
    name: 'text',
    correlation_id: 'text',
    created_at: 'float8',
    ...RUN_STATE,
    definition: 'text',
  },
  runs: { id: 'text', ...RUN_STATE, definition: 'text' },
  events: {
    type: 'text',
    scope_kind: 'text',
    scope: 'text',
    id: 'text',
    at: 'float8',
    correlation_id: 'text',
    detail: 'text',
  },
  // Last, since two more parameters follow: whose rows of tallies they are.
  tallied: { task: 'int8', tally: 'text', was: 'text', becomes: 'text' },
} as const satisfies Readonly<Record<string, Columns>>

export type PartName = keyof typeof PARTS
export type Part<N extends PartName> = { readonly [C in keyof (typeof PARTS)[N]]: ColumnValue }
export type Parts = { readonly [N in PartName]: readonly Part<N>[] }
type ColumnValue = number | string | null

const NAMES = Object.keys(PARTS) as PartName[]

/**
 * Columns in groups of which most batches have one value for all rows: a group that has is sent as values instead of arrays.
 * Groups are few and fixed, since every combination is a statement of its own, which connections prepare.
 */
const COMMON: { readonly [N in PartName]?: readonly (readonly (keyof (typeof PARTS)[N])[])[] } = {
  made: [
    [
      'scope_kind',
      'scope',
      'tally',
      'queue',
      'generation',
      'status',
      'claim_rank',
      'owner',
      'fence',
      'policy_hash',
      'result',
      'stop_reason',
      'attempts_kept',
    ],
    ['created_at', 'due_at', 'updated_at'],
  ],
  changed: [
    ['queue', 'generation', 'policy_hash', 'updated_at', 'added'],
    // Of a batch in which some tasks are over and others go on, these differ.
    ['status', 'claim_rank', 'due_at', 'owner', 'stop_reason'],
  ],
  tried: [
    ['generation', 'execution', 'outcome', 'delay_before', 'owner'],
    ['failure', 'signature'],
  ],
}

export type ColumnRow = Readonly<Record<string, ColumnValue>>

const NO_COLUMNS: ReadonlySet<string> = new Set()

/** What a statement consists of, and what its text depends on. */
export interface PartShape {
  readonly name: PartName
  readonly rows: readonly ColumnRow[]
  /** Groups of `COMMON` that are sent as values, as bits. */
  readonly mask: number
}

export interface WriteShape {
  readonly parts: readonly PartShape[]
  /** Values instead of arrays, where there is one row of each: taking arrays apart is half of what a small batch costs. */
  readonly single: boolean
}

export function shapeOf(parts: Parts): WriteShape {
  const present = NAMES.filter((name) => parts[name].length > 0)
  const single = present.every((name) => parts[name].length === 1)
  const shapes = present.map((name) => ({ name, rows: parts[name], mask: single ? 0 : maskOf(name, parts[name]) }))
  return { parts: shapes, single }
}

function maskOf(name: PartName, rows: readonly ColumnRow[]): number {
  const groups = (COMMON[name] ?? []) as readonly (readonly string[])[]
  return groups.reduce((mask, columns, index) => (haveSame(rows, columns) ? mask | (1 << index) : mask), 0)
}

function haveSame(rows: readonly ColumnRow[], columns: readonly string[]): boolean {
  const [first] = rows as [ColumnRow]
  // Loops, since there are a thousand rows with ten such columns in a batch.
  for (const column of columns) {
    const value = first[column]
    for (const row of rows) if (row[column] !== value) return false
  }
  return true
}

const COLUMNS_BY_MASK = new Map<string, ReadonlySet<string>>()

/** Columns of the part that are sent as values. */
export function commonColumns({ name, mask }: PartShape): ReadonlySet<string> {
  if (mask === 0) return NO_COLUMNS
  const key = `${name} ${mask}`
  let known = COLUMNS_BY_MASK.get(key)
  if (known === undefined) {
    const groups = (COMMON[name] ?? []) as readonly (readonly string[])[]
    known = new Set(groups.filter((_, index) => (mask >> index) & 1).flat())
    COLUMNS_BY_MASK.set(key, known)
  }
  return known
}

const COLUMNS = new Map(NAMES.map((name) => [name, Object.entries<ColumnType>(PARTS[name])]))

export function columnsOf(name: PartName): readonly (readonly [string, ColumnType])[] {
  return COLUMNS.get(name) ?? []
}
