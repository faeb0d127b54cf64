/**
 * What the readers of inputs hand on: a value with its place, before anything is selected. Imports types only.
 *
 * Invariant: a reader keeps no entries. It is handed a piece of text and yields the entries that end in it, so the memory
 * of an input is that of one piece and one entry.
 */
import type { Json } from 'reprise/durable'

export interface Entry {
  readonly value: Json
  /** From 0, in the input. */
  readonly position: number
  /** From 1; null if the input has no lines. */
  readonly line: number | null
}

/** Entries in groups, one after the other: the next group is asked for when the one before has been gone through. */
export type EntryStream = AsyncIterable<Iterable<Entry>>

/** Reads one format. */
export interface EntryReader {
  feed(text: string): Iterable<Entry>
  /** Once, when there is no more text. */
  end(): Iterable<Entry>
}

/** Where an entry is, for people: `items.csv:17`, or `the list [3]`. */
export function placeOf(source: string, { position, line }: Omit<Entry, 'value'>): string {
  return line === null ? `${source}[${position}]` : `${source}:${line}`
}
