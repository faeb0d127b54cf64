/**
 * Conducts a run: its steps in order, what becomes of a failure, and where it ends. Every step is a durable task; what is
 * retried, when and how often is decided by the driver alone. Called again after a crash it goes through the same steps,
 * and what has ended does not run again. Imports the library, the plan and its own layer.
 */
import type { StopReason } from 'reprise'
import { type Json, RecordedFailureError, TaskRefusedError } from 'reprise/durable'
import type { DurableRun, StepHandle } from 'reprise/internal'
import type { MapPlan } from '../plan/map-plan.js'
import { handlersOf, type PhasePlan, phasesIn, type Plan, type StepPlan } from '../plan/plan.js'
import type { Values } from '../steps/step-context.js'
import type { RunState } from '../view/views.js'
import { SetupError } from '../values/setup-error.js'
import { compileExpression } from '../values/expression.js'
import { Handlers } from './handlers.js'
import { type MapEnd, NO_ITEMS } from './map/map-end.js'
import { cancelSteps } from './open-steps.js'
import type { Performer } from './performer.js'
import type { FailedStep, RecordedSteps } from './recorded-steps.js'
import type { RunEnding } from './run-record.js'
import type { Scope, StepResult } from './scope.js'
import { outputsOf } from './run-outputs.js'
import { FALLBACK_POLICY, fallbackId, StepTasks } from './step-task.js'
import { takeOverLost } from './take-over-lost.js'
import type { RunEvents, StepEnd } from './run-events.js'

/** How a run ended, or that it was interrupted. */
export interface RunEnd {
  /** The state of the run. */
  readonly state: Exclude<RunState, 'running'>
  /** Why the step that ended the run was not retried; null otherwise. */
  readonly stopReason: StopReason | null
  /** The step that ended the run; null if none did. */
  readonly failedStep: string | null
  /** Steps that were interrupted, and of which only a person can say whether they happened. */
  readonly undecided: readonly string[]
  /** `outputs` of the workflow, filled in; absent where it has none, or has not come to its end. */
  readonly outputs?: Readonly<Record<string, Json>>
  /** Why `outputs` could not be filled in, which is why the run failed; absent otherwise. */
  readonly outputsError?: string
  /** Items of a map that wait because only a part was asked for; absent if none do. */
  readonly left?: number
}

export interface ConductorParts {
  readonly run: DurableRun
  readonly plan: Plan
  readonly scope: Scope
  readonly performer: Performer
  readonly events: RunEvents
  /** Conducts a map to its end, or until the signal says to stop. `unfit`: what keeps it from being begun. */
  readonly conductMap: (map: MapPlan, signal: AbortSignal, unfit?: Error) => Promise<MapEnd>
  /** Records attempts of items that lost processes left as interrupted; for a map that the run was stopped before. */
  readonly takeOverMap: (map: MapPlan) => Promise<void>
  /** Whether all items of the map were recorded before. */
  readonly isMapBegun: (map: MapPlan) => Promise<boolean>
  /** What is known of steps from before this process came. */
  readonly recorded: RecordedSteps
  /** Counts the time of earlier attempts of a step that runs again. */
  readonly recall: (step: string) => Promise<void>
  /** How the steps of the run ended, if they had ended before this process came. */
  readonly ending: RunEnding | undefined
  /** Called once the steps have ended, before the first of `on_failure` and `finally` begins. */
  readonly onEnding: (end: RunEnd & RunEnding) => Promise<void>
  /** What later steps see of a map as it is recorded. */
  readonly recallMap: (map: MapPlan) => Promise<MapEnd['figures']>
  /** Whether somebody has cancelled the run meanwhile. */
  readonly isCancelled: () => Promise<boolean>
  /** Only items are redriven: a step that has not ended stays as it is, and the run is left there. */
  readonly isRedriveOnly?: boolean
  /** The map after which every step runs once more. */
  readonly repeat?: RepeatedSteps
}

/** Steps after a map that run again, since its items have changed. */
interface RepeatedSteps {
  /** The id of the map. */
  readonly after: string
  /** Called once they are granted a fresh generation, all of them. */
  readonly onGranted: () => Promise<void>
}

/** What a step means for the run. */
type Verdict = { readonly type: 'next'; readonly failed: boolean } | { readonly type: 'end'; readonly end: RunEnd }

const SUCCEEDED: StepEnd = { state: 'succeeded', stopReason: null, failure: null, continued: false }
const SUCCESS: Verdict = { type: 'next', failed: false }
const CONTINUED: Verdict = { type: 'next', failed: true }

export class Conductor {
  private readonly parts: ConductorParts
  private readonly tasks: StepTasks
  private stopping = false
  /** The time of the run is up: no step begins any more, but those of `on_failure` and `finally`. */
  private isOutOfTime = false
  /** Whether what runs belongs to the steps of the run, whose time is limited. */
  private isTimed = false
  /** The step or fallback that is under way. */
  private current: StepHandle<Json> | undefined
  private isRedriveOnly: boolean
  private readonly stopped = new AbortController()
  private readonly handlers: Handlers

  constructor(parts: ConductorParts) {
    this.parts = parts
    this.tasks = new StepTasks(parts.run, parts.plan)
    this.isRedriveOnly = parts.isRedriveOnly === true
    this.handlers = new Handlers(parts, (phases) => this.inOrder(phases))
  }

  /** No step begins any more. */
  stop(): void {
    this.stopping = true
    this.stopped.abort()
  }

  /** Ends the step that runs: the run has reached its limit of time. What has just begun is found by a later call. */
  async expire(): Promise<void> {
    if (this.stopping || !this.isTimed) return
    this.isOutOfTime = true
    this.stopped.abort()
    try {
      await this.current?.cancel()
    } catch (error) {
      if (!(error instanceof TaskRefusedError)) throw error
    }
  }

  /** Whether the time was up before this process came; to be said before it conducts. */
  beginExpired(): void {
    this.isOutOfTime = true
  }

  async conduct(): Promise<RunEnd> {
    const end = await this.conductParts()
    return end.state === 'interrupted' ? this.takeOverLost(end) : end
  }

  private async takeOverLost(end: RunEnd): Promise<RunEnd> {
    const { run } = this.parts
    const isTaken = await takeOverLost(this.parts, this.tasks)
    if (!isTaken || !this.stopping) return end
    const undecided = await run.tasks(['undecided'])
    return { ...end, undecided: undecided.map(({ id }) => id) }
  }

  /** The steps, then those of `on_failure` and `finally`. */
  private async conductParts(): Promise<RunEnd> {
    const { plan, ending, isCancelled } = this.parts
    const steps = phasesIn(plan, 'steps')
    this.isTimed = ending === undefined
    const end = ending === undefined ? this.withOutputs(await this.inOrder(steps)) : { ...ending, undecided: [] }
    this.isTimed = false
    if (end.state === 'interrupted' || handlersOf(plan).length === 0) return end
    // Cancelled from outside, the run has to be taken once more before anything of it can begin.
    if (end.state === 'cancelled' && ending === undefined && (await isCancelled())) return end
    return this.handlers.run({ ...end, state: end.state })
  }

  /** Runs phases one after the other, until one of them is the end. */
  private async inOrder(phases: readonly PhasePlan[]): Promise<RunEnd> {
    let hasFailures = false
    for (const phase of phases) {
      if (this.stopping) return ended('interrupted')
      if (this.isTimed && this.isOutOfTime) return this.endOfTime()
      // Of very many that have succeeded before, none is waited for.
      const verdict = await this.phase(phase)
      if (verdict.type === 'end') return verdict.end
      hasFailures ||= verdict.failed
    }
    return ended(hasFailures ? 'completed_with_failures' : 'succeeded')
  }

  /** Nothing of its steps goes on; those of `on_failure` and `finally` follow. */
  private async endOfTime(step: string | null = null): Promise<RunEnd> {
    if (await this.parts.isCancelled()) return ended('cancelled', 'aborted')
    const open = await cancelSteps(this.parts)
    return ended('failed', 'timeout', step ?? open)
  }

  /** Steps that have come to their end, with what the workflow gives: those of `on_failure` and `finally` change nothing of it. */
  private withOutputs(end: RunEnd): RunEnd {
    const { plan, scope, performer } = this.parts
    const isOver = end.state === 'succeeded' || end.state === 'completed_with_failures'
    if (!isOver || Object.keys(plan.outputs).length === 0) return end
    try {
      return { ...end, outputs: outputsOf(plan, scope) }
    } catch (error) {
      if (!(error instanceof SetupError)) throw error
      const { message } = performer.masked(error) as Error
      return { ...ended('failed', 'not_retryable'), outputsError: message }
    }
  }

  /** Runs a phase of any kind to its end. */
  private phase(phase: PhasePlan): Promise<Verdict> {
    switch (phase.kind) {
      case 'step':
        if (this.isRedriveOnly && !this.isEnded(phase))
          return Promise.resolve({ type: 'end', end: ended('interrupted') })
        return this.step(phase)
      case 'map':
        return this.conductMap(phase)
    }
  }

  /** Whether nothing of it, or of its fallback, would run any more. */
  private isEnded({ id, onFailure }: StepPlan): boolean {
    const { recorded } = this.parts
    const isOver = (one: string): boolean => {
      const known = recorded.get(one)
      return known?.result !== undefined || known?.isUnread === true || known?.failed !== undefined
    }
    return (
      isOver(id) &&
      (recorded.get(id)?.failed === undefined || typeof onFailure === 'string' || isOver(fallbackId({ id })))
    )
  }

  /** Grants a fresh generation to every step after the map that has ended, and lets the run continue there. */
  private async repeatAfter(map: MapPlan): Promise<void> {
    const { plan, recorded, repeat } = this.parts
    if (repeat?.after !== map.id) return
    const later = plan.phases.slice(plan.phases.indexOf(map) + 1)
    for (const step of later) {
      if (step.kind !== 'step') continue
      if (recorded.has(step.id)) {
        await this.parts.recall(step.id)
        await this.tasks.of(step).again()
      }
      const fallback = fallbackId(step)
      if (recorded.has(fallback)) await this.parts.run.step(fallback, FALLBACK_POLICY, () => null).again()
      recorded.forget(step.id)
      recorded.forget(fallback)
    }
    await repeat.onGranted()
    this.isRedriveOnly = false
  }

  /** The items of a map, and what they mean for the run. */
  private async conductMap(map: MapPlan): Promise<Verdict> {
    const { recorded, scope, isMapBegun } = this.parts
    if (recorded.get(map.id)?.result !== undefined) return this.skipped(map)
    // What has begun is not asked again: the environment may be another one by now.
    const wanted = (await isMapBegun(map)) || (await this.isWanted(map, () => scope.values))
    if (wanted === false) return this.skipMap(map)
    const unfit = wanted === true ? [] : [wanted]
    try {
      const end = await this.parts.conductMap(map, this.stopped.signal, ...unfit)
      scope.takeMap(map.id, end.figures)
      if (end.state === 'succeeded' || end.state === 'completed_with_failures') await this.repeatAfter(map)
      return await this.afterMap(map, end)
    } catch (error) {
      if (error instanceof TaskRefusedError) return this.afterRefusal(error)
      throw error
    }
  }

  private async skipMap(map: MapPlan): Promise<Verdict> {
    const reason = `when: ${map.when ?? ''}`
    await this.parts.run.skip(map.id, { exit_code: 0, attempts: 0, skipped: reason })
    this.parts.events.skipped(map, reason)
    return this.skipped(map)
  }

  /** Later steps see a map without items. */
  private skipped(map: MapPlan): Verdict {
    this.parts.scope.takeMap(map.id, NO_ITEMS)
    return SUCCESS
  }

  private async afterMap(map: MapPlan, { state, left }: MapEnd): Promise<Verdict> {
    switch (state) {
      case 'succeeded':
        return SUCCESS
      case 'completed_with_failures':
        return CONTINUED
      case 'failed':
        if (map.onFailure === 'continue') return CONTINUED
        return { type: 'end', end: ended('failed', null, map.id) }
      case 'interrupted':
        if (this.isOutOfTime && !this.stopping) return { type: 'end', end: await this.endOfTime(map.id) }
        return { type: 'end', end: { ...ended('interrupted'), left } }
    }
  }

  private async step(step: StepPlan): Promise<Verdict> {
    const { recorded, events, performer } = this.parts
    const before = this.takeRecorded(step, step.id)
    if (before !== undefined) return before
    const known = recorded.get(step.id)
    if (known?.failed !== undefined) return this.follow(step, known.failed)
    try {
      const isAsked = known === undefined || known.isUntouched === true
      const wanted = isAsked ? await this.isWanted(step, () => performer.valuesOf(step)) : true
      if (wanted === false) return await this.skip(step)
      const result = (await this.runs(this.handleOf(step, wanted))) as unknown as StepResult
      events.finished(step, SUCCEEDED)
      await this.skipFallback(step)
      return this.taken(step, result)
    } catch (error) {
      return this.afterError(step, error)
    }
  }

  private async runs(handle: StepHandle<Json>): Promise<Json> {
    this.current = handle
    try {
      return await handle.run()
    } finally {
      this.current = undefined
    }
  }

  /** A fallback that was granted a fresh generation with its step, which has succeeded this time. */
  private async skipFallback(step: StepPlan): Promise<void> {
    const id = fallbackId(step)
    if (this.parts.recorded.get(id)?.isUntouched !== true) return
    const result: StepResult = { exit_code: 0, attempts: 0, skipped: 'its step succeeded' }
    await this.parts.run.skip(id, result as unknown as Json)
  }

  /** What is recorded under the id, if that has succeeded; nothing can refer to what was not read. */
  private takeRecorded(step: StepPlan, id: string): Verdict | undefined {
    const known = this.parts.recorded.get(id)
    if (known?.isUnread === true) return SUCCESS
    const result = known?.result
    return result === undefined ? undefined : this.taken(step, result as unknown as StepResult)
  }

  private taken(step: StepPlan, result: StepResult): Verdict {
    this.parts.scope.take(step, result)
    return SUCCESS
  }

  /** An expression that makes no sense of the values is the phase's failure, recorded as such. */
  private async isWanted({ when }: PhasePlan, values: () => Values): Promise<boolean | Error> {
    if (when === null) return true
    try {
      const expression = await compileExpression(when)
      return expression.evaluateBoolean(values())
    } catch (error) {
      return Object.assign(new Error(`when: ${(error as Error).message}`), { retryable: false })
    }
  }

  private async skip(step: StepPlan): Promise<Verdict> {
    const reason = `when: ${step.when ?? ''}`
    const result: StepResult = { exit_code: 0, attempts: 0, skipped: reason }
    await this.parts.run.skip(step.id, result as unknown as Json)
    this.parts.events.skipped(step, reason)
    return this.taken(step, result)
  }

  /** The step as a durable task; one that is known to fail does so instead of doing anything. */
  private handleOf(step: StepPlan, wanted: true | Error): StepHandle<Json> {
    const { performer } = this.parts
    return this.tasks.of(step, {
      perform: async (context) => {
        if (wanted !== true) throw performer.masked(wanted)
        return (await performer.perform(step, step.action, context)) as unknown as Json
      },
      verify: (context) => performer.verify(step, context),
    })
  }

  private async afterError(step: StepPlan, error: unknown): Promise<Verdict> {
    if (error instanceof TaskRefusedError) return await this.afterRefusal(error)
    if (!(error instanceof RecordedFailureError)) throw error
    const { stopReason, failure, attempts } = error
    if (stopReason === 'interrupted') {
      return { type: 'end', end: { ...ended('interrupted'), undecided: [step.id] } }
    }
    if (stopReason === 'aborted' && this.isTimed && this.isOutOfTime)
      return { type: 'end', end: await this.endOfTime(step.id) }
    if (stopReason === 'aborted') return { type: 'end', end: ended('cancelled', 'aborted', step.id) }
    return this.afterFailure(step, { stopReason, failure, attempts })
  }

  /** This process stops, or is not the one that conducts the run any more. */
  private async afterRefusal(error: TaskRefusedError): Promise<Verdict> {
    if (error.kind === 'closed' && this.stopping) return { type: 'end', end: ended('interrupted') }
    if (error.kind === 'run_lost' && (await this.parts.isCancelled()))
      return { type: 'end', end: ended('cancelled', 'aborted') }
    throw error
  }

  private async afterFailure(step: StepPlan, end: FailedStep): Promise<Verdict> {
    const { events } = this.parts
    const { stopReason, failure } = end
    // Whether it does after a fallback is not known yet.
    const continued = step.onFailure === 'continue'
    events.finished(step, { state: 'failed', stopReason, failure, continued })
    return this.follow(step, end)
  }

  /** What comes after a step that has failed, here or in a process before. */
  private async follow(step: StepPlan, failed: FailedStep): Promise<Verdict> {
    const { onFailure } = step
    const { stopReason } = failed
    this.handlers.note(step, failed)
    if (onFailure === 'stop') return { type: 'end', end: ended('failed', stopReason, step.id) }
    if (onFailure === 'continue') return CONTINUED
    const verdict = await this.fallback(step, onFailure.fallback)
    // The fallback has made up for the failure, and undone something: that is all it was for.
    if (onFailure.afterwards === 'fail' && verdict.type === 'next')
      return { type: 'end', end: ended('failed', stopReason, step.id) }
    return verdict
  }

  /** Runs once; what it gives is the step's. */
  private async fallback(step: StepPlan, action: StepPlan['action']): Promise<Verdict> {
    const { run, performer, events } = this.parts
    const id = fallbackId(step)
    const known = this.takeRecorded(step, id)
    if (known !== undefined) return known
    events.fallback(step)
    const handle = run.step(
      id,
      FALLBACK_POLICY,
      (_input, context) => performer.perform(step, action, context) as unknown as Promise<Json>,
    )
    try {
      const result = (await this.runs(handle)) as unknown as StepResult
      events.finished({ id }, SUCCEEDED)
      return this.taken(step, result)
    } catch (error) {
      const isOver = error instanceof RecordedFailureError && !STOPPED.has(error.stopReason)
      if (!isOver) return this.afterError({ ...step, id }, error)
      const { stopReason, failure, attempts } = error
      this.handlers.note({ ...step, id }, { stopReason, failure, attempts })
      events.finished({ id }, { state: 'failed', stopReason, failure, continued: false })
      return { type: 'end', end: ended('failed', stopReason, id) }
    }
  }
}

/** Nobody knows how it ended, or nobody wanted to know: that is no failure. */
const STOPPED: ReadonlySet<StopReason> = new Set(['aborted', 'interrupted'])

function ended(state: RunEnd['state'], stopReason: StopReason | null = null, failedStep: string | null = null): RunEnd {
  return { state, stopReason, failedStep, undecided: [] }
}
