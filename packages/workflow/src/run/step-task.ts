/** A step of a plan as a durable task of its run. Imports the library, the plan and its own layer. */
import type { DurableContext, DurableRun, Json, StepHandle, VerifyAnswer } from 'reprise/durable'
import type { Plan, StepPlan } from '../plan/plan.js'
import { policyFor } from './gates.js'

export { fallbackId, fallbackName } from '../plan/fallback.js'

/** What runs it; for whoever only changes what is recorded, nothing does. */
export interface StepHands {
  readonly perform: (context: DurableContext) => Promise<Json>
  readonly verify: (context: DurableContext) => Promise<VerifyAnswer<Json>>
}

const NOBODY: StepHands = {
  perform: () => Promise.reject(new Error('nothing runs here')),
  verify: () => Promise.resolve('unknown'),
}

export function stepTask(run: DurableRun, plan: Plan, step: StepPlan, hands: StepHands = NOBODY): StepHandle<Json> {
  const policy = policyFor(step.policy, plan, run.id)
  return run.step<Json>(step.id, policy, (_input, context) => hands.perform(context), {
    onInterrupt:
      typeof step.onInterrupt === 'string' ? step.onInterrupt : { verify: (_input, context) => hands.verify(context) },
  })
}

/** Runs once, however the step itself is retried. */
export const FALLBACK_POLICY = { attempts: 1 } as const
