/** How the maps of a run are conducted by one process, beside what the document says. Imports types of its own layer. */
import type { PartChoice } from './part-choice.js'
import type { ItemRedrive } from './redrive-items.js'

/** How the maps of a run are conducted this time. */
export interface MapSettings {
  /** Only these items run; the others wait for a resume. */
  readonly part?: PartChoice
  /** What `input: {stdin: true}` reads; absent where there is none any more, as at a resume. */
  readonly stdin?: () => AsyncIterable<Uint8Array>
  /** A line for each attempt goes to this file. */
  readonly jobLog?: string
  /** Takes the map from a process that still holds its lease. */
  readonly force?: boolean
  /** In place of `max_failures` of the document, from now on. */
  readonly maxFailures?: number
  /** In place of `max_parallel` of the document, from now on. */
  readonly maxParallel?: number
  /** Items that failed for good or were cancelled are granted a fresh set of attempts. */
  readonly resetRetries?: boolean
  /** Items that failed for good and run again. */
  readonly redrive?: ItemRedrive
}
