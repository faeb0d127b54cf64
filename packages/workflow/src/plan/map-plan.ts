/**
 * What a map means: the same steps for every item of an input, with everything filled in. Plain data. Imports the types
 * of steps.
 */
import type { PolicyInput } from 'reprise'
import type { Json } from 'reprise/durable'
import type { InterruptAction, RunAction, ShellAction, StepPlan } from './plan.js'

/** Of one map. Positions have seven digits in the ids of items. */
export const MAX_ITEMS = 10_000_000

/** Items of one attempt: their ends are one commit, and every claim reads the records of all that run. */
export const MAX_BATCH = 1000

/** One map of a plan: a phase beside the steps. */
export interface MapPlan {
  /** The kind of phase. */
  readonly kind: 'map'
  /** Unique among the phases, and fit for a file name; `map` under `mode: mapreduce`. */
  readonly id: string
  /** For people. */
  readonly name: string
  /** CEL; the map is skipped when it is false. */
  readonly when: string | null
  /** Whether the run continues after a map that was stopped. */
  readonly onFailure: 'stop' | 'continue'
  /** Where the items come from. */
  readonly input: MapInput
  /** Which of them are processed, and in which order. */
  readonly selection: ItemSelection
  /** At most this many items run at a time, over all processes. */
  readonly maxParallel: number
  /** At most this many items start in a time, over all processes; null for no limit. */
  readonly rate: MapRate | null
  /** At most this many items are handed to one attempt. */
  readonly batch: number
  /** Where attempts work: all in the directory of the run, or each in a directory or working tree of its own. */
  readonly isolation: 'none' | 'directory' | 'worktree'
  /** How an item is retried: `item_retry`, with `agent_timeout` as its `attemptTimeout`. One attempt when nothing is said. */
  readonly policy: PolicyInput
  /** What becomes of an item whose process was lost while it ran. */
  readonly onInterrupt: InterruptAction
  /** `step`: an interrupted attempt continues after its last finished step. */
  readonly checkpoint: 'none' | 'step'
  /** Of which item attempts the output is kept; `failures`: of items that failed or were retried. */
  readonly keepLogs: 'all' | 'failures' | 'none'
  /** What is done for each item, in order; ids are unique within the template. */
  readonly template: readonly StepPlan[]
  /** What is done once for an item that failed for good. */
  readonly onItemError: readonly StepPlan[]
  /** What failures of items mean for the map. */
  readonly errors: MapErrorPolicy
}

export const INPUT_FORMATS = ['json', 'ndjson', 'csv', 'tsv', 'lines'] as const

/** How an input is read. */
export type InputFormat = (typeof INPUT_FORMATS)[number]

const ENDINGS: Readonly<Record<string, InputFormat>> = {
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  csv: 'csv',
  tsv: 'tsv',
  txt: 'lines',
}

/** The format that the ending of a file's name says; undefined if it says none. */
export function formatOfName(file: string): InputFormat | undefined {
  const ending = /\.([a-z]+)$/i.exec(file)?.[1]?.toLowerCase()
  return ending === undefined || !Object.hasOwn(ENDINGS, ending) ? undefined : ENDINGS[ending]
}

/** Where items come from. */
export type MapInput =
  | FileInput
  | CommandInput
  | GlobInput
  | StdinInput
  | RangeInput
  | ProductInput
  | ListInput
  | ValueInput

interface FileInput {
  readonly kind: 'file'
  /** A template, from the document's directory. */
  readonly path: string
  /** Null: by the file's ending, else JSON with `json_path` and lines without. */
  readonly format: InputFormat | null
}

interface CommandInput {
  readonly kind: 'command'
  /** Its standard output is read. */
  readonly action: ShellAction | RunAction
  /** Null: JSON with `json_path` and lines without. */
  readonly format: InputFormat | null
}

interface GlobInput {
  readonly kind: 'glob'
  /** Templates; each matching path is an item, a text. */
  readonly patterns: readonly string[]
}

interface StdinInput {
  readonly kind: 'stdin'
  /** Null: JSON with `json_path` and lines without. */
  readonly format: InputFormat | null
}

/** Whole numbers, both ends included. */
interface RangeInput {
  readonly kind: 'range'
  /** The first. */
  readonly from: number
  /** None is greater. */
  readonly to: number
  /** From one to the next. */
  readonly step: number
}

interface ProductInput {
  readonly kind: 'product'
  /** Every combination: each item is a list with one element of each list. Strings within are templates. */
  readonly lists: readonly (readonly Json[])[]
}

interface ListInput {
  readonly kind: 'list'
  /** Strings within are templates. */
  readonly items: readonly Json[]
}

interface ValueInput {
  readonly kind: 'value'
  /** A template that is one reference, such as `${orders}`, to a list or, with `json_path`, to any value. */
  readonly reference: string
}

/** Applied in this order. */
export interface ItemSelection {
  /** RFC 9535; null: the elements of the document, which must be a list. */
  readonly jsonPath: string | null
  /** CEL over `item`; items for which it is false are left out. */
  readonly filter: string | null
  /** CEL over `item`; of several items with the same value the first is taken. */
  readonly distinct: string | null
  /** Each a CEL expression over `item` with its direction; empty: the order of the input. */
  readonly sortBy: readonly SortKey[]
  /** Items to leave out at the beginning. */
  readonly offset: number
  /** At most this many; null for no limit. */
  readonly maxItems: number | null
}

export interface SortKey {
  /** CEL over `item`. */
  readonly expression: string
  /** The greatest first. */
  readonly isDescending: boolean
}

/** `count` starts in each `perMs`. */
export interface MapRate {
  /** Starts in that time. */
  readonly count: number
  /** The time, in milliseconds. */
  readonly perMs: number
}

type Tolerance =
  | {
      /** Items. */
      readonly count: number
    }
  | {
      /** Of all items, from 0 to 1. */
      readonly share: number
    }

/** What failures of items mean for the map. */
export interface MapErrorPolicy {
  /** What becomes of an item that failed for good: a dead letter, nothing more, or the end of the map. */
  readonly onItemFailure: 'dlq' | 'skip' | 'stop'
  /** Failed items with which the run still counts as succeeded: a count, or a share of all items; null for none. */
  readonly tolerate: Tolerance | null
  /** This failed item stops the map; null for no limit. */
  readonly maxFailures: number | null
  /** The map stops when more than this share of at least ten ended items has failed; null for no limit. */
  readonly failureThreshold: number | null
  /** When the map stops: items that run may end, or are aborted. */
  readonly halt: 'soon' | 'now'
  /** Exit codes that stop the map at once. */
  readonly haltOn: readonly number[]
  /** Retries of all items together; null for no limit. */
  readonly maxRetries: number | null
  /** Retries of one item that `maxRetries` pays for; null for no limit. */
  readonly maxRetriesPerItem: number | null
}
