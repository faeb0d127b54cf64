/**
 * Where the attempts of items work: in the directory of the run, in directories of their own, or in working trees of its
 * repository. Imports Node, the library's types and the errors of files.
 */
import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { DurableContext, Json } from 'reprise/durable'
import { MERGE_CONFLICT } from '../state/merge-conflict.js'
import { stateErrorOf } from '../state/state-error.js'

/** An attempt of one item, or of a batch. */
export interface WorkRequest {
  readonly items: readonly { readonly id: string; readonly key: string }[]
  /** Of its first item. */
  readonly attempt: Pick<DurableContext, 'taskId' | 'generation' | 'attempt' | 'execution'>
  /** Aborted: the driver has recorded how it ended. */
  readonly signal: AbortSignal
}

export interface Workplace {
  /** The directory of its commands; that of the run when absent. */
  readonly cwd?: string
  /** Further variables of its commands. */
  readonly variables: Readonly<Record<string, string>>
}

/** What an attempt has done. */
export interface Done<T> {
  readonly value: T
  /** Ids of the items that succeeded. */
  readonly items: readonly string[]
  /** What these gave, by id. */
  readonly outcome: Readonly<Record<string, Json>>
}

/** An earlier execution was faster: what it did is where it belongs, and this one's work is not. */
export class MergedBeforeError extends Error {
  override readonly name = 'MergedBeforeError'
  /** What the earlier execution gave, by item. */
  readonly outcomes: ReadonlyMap<string, Json>

  constructor(outcomes: ReadonlyMap<string, Json>) {
    super('an earlier execution of the attempt has merged its work meanwhile')
    this.outcomes = outcomes
  }
}

/** Files that are named; the others are left out. */
export const MOST_NAMED = 5

/**
 * The work cannot be merged; it stays on its branch. It is not retried: the conflict is for people to see. When they redrive the
 * item, it is done again on what has been merged by then.
 */
export class MergeConflictError extends Error {
  override readonly name = MERGE_CONFLICT
  readonly retryable = false

  constructor(branch: string, files: readonly string[]) {
    const named = files.slice(0, MOST_NAMED).join(', ') + (files.length > MOST_NAMED ? ', …' : '')
    super(`merge conflict in ${named}: the work is kept on branch ${branch}`)
  }
}

export interface Workplaces {
  /** Whether what an attempt did counts only once `use` has resolved. */
  readonly needsMerge: boolean
  /** Of these items, those whose work is done by an execution that could not record it, with what they gave. */
  finished(request: WorkRequest): Promise<ReadonlyMap<string, Json>>
  /** Resolves when what the attempt did is where it belongs; rejects if the attempt failed or that cannot be. */
  use<T>(request: WorkRequest, act: (place: Workplace) => Promise<Done<T>>): Promise<T>
  /** All items have ended: what was done of them goes where the run goes on. `isComplete`: all have succeeded. */
  land(isComplete: boolean): Promise<void>
  /** Resolves when nothing is used any more. */
  close(): Promise<void>
}

const NOTHING: ReadonlyMap<string, Json> = new Map()

/** `isolation: none`: items share the directory of the run. */
export const SHARED_PLACE: Workplaces = {
  needsMerge: false,
  finished: () => Promise.resolve(NOTHING),
  use: async (_, act) => (await act({ variables: {} })).value,
  land: () => Promise.resolve(),
  close: () => Promise.resolve(),
}

/** `isolation: directory`: each execution of an attempt has an empty directory, which is kept if it fails. */
export class OwnDirectories implements Workplaces {
  readonly needsMerge = false
  private readonly directory: string
  private readonly cwd: string

  /** `directory`: where the files of the map are; `cwd`: the directory of the run. */
  constructor(directory: string, cwd: string) {
    this.directory = path.join(directory, 'directories')
    this.cwd = cwd
  }

  finished(): Promise<ReadonlyMap<string, Json>> {
    return Promise.resolve(NOTHING)
  }

  async use<T>({ attempt }: WorkRequest, act: (place: Workplace) => Promise<Done<T>>): Promise<T> {
    const { taskId, generation, attempt: number, execution } = attempt
    const own = path.join(this.directory, `${taskId}@${generation}.${number}.${execution}`)
    atFile(own, () => {
      // What a killed execution of the same number left.
      rmSync(own, { recursive: true, force: true })
      mkdirSync(own, { recursive: true, mode: 0o700 })
    })
    const { value } = await act({ cwd: own, variables: { REPRISE_RUN_DIRECTORY: this.cwd } })
    atFile(own, () => rmSync(own, { recursive: true, force: true }))
    return value
  }

  land(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

function atFile(file: string, act: () => void): void {
  try {
    act()
  } catch (error) {
    throw stateErrorOf(file, error)
  }
}
