/**
 * A run that another process conducts, as a process sees it that executes tasks of its queues too. It claims, renews and
 * writes like any owner; it creates no task of the run and writes nothing of the run itself. Imports its own layer.
 */
import type { PolicyArgument } from '../core/policy.js'
import type { RunRecord } from '../ledger/records.js'
import type { TaskFunction } from './definition.js'
import type { ConductOptions, RunParts } from './durable-run.js'
import { ItemQueue, type ItemQueueOptions } from './item-queue.js'
import { expectId } from './tasks.js'

export interface JoinOptions extends ConductOptions {
  /**
   * When the run was last taken up again, as the process that conducts it has recorded: tasks that have waited since before
   * are resumed, whichever process starts them.
   * @default it was begun by the process that conducts it
   * @example { sinceMs: 1_700_000_000_000 }
   */
  readonly sinceMs?: number
}

export class JoinedRun {
  /** The id of the run. */
  readonly id: string
  /** As it was when it was joined. */
  readonly record: RunRecord
  /** This process, as an owner of tasks. */
  readonly owner: string
  /** Takes back what was brought along: budgets and the observer. */
  readonly release: () => void
  private readonly parts: RunParts
  private readonly options: JoinOptions

  constructor(parts: RunParts, record: RunRecord, options: JoinOptions, release: () => void) {
    this.id = record.id
    this.owner = parts.owner
    this.record = record
    this.release = release
    this.parts = parts
    this.options = options
  }

  /**
   * A queue of the run, with the same definition as that of the process that conducts it.
   * @example
   * const joined = await durable.runs.join('nightly-1/resize')
   * const items = joined.items('items', { attempts: 3 }, ({ url }: { url: string }) => fetch(url), { most: 8 })
   * await items.open()
   */
  items<I, R>(
    lane: string,
    policy: PolicyArgument,
    run: TaskFunction<I, R>,
    options: ItemQueueOptions<I, R> = {},
  ): ItemQueue<I> {
    this.parts.expectOpen()
    expectId('lane', lane)
    const { policyChange, sinceMs: takenUpAtMs } = this.options
    const share = { resumeId: undefined, force: false, takenUpAtMs, isGuest: true }
    const taken = policyChange === undefined ? share : { ...share, policyChange }
    return new ItemQueue(this.parts, this.record, taken, { lane, policy, run, options })
  }
}
