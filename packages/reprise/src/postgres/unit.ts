/** A unit of work of the write queue: what is decided and written together, and who waits for it. Imports its own layer. */
import type { DueRequest, Keys } from '../ledger/ledger.js'
import { nameOf, type TaskKey } from '../ledger/records.js'
import type { Batch } from './batch.js'
import type { CachedRow } from './row-cache.js'
import type { KeySupply } from './task-keys.js'

/** Something to decide and to write. */
export interface Work<T> {
  readonly keys: Keys
  /** Its tasks are new, as far as is known. */
  readonly creates?: boolean
  /** Tasks that are due are found and locked, and given to `decide`. Such work goes by itself. */
  readonly due?: DueRequest
  /** Puts its changes into the batch. What it throws is thrown. */
  readonly decide: (batch: Batch, supply: KeySupply, due: readonly CachedRow[]) => T
  /** Of its tasks these were written, though others were not: it is going to be decided again. */
  readonly written?: (keys: readonly TaskKey[]) => void
}

/** Work, and who waits for it. */
export class Unit {
  readonly work: Work<unknown>
  readonly keys: Keys
  /** Of its tasks, in their order: they are looked up again and again. */
  readonly names: readonly string[]
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
  readonly sinceMs = performance.now()
  /** What was known turned out to be old. */
  mustLock: boolean
  /** It goes by itself, so that it fails alone. */
  isAlone: boolean
  /** A claim is decided before anything is written: it was tried the other way. */
  decidesFirst = false

  constructor(work: Work<unknown>, resolve: (value: never) => void, reject: (error: unknown) => void) {
    this.work = work
    this.keys = work.keys
    this.names = work.keys.tasks.map(nameOf)
    this.resolve = resolve
    this.reject = reject
    this.isAlone = work.due !== undefined
    this.mustLock = this.isAlone
  }
}
