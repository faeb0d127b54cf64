/**
 * SQL that both SQLite and PostgreSQL understand, and what differs between them: names of tables, marks of values, and
 * whether an answer is waited for. Imports rows.
 *
 * A *reading* is a generator: it yields a query, gets its rows, and returns what they mean. SQLite runs it to its end in
 * one go, PostgreSQL in one transaction, so that all queries of a reading see the store at one moment.
 */
import type { SqlRow } from '../rows.js'

/** `?` stands for a value, `{tasks}` for the table of that name. */
export interface SqlQuery {
  readonly text: string
  readonly values: readonly SqlArgument[]
}

export type SqlArgument = string | number | null

export type Reading<T> = Generator<SqlQuery, T, readonly SqlRow[]>

/** A reading of one query. */
export function* readRows(text: string, values: readonly SqlArgument[] = []): Reading<readonly SqlRow[]> {
  return yield { text, values }
}

/** Where the rows come at once. */
export function readNow<T>(reading: Reading<T>, ask: (query: SqlQuery) => readonly SqlRow[]): T {
  let step = reading.next()
  while (step.done !== true) step = reading.next(ask(step.value))
  return step.value
}

/** Where the rows are waited for. */
export async function readLater<T>(
  reading: Reading<T>,
  ask: (query: SqlQuery) => Promise<readonly SqlRow[]>,
): Promise<T> {
  let step = reading.next()
  while (step.done !== true) step = reading.next(await ask(step.value))
  return step.value
}

/** The query as a store takes it: `table` names a table, `mark` the value at a position that counts from 1. */
export function writtenFor(
  { text }: SqlQuery,
  table: (name: string) => string,
  mark: (position: number) => string,
): string {
  let position = 0
  return text.replaceAll(/\{(\w+)\}|\?/g, (_, name?: string) => (name === undefined ? mark(++position) : table(name)))
}

/** A query and its values, with a limit at its end if there is one: what `readRows` takes. */
export function limited(
  text: string,
  { values }: { readonly values: readonly SqlArgument[] },
  limit: number | undefined,
): [text: string, values: readonly SqlArgument[]] {
  return limit === undefined ? [text, values] : [`${text} LIMIT ?`, [...values, limit]]
}

/** Conditions of a query and their values, in the order in which they are added. */
export class Conditions {
  readonly values: SqlArgument[] = []
  private readonly parts: string[] = []

  add(condition: string, ...values: readonly SqlArgument[]): this {
    this.parts.push(condition)
    this.values.push(...values)
    return this
  }

  /** Adds the condition if the value is given. */
  when(condition: string, value: SqlArgument | undefined): this {
    return value === undefined ? this : this.add(condition, value)
  }

  /** All of them as one condition; empty if there are none. */
  get all(): string {
    return this.parts.join(' AND ')
  }

  /** The clause, or nothing if there are no conditions. */
  get where(): string {
    return this.parts.length === 0 ? '' : `WHERE ${this.all}`
  }
}
