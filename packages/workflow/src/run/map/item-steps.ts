/**
 * One attempt of an item: the steps of a template, one after the other, each retried in the process by its own policy.
 * A step that fails for good fails the attempt; whether the item is tried again is decided by the durable driver. Imports
 * the library, the plan, expressions and its own layer.
 */
import { normalizePolicy, type Policy, retry } from 'reprise'
import type { DurableContext, FailureRecord, Json, VerifyAnswer } from 'reprise/durable'
import type { MapPlan } from '../../plan/map-plan.js'
import type { StepPlan } from '../../plan/plan.js'
import { compileExpression } from '../../values/expression.js'
import type { AttemptContext, Performer, StepSite } from '../performer.js'
import type { StepResult } from '../run-record.js'
import type { Scope } from '../scope.js'
import type { Workplace } from '../../workplaces/workplaces.js'

/** What is recorded of an item before it begins. */
export interface ItemInput {
  readonly key: string
  readonly value: Json
}

/** What `on_item_error` is given: the item, and what it failed with. */
export interface FailedItemInput extends ItemInput {
  /** The id of the item's task. */
  readonly item: string
  readonly failure: FailureRecord | null
}

/** What is kept of an attempt with `checkpoint: step`: what its finished steps gave, by id. */
export interface ItemCheckpoint {
  readonly steps: Readonly<Record<string, StepResult>>
}

export interface ItemStepsParts {
  readonly map: MapPlan
  readonly scope: Scope
  readonly performer: Performer
}

type ItemContext = DurableContext<ItemCheckpoint>

export class ItemSteps {
  private readonly parts: ItemStepsParts
  private readonly policies = new Map<StepPlan, Policy>()

  constructor(parts: ItemStepsParts) {
    this.parts = parts
  }

  /** Resolves to what the last step that captures something has captured; null if none does. */
  perform(input: ItemInput, context: ItemContext, place: Workplace): Promise<Json> {
    const site = { ...this.siteOf(context.taskId, input, context, place.variables), cwd: place.cwd }
    const keep = (steps: ItemCheckpoint['steps']): Promise<void> => context.checkpoint({ steps })
    return this.performTemplate(site, context, this.finishedBefore(context), keep)
  }

  /** The steps of the template, but for those that an earlier execution has finished. */
  async performTemplate(
    site: StepSite,
    context: AttemptContext,
    before: ItemCheckpoint['steps'],
    keep: (steps: ItemCheckpoint['steps']) => Promise<void>,
  ): Promise<Json> {
    const { map } = this.parts
    const finished: Record<string, StepResult> = { ...before }
    let result: Json = null
    for (const step of map.template) {
      let ended = finished[step.id]
      if (ended === undefined) {
        ended = await this.step(step, map.template, site, context)
        finished[step.id] = ended
        if (map.checkpoint === 'step') await keep({ ...finished })
      } else {
        site.scope.take(step, ended)
      }
      if (step.capture !== null && ended.skipped === undefined) result = ended.output ?? null
    }
    return result
  }

  /** What is done once for an item that failed for good. */
  async performOnError({ failure, ...input }: FailedItemInput, context: DurableContext): Promise<Json> {
    const { map } = this.parts
    const variables = { REPRISE_ITEM_ERROR: failure?.message ?? '' }
    // Its logs are not those of the item's attempts: its id begins as the item's does.
    const site = this.siteOf(context.taskId, input, context, variables)
    for (const step of map.onItemError) await this.step(step, map.onItemError, site, context)
    return null
  }

  /** Whether an interrupted attempt happened: 0 yes; 1 no; else nobody knows. */
  async verify(input: ItemInput, context: ItemContext): Promise<VerifyAnswer<Json>> {
    const { map, performer } = this.parts
    const [first] = map.template
    if (typeof map.onInterrupt === 'string' || first === undefined) return 'unknown'
    const step: StepPlan = { ...first, id: 'verify', capture: null, env: {}, workingDir: null }
    try {
      await performer.perform(step, map.onInterrupt.verify, context, this.siteOf(context.taskId, input, context))
      return { done: null }
    } catch (error) {
      return (error as { exitCode?: unknown }).exitCode === 1 ? 'rerun' : 'unknown'
    }
  }

  /** Only of the attempt that goes on: a failed attempt begins at the first step. */
  private finishedBefore({ attempt, lastCheckpoint }: ItemContext): ItemCheckpoint['steps'] {
    const isSame = this.parts.map.checkpoint === 'step' && lastCheckpoint?.attempt === attempt
    return isSame ? lastCheckpoint.value.steps : {}
  }

  private siteOf(
    id: string,
    { key, value }: ItemInput,
    { attempt }: Pick<DurableContext, 'attempt'>,
    further: Readonly<Record<string, string>> = {},
  ): StepSite {
    const { map, scope } = this.parts
    const index = positionOf(id)
    return {
      scope: scope.forItem({ key, index, value }),
      item: { map: map.id, id },
      variables: {
        REPRISE_ITEM_KEY: key,
        REPRISE_ITEM_INDEX: String(index),
        REPRISE_ATTEMPT: String(attempt),
        ...further,
      },
    }
  }

  private async step(
    step: StepPlan,
    template: readonly StepPlan[],
    site: StepSite,
    context: AttemptContext,
  ): Promise<StepResult> {
    const { performer } = this.parts
    try {
      if (!(await this.isWanted(step, site))) return this.taken(step, site, skipped(step))
      return this.taken(step, site, await this.retried(step, site, context))
    } catch (error) {
      context.signal.throwIfAborted()
      const { onFailure } = step
      if (onFailure === 'continue') {
        const { exitCode } = error as { readonly exitCode?: unknown }
        return this.taken(step, site, { exit_code: typeof exitCode === 'number' ? exitCode : 1, attempts: 1 })
      }
      if (onFailure === 'stop') throw this.final(error, step, template)
      const fallback = { ...contextFor(step, context), idempotencyKey: `${context.idempotencyKey}/${step.id}.fallback` }
      let result: StepResult
      try {
        result = await performer.perform(step, onFailure.fallback, fallback, site)
      } catch (again) {
        throw this.final(again, step, template)
      }
      if (onFailure.afterwards === 'fail') throw this.final(error, step, template)
      return this.taken(step, site, result)
    }
  }

  /**
   * The failure of the item's attempt. An exit code of `halt_on` stops the map: the item itself is not tried again. What an
   * expression says of a value may be secret too.
   */
  private final(cause: unknown, step: StepPlan, template: readonly StepPlan[]): unknown {
    const error = named(this.parts.performer.masked(cause), step, template)
    const { exitCode, halt } = error as { readonly exitCode?: unknown; readonly halt?: unknown }
    const isHalt = halt === true || this.parts.map.errors.haltOn.includes(exitCode as number)
    if (isHalt && error instanceof Error)
      Object.defineProperty(error, 'retryable', { value: false, configurable: true })
    return error
  }

  private taken(step: StepPlan, { scope }: StepSite, result: StepResult): StepResult {
    scope.take(step, result)
    return result
  }

  private async isWanted({ when, ...step }: StepPlan, site: StepSite): Promise<boolean> {
    if (when === null) return true
    const expression = await compileExpression(when)
    return expression.evaluateBoolean(this.parts.performer.valuesOf({ ...step, when }, site))
  }

  /** By the step's own policy, uncounted by the item. */
  private async retried(step: StepPlan, site: StepSite, context: AttemptContext): Promise<StepResult> {
    const { performer } = this.parts
    const given = contextFor(step, context)
    const policy = this.policyOf(step)
    const isPlain = policy.attempts === 1 && policy.attemptTimeoutMs === undefined && policy.timeoutMs === undefined
    if (isPlain) return performer.perform(step, step.action, given, site)
    return retry(
      async ({ attempt, signal }) => {
        const variables = { ...site.variables, REPRISE_STEP_ATTEMPT: String(attempt) }
        const result = await performer.perform(step, step.action, { ...given, signal }, { ...site, variables })
        return { ...result, attempts: attempt }
      },
      policy,
      { signal: context.signal },
    )
  }

  private policyOf(step: StepPlan): Policy {
    let policy = this.policies.get(step)
    if (policy === undefined) {
      policy = normalizePolicy(step.policy).policy
      this.policies.set(step, policy)
    }
    return policy
  }
}

/** The position that the id of an item begins with. */
export function positionOf(id: string): number {
  return Number.parseInt(id, 10)
}

function contextFor(step: StepPlan, context: AttemptContext): AttemptContext {
  const { attempt, execution, generation, taskId, idempotencyKey, signal } = context
  return { attempt, execution, generation, taskId, idempotencyKey: `${idempotencyKey}/${step.id}`, signal }
}

function skipped({ when }: StepPlan): StepResult {
  return { exit_code: 0, attempts: 0, skipped: `when: ${when ?? ''}` }
}

/** Of several steps, which one failed. The error stays the one it was: matchers look at more than its text. */
function named(error: unknown, { id }: StepPlan, template: readonly StepPlan[]): unknown {
  if (template.length > 1 && error instanceof Error)
    Object.defineProperty(error, 'message', { value: `${id}: ${error.message}`, configurable: true, writable: true })
  return error
}
