/**
 * What follows the steps of a run: those of `on_failure` once they have failed, then those of `finally` however they
 * ended. They are phases like all others, and the conductor runs them; this says which, and what they see of the run.
 * Called again after a crash it begins at the first of them that has not ended. Imports the plan and its own layer.
 */
import type { Json } from 'reprise/durable'
import { fallbackId } from '../plan/fallback.js'
import { type PhasePlan, phasesIn, type StepPlan } from '../plan/plan.js'
import type { ConductorParts, RunEnd } from './conductor.js'
import type { FailedStep, RecordedSteps } from './recorded-steps.js'
import type { RunEnding } from './run-record.js'
import type { Scope, StepResult } from './scope.js'

const NOT_FAILED: StepResult = { exit_code: 0, attempts: 0, skipped: 'the run has not failed' }

const OUT_OF_TIME = 'the run has reached its timeout'

export class Handlers {
  private readonly parts: ConductorParts
  /** Runs phases one after the other, until one of them is the end. */
  private readonly inOrder: (phases: readonly PhasePlan[]) => Promise<RunEnd>
  /** Of steps and fallbacks that have failed for good, by id. */
  private readonly failures = new Map<string, FailedStep>()

  constructor(parts: ConductorParts, inOrder: Handlers['inOrder']) {
    this.parts = parts
    this.inOrder = inOrder
  }

  /** A step, or its fallback under an id of its own, has failed for good. */
  note(step: StepPlan, failed: FailedStep): void {
    this.failures.set(step.id, failed)
    this.parts.scope.takeFailure(step, failed.failure, failed.attempts)
  }

  /** `end`: how the steps of the run ended. Answers with how the run ends. */
  async run(end: RunEnd & RunEnding): Promise<RunEnd> {
    const { plan, onEnding } = this.parts
    await onEnding(end)
    await this.showEnd(end)
    const isFailed = end.state === 'failed'
    if (isFailed) {
      const handled = await this.inOrder(phasesIn(plan, 'on_failure'))
      if (isCut(handled)) return handled
    } else {
      for (const step of phasesIn(plan, 'on_failure')) await this.skip(step as StepPlan)
    }
    const last = await this.inOrder(phasesIn(plan, 'finally'))
    if (isCut(last)) return last
    if (isFailed || end.state === 'cancelled' || last.state === 'succeeded') return end
    return last.state === 'failed' ? last : { ...end, state: last.state }
  }

  /** What the steps can refer to. */
  private async showEnd({ state, stopReason, failedStep, outputsError }: RunEnding): Promise<void> {
    const { plan, scope } = this.parts
    for (const phase of phasesIn(plan, 'steps')) await this.recall(phase)
    const failure = failedStep === null ? outputsError : this.failures.get(failedStep)?.failure?.message
    const error = failure ?? (stopReason === 'timeout' ? OUT_OF_TIME : null)
    scope.takeEnd({ state, failedStep, error })
  }

  /** A phase that this process has not come to, as it is recorded. */
  private async recall(phase: PhasePlan): Promise<void> {
    const { scope, recorded, recallMap } = this.parts
    if (scope.knows(phase.id)) return
    if (phase.kind === 'map') return scope.takeMap(phase.id, await recallMap(phase))
    recallStep(phase, recorded, scope, (step, failed) => this.note(step, failed))
  }

  private async skip(step: StepPlan): Promise<void> {
    const { run, events, scope, recorded } = this.parts
    if (await run.skip(step.id, NOT_FAILED as unknown as Json)) events.skipped(step, NOT_FAILED.skipped ?? '')
    const fallback = fallbackId(step)
    if (recorded.get(fallback)?.isUntouched === true) await run.skip(fallback, NOT_FAILED as unknown as Json)
    scope.takeMissing(step)
  }
}

/** What later steps see of a step, or of its fallback, as it is recorded. `onFailed`: told which of both has failed. */
export function recallStep(
  step: StepPlan,
  recorded: Pick<RecordedSteps, 'get'>,
  scope: Pick<Scope, 'take' | 'takeMissing'>,
  onFailed: (step: StepPlan, failed: FailedStep) => void,
): void {
  const id = fallbackId(step)
  const [known, fallback] = [recorded.get(step.id), recorded.get(id)]
  // Nothing that is left can refer to it.
  if (known?.isUnread === true) return
  if (known?.failed !== undefined) onFailed(step, known.failed)
  if (fallback?.failed !== undefined) onFailed({ ...step, id }, fallback.failed)
  const result = (known?.result ?? fallback?.result) as unknown as StepResult | undefined
  if (result === undefined) scope.takeMissing(step)
  else scope.take(step, result)
}

/** Whether nothing more of the run is to run in this process. */
function isCut({ state }: RunEnd): boolean {
  return state === 'interrupted' || state === 'cancelled'
}
