/** The steps of a plan as durable tasks of its run. Imports the library, the plan and its own layer. */
import { normalizePolicy, type Policy, type PolicyInput } from 'reprise'
import type { DurableContext, Json, VerifyAnswer } from 'reprise/durable'
import type { DurableRun, StepHandle } from 'reprise/internal'
import { fallbackId } from '../plan/fallback.js'
import { type Plan, type StepPlan, stepsOf } from '../plan/plan.js'
import { policyFor } from './gates.js'

export { fallbackId, fallbackName } from '../plan/fallback.js'

/** What runs it; for whoever only changes what is recorded, nothing does. */
export interface StepHandlers {
  readonly perform: (context: DurableContext) => Promise<Json>
  readonly verify: (context: DurableContext) => Promise<VerifyAnswer<Json>>
}

const INERT_HANDLERS: StepHandlers = {
  perform: () => Promise.reject(new Error('nothing runs here')),
  verify: () => Promise.resolve('unknown'),
}

export class StepTasks {
  private readonly run: DurableRun
  private readonly plan: Plan
  /** By what the plan says, read once: steps share their policies. */
  private readonly policies = new Map<PolicyInput, Policy>()

  constructor(run: DurableRun, plan: Plan) {
    this.run = run
    this.plan = plan
  }

  of({ id, policy, onInterrupt }: StepPlan, handlers: StepHandlers = INERT_HANDLERS): StepHandle<Json> {
    return this.run.step<Json>(id, this.policyOf(policy), (_input, context) => handlers.perform(context), {
      onInterrupt:
        typeof onInterrupt === 'string' ? onInterrupt : { verify: (_input, context) => handlers.verify(context) },
    })
  }

  /** The step or the fallback with this id; undefined if the plan has none. */
  withId(id: string): StepHandle<Json> | undefined {
    for (const step of stepsOf(this.plan)) {
      if (step.id === id) return this.of(step)
      if (fallbackId(step) === id) return this.run.step(id, FALLBACK_POLICY, () => null)
    }
    return undefined
  }

  private policyOf(input: PolicyInput): Policy {
    let policy = this.policies.get(input)
    if (policy === undefined) {
      policy = normalizePolicy(policyFor(input, this.plan, this.run.id)).policy
      this.policies.set(input, policy)
    }
    return policy
  }
}

/** Runs once, however the step itself is retried. */
export const FALLBACK_POLICY = { attempts: 1 } as const
