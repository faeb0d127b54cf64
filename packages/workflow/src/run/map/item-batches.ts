/**
 * One attempt of a batch of items: the steps of the template run once for all of them, and say of each how it ended. What
 * becomes of each item is decided by the durable driver alone. Imports Node, the library, the plan, the state directory
 * and its own layer.
 *
 * Invariants: two attempts of an item never run at once, also where one was a part of a batch. The files of a batch are
 * gone when it has ended.
 */
import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import type { Json } from 'reprise/durable'
import type { BatchContext, BatchMember } from 'reprise/internal'
import type { MapPlan } from '../../plan/map-plan.js'
import type { BatchFiles, StateDirectory } from '../../state/state-directory.js'
import { StateError, stateErrorOf } from '../../state/state-error.js'
import type { StepPlace } from '../../state/step-place.js'
import type { AttemptContext, Performer, StepSite } from '../performer.js'
import type { StepResult } from '../run-record.js'
import type { Scope } from '../scope.js'
import { BatchResultsError, readBatchResults } from './batch-results.js'
import { type ItemInput, type ItemSteps, positionOf } from './item-steps.js'
import { keepsLog } from './unkept-log.js'
import {
  type Done,
  MergeConflictError,
  MergedBeforeError,
  type Workplace,
  type Workplaces,
  type WorkRequest,
} from '../../workplaces/workplaces.js'

/** What is kept of a batch with `checkpoint: step`: which items it had, and what its finished steps gave. */
export interface BatchCheckpoint {
  readonly items: readonly string[]
  readonly steps: Readonly<Record<string, StepResult>>
}

export interface ItemBatchesParts {
  /** The id of the run that the map is a part of. */
  readonly run: string
  readonly map: MapPlan
  readonly scope: Scope
  readonly steps: ItemSteps
  readonly performer: Performer
  readonly state: StateDirectory
  readonly mask: (value: Json) => Json
  readonly places: Workplaces
  /** What the lines of a batch have that nothing can be done with. */
  readonly note: (message: string) => void
  /** What cannot be kept is no failure of an item: the run is stopped. */
  readonly onStateFailure: (error: StateError) => void
  /** The log of an attempt that succeeded is not needed. */
  readonly removeLog: (context: AttemptName) => void
}

type AttemptName = Pick<AttemptContext, 'taskId' | 'generation' | 'attempt' | 'execution'>
type Member = BatchMember<ItemInput>
type Context = BatchContext<BatchCheckpoint>

export class ItemBatches {
  private readonly parts: ItemBatchesParts
  /** By the id of an item: settled when nothing of its last attempt is left. */
  private readonly endings = new Map<string, Promise<void>>()

  constructor(parts: ItemBatchesParts) {
    this.parts = parts
  }

  async perform(members: readonly Member[], context: Context): Promise<null> {
    const ids = members.map((member) => member.context.taskId)
    await Promise.all(ids.flatMap((id) => this.endings.get(id) ?? []))
    const work = this.performLeft(members, context)
    const forget = (): void => {
      for (const id of ids) if (this.endings.get(id) === ending) this.endings.delete(id)
    }
    const ending: Promise<void> = work.then(forget, forget)
    for (const id of ids) this.endings.set(id, ending)
    return work
  }

  /** Without those whose work an execution has done that could not record it. */
  private async performLeft(members: readonly Member[], context: Context): Promise<null> {
    const before = await this.parts.places.finished(requestOf(members, context.signal))
    for (const [id, value] of before) context.report(id, { value })
    const left = members.filter((member) => !before.has(member.context.taskId))
    return left.length === 0 ? null : new BatchAttempt(this.parts, left, context).run()
  }
}

/** What lines have said. */
interface Reported {
  readonly faults: readonly string[]
  readonly values: ReadonlyMap<string, Json>
}

class BatchAttempt {
  private readonly parts: ItemBatchesParts
  private readonly members: readonly Member[]
  private readonly context: Context
  private readonly first: Member['context']
  private readonly failed = new Set<string>()

  constructor(parts: ItemBatchesParts, members: readonly Member[], context: Context) {
    this.parts = parts
    this.members = members
    this.context = context
    this.first = (members[0] as Member).context
  }

  async run(): Promise<null> {
    const files = this.writeFiles()
    const { signal } = this.context
    // The driver does not wait for a batch that is aborted: it hears now what there is.
    const onAbort = (): void => this.reportNow(files)
    signal.addEventListener('abort', onAbort, { once: true })
    let isFailed = true
    try {
      const done = await this.parts.places.use(requestOf(this.members, signal), (place) => this.work(files, place))
      for (const [id, value] of Object.entries(done)) this.context.report(id, { value })
      isFailed = false
      return null
    } catch (error) {
      if (error instanceof MergedBeforeError) return this.reportMerged(error.outcomes)
      if (error instanceof MergeConflictError) this.noteConflict(error)
      if (!(error instanceof BatchResultsError)) this.report(files, false)
      throw this.haltingError(error)
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.keepLogs(isFailed)
      removeFiles(files)
    }
  }

  private async work(files: BatchFiles, place: Workplace): Promise<Done<Readonly<Record<string, Json>>>> {
    await this.template(files, place)
    const { faults, values } = this.report(files, true)
    if (faults.length > 0) throw new BatchResultsError(faults)
    const ids = this.members.map(({ context }) => context.taskId).filter((id) => !this.failed.has(id))
    const outcome = Object.fromEntries(ids.map((id) => [id, values.get(id) ?? null]))
    return { value: outcome, items: ids, outcome }
  }

  /** Called by the signal, which has nobody to throw to. */
  private reportNow(files: BatchFiles): void {
    try {
      this.report(files, false)
    } catch (error) {
      if (error instanceof StateError) this.parts.onStateFailure(error)
    }
  }

  private reportMerged(outcomes: ReadonlyMap<string, Json>): null {
    for (const [id, value] of outcomes) this.context.report(id, { value })
    return null
  }

  private async template(files: BatchFiles, place: Workplace): Promise<void> {
    const { map, steps } = this.parts
    const { lastCheckpoint } = this.context
    const items = this.members.map(({ context }) => context.taskId)
    const isSame =
      map.checkpoint === 'step' &&
      lastCheckpoint?.attempt === this.first.attempt &&
      JSON.stringify(lastCheckpoint.value.items) === JSON.stringify(items)
    const finished = isSame ? lastCheckpoint.value.steps : {}
    const keep = (all: BatchCheckpoint['steps']): Promise<void> => this.context.checkpoint({ items, steps: all })
    const site = this.siteOf(files, place)
    await steps.performTemplate(site, this.attemptContext(), finished, keep)
  }

  /** That of the first item, whose log it has. */
  private attemptContext(): AttemptContext {
    const { attempt, execution, generation, taskId } = this.first
    const { signal } = this.context
    return { attempt, execution, generation, taskId, idempotencyKey: keyOf(this.members), signal }
  }

  private siteOf({ items, results }: BatchFiles, { cwd, variables }: Workplace): StepSite {
    const { map, scope } = this.parts
    return {
      scope: scope.forBatch(this.members.map(asItem), items),
      item: { map: map.id, id: this.first.taskId },
      cwd,
      variables: {
        ...variables,
        REPRISE_ITEMS_FILE: items,
        REPRISE_RESULTS: results,
        REPRISE_BATCH_SIZE: String(this.members.length),
        REPRISE_ATTEMPT: String(this.first.attempt),
      },
    }
  }

  private writeFiles(): BatchFiles {
    const { state } = this.parts
    const files = state.batchFiles(this.placeOf(this.first), this.first)
    const lines = this.members.map((member) => `${JSON.stringify(asItem(member))}\n`)
    for (const [file, text] of [
      [files.items, lines.join('')],
      [files.results, ''],
    ] as const) {
      try {
        writeFileSync(file, text, { mode: 0o600 })
      } catch (error) {
        throw stateErrorOf(file, error)
      }
    }
    return files
  }

  /**
   * Reports what the lines say; what is wrong with them, and the results by item. What has to be merged is not reported as
   * done before it is.
   */
  private report({ results }: BatchFiles, isWhole: boolean): Reported {
    const { mask, performer, places } = this.parts
    const ids = new Map(this.members.map(({ input, context }) => [input.key, context.taskId]))
    const { outcomes, faults } = readBatchResults(results, new Set(ids.keys()), isWhole)
    const values = new Map<string, Json>()
    for (const [key, outcome] of outcomes) {
      const id = ids.get(key) ?? ''
      if ('value' in outcome) {
        this.failed.delete(id)
        values.set(id, mask(outcome.value as Json))
        if (!places.needsMerge) this.context.report(id, { value: values.get(id) })
      } else {
        this.failed.add(id)
        this.context.report(id, { error: this.haltingError(performer.masked(outcome.error)) })
      }
    }
    if (isWhole && faults.length > 0) this.noteFaults(new BatchResultsError(faults).message, ids.size - outcomes.size)
    return { faults, values }
  }

  /** No dead letter names the branch where the items succeed alone. */
  private noteConflict({ message }: MergeConflictError): void {
    if (this.members.length > 1) this.parts.note(`a batch is split, and its items run again alone: ${message}`)
  }

  /** No item fails with the fault where all have a line, or succeed when they run alone: it is named here then. */
  private noteFaults(fault: string, withoutLine: number): void {
    const { note } = this.parts
    if (withoutLine === 0) note(fault)
    else if (this.members.length > 1)
      note(`a batch is split, and its items without a line (${withoutLine}) run again alone: ${fault}`)
  }

  /** An exit code of `halt_on` stops the map: what failed with it is not tried again, together or alone. */
  private haltingError(error: unknown): unknown {
    const { exitCode } = error as { readonly exitCode?: unknown }
    if (error instanceof Error && this.parts.map.errors.haltOn.includes(exitCode as number)) {
      Object.defineProperty(error, 'retryable', { value: false, configurable: true })
      Object.defineProperty(error, 'halt', { value: true, configurable: true })
    }
    return error
  }

  /** The log is that of the first item: every item that failed or goes on has it too. */
  private keepLogs(isFailed: boolean): void {
    const { map, state, removeLog } = this.parts
    const isKept = (context: AttemptName): boolean =>
      isFailed || this.failed.has(context.taskId) || keepsLog(map, context)
    const [, ...others] = this.members
    for (const { context } of others)
      if (isKept(context)) state.shareLog(this.placeOf(this.first), this.first, this.placeOf(context), context)
    if (!isKept(this.first)) removeLog(this.first)
  }

  private placeOf({ taskId }: Pick<AttemptName, 'taskId'>): StepPlace {
    const { run, map } = this.parts
    return { run, item: { map: map.id, id: taskId }, step: '' }
  }
}

function requestOf(members: readonly Member[], signal: AbortSignal): WorkRequest {
  const items = members.map(({ input, context }) => ({ id: context.taskId, key: input.key }))
  return { items, attempt: (members[0] as Member).context, signal }
}

/** Items of one key cannot be told apart in a line of results: they are kept in different batches. */
export function apartByKey({ input }: { readonly input: Json }): string {
  return (input as unknown as ItemInput).key
}

/** An item as the steps of its batch see it. */
function asItem({ input: { key, value }, context }: Member): Json {
  const { taskId, attempt, idempotencyKey } = context
  return { key, index: positionOf(taskId), value, attempt, idempotency_key: idempotencyKey }
}

/** The same for the same items: a single one has its own. */
function keyOf(members: readonly Member[]): string {
  const [first] = members
  if (first !== undefined && members.length === 1) return first.context.idempotencyKey
  const hash = createHash('sha256')
  for (const { context } of members) hash.update(`${context.idempotencyKey}\n`)
  return `${first?.context.idempotencyKey ?? ''}+${members.length - 1}.${hash.digest('hex').slice(0, 16)}`
}

function removeFiles({ items, results }: BatchFiles): void {
  for (const file of [items, results]) {
    try {
      rmSync(file, { force: true })
    } catch (error) {
      throw stateErrorOf(file, error)
    }
  }
}
