/**
 * The lanes of a map as queues of durable tasks: what an item runs, how it is retried, how many run at a time, and what a
 * failure means. Imports the library, the plan and its own layer.
 */
import { normalizePolicy, type PolicyInput } from 'reprise'
import type { DurableContext, Json } from 'reprise/durable'
import {
  type BatchContext,
  type BatchMember,
  type DurableRun,
  type ItemQueue,
  laneName,
  queueKey,
} from 'reprise/internal'
import type { MapPlan, MapRate } from '../../plan/map-plan.js'
import type { Plan } from '../../plan/plan.js'
import { StateError } from '../../state/state-error.js'
import { policyFor } from '../gates.js'
import { apartByKey, type BatchCheckpoint, type ItemBatches } from './item-batches.js'
import type { FailedItemInput, ItemCheckpoint, ItemInput, ItemSteps } from './item-steps.js'
import { itemGroup } from './map-group.js'
import { errorTally, itemTally, retryCount } from './map-names.js'
import { MergedBeforeError, type Workplaces } from '../../workplaces/workplaces.js'

export interface LaneParts {
  /** The run of the map, as its conductor has it, or as an agent has joined it. */
  readonly child: Pick<DurableRun, 'id' | 'items'>
  readonly plan: Plan
  readonly map: MapPlan
  /** The id of the run that the map is a part of. */
  readonly runId: string
  readonly steps: ItemSteps
  /** Attempts of several items, where the map has `batch`. */
  readonly batches: ItemBatches
  /** Where attempts of items work. */
  readonly places: Workplaces
  /** The limit of failed items that holds now. */
  readonly maxFailures: number | null
  /** Items at a time. */
  readonly maxParallel: number
  /** What cannot be kept is no failure of an item: the run is stopped. */
  readonly onStateFailure: (error: StateError) => void
  /** An attempt of an item begins. */
  readonly onBegin: (item: string, key: string) => void
  /** An attempt of an item succeeded. */
  readonly onSuccess: (context: DurableContext<ItemCheckpoint>) => void
}

/** Retries of all items are counted even where only those of one item are limited. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER

export class MapLanes {
  private readonly parts: LaneParts
  private readonly policy: PolicyInput
  readonly onError: ItemQueue<FailedItemInput> | undefined

  constructor(parts: LaneParts) {
    const { child, plan, map, runId, steps } = parts
    this.parts = parts
    this.policy = policyFor(map.policy, plan, runId)
    this.onError =
      map.onItemError.length === 0
        ? undefined
        : child.items<FailedItemInput, Json>(
            'on-error',
            { attempts: 1 },
            (input, context) => steps.performOnError(input, context),
            { name: `${map.id}/on_item_error`, isApart: true, most: 1, tally: errorTally(child.id) },
          )
  }

  /** Items of the first pass: all, or the part that was asked for. */
  items(lane: 'items' | 'sample'): ItemQueue<ItemInput> {
    const { child, map, maxParallel } = this.parts
    const { maxRetries, maxRetriesPerItem } = map.errors
    const isCounted = maxRetries !== null || maxRetriesPerItem !== null
    const allot = {
      budget: retryCount(child.id),
      total: maxRetries ?? NO_LIMIT,
      ...(maxRetriesPerItem !== null && { perTask: maxRetriesPerItem }),
      reasons: { total: 'max_retries_exhausted', perTask: 'max_retries_per_item_exhausted' },
    }
    // The part that was asked for is served first: what stops it stops the items that come after it.
    const paused = lane === 'sample' ? ['sample', 'items'] : ['items']
    const more = { ...paceOf(map.rate), ...(isCounted && { allot }) }
    return this.queue(lane, maxParallel, itemTally(child.id, lane), paused, more)
  }

  /** Dead letters that were granted a fresh set of attempts: no limit of the map stops them. */
  redrive(most = this.parts.map.maxParallel, rate = this.parts.map.rate): ItemQueue<ItemInput> {
    return this.queue('redrive', most, itemTally(this.parts.child.id, 'items'), [], paceOf(rate))
  }

  private queue(
    lane: 'items' | 'sample' | 'redrive',
    most: number,
    tally: string,
    paused: readonly string[],
    more: object = {},
  ): ItemQueue<ItemInput> {
    const { child, map, steps, maxFailures } = this.parts
    const keyOf = (name: string): string => queueKey(laneName(child.id, name))
    const group = itemGroup({
      countKey: keyOf('items'),
      pausedKeys: paused.map(keyOf),
      errors: { ...map.errors, maxFailures },
      onError: this.onError,
    })
    const verify = (input: ItemInput, context: DurableContext): ReturnType<ItemSteps['verify']> =>
      steps.verify(input, context as unknown as DurableContext<ItemCheckpoint>)
    return child.items<ItemInput, Json>(lane, normalizePolicy(this.policy).policy, this.perform, {
      name: map.id,
      most,
      tally,
      keepsLetters: map.errors.onItemFailure !== 'skip',
      group,
      onInterrupt: typeof map.onInterrupt === 'string' ? map.onInterrupt : { verify },
      ...(map.batch > 1 && { batch: { most: map.batch, apart: apartByKey, run: this.performBatch } }),
      ...more,
    })
  }

  private readonly perform = async (input: ItemInput, given: DurableContext): Promise<Json> => {
    const { onBegin, onSuccess } = this.parts
    const context = given as unknown as DurableContext<ItemCheckpoint>
    onBegin(context.taskId, input.key)
    const result = await this.orStopped(this.performAt(input, context))
    onSuccess(context)
    return result
  }

  private async performAt(input: ItemInput, context: DurableContext<ItemCheckpoint>): Promise<Json> {
    const { steps, places } = this.parts
    const { taskId: id, signal } = context
    const request = { items: [{ id, key: input.key }], attempt: context, signal }
    const before = await places.finished(request)
    if (before.has(id)) return before.get(id) ?? null
    try {
      return await places.use(request, async (place) => {
        const value = await steps.perform(input, context, place)
        return { value, items: [id], outcome: { [id]: value } }
      })
    } catch (error) {
      if (error instanceof MergedBeforeError) return error.outcomes.get(id) ?? null
      throw error
    }
  }

  private readonly performBatch = (members: readonly BatchMember<ItemInput>[], given: BatchContext): Promise<null> => {
    const { batches, onBegin } = this.parts
    for (const { input, context } of members) onBegin(context.taskId, input.key)
    return this.orStopped(batches.perform(members, given as unknown as BatchContext<BatchCheckpoint>))
  }

  private async orStopped<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      if (error instanceof StateError) this.parts.onStateFailure(error)
      throw error
    }
  }
}

function paceOf(rate: MapRate | null): { readonly rate?: { readonly perSecond: number } } {
  return rate === null ? {} : { rate: { perSecond: (rate.count * 1000) / rate.perMs } }
}
