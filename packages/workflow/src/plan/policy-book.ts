/**
 * The policies of a plan: steps that say the same share one, so that whoever reads it reads it once, however many steps
 * there are. Pure. Imports the builder of policies.
 */
import type { BreakerInput, PolicyInput } from 'reprise'
import type { Json } from 'reprise/durable'
import { buildFailureAction, buildPolicy } from './build-policy.js'
import type { StepData } from './document-data.js'
import type { FailureAction, StepPlan } from './plan.js'

type Built = Pick<StepPlan, 'policy' | 'onFailure'>

export class PolicyBook {
  private readonly defaults: Json | undefined
  private readonly breakers: Readonly<Record<string, BreakerInput>>
  private readonly known = new Map<string, Built>()

  constructor(defaults: Json | undefined, breakers: Readonly<Record<string, BreakerInput>>) {
    this.defaults = defaults
    this.breakers = breakers
  }

  /** `breakerKey`: of a breaker that the step has for itself. */
  of(step: Pick<StepData, 'retry' | 'attempt_timeout'>, breakerKey: string): Built {
    const { retry, attempt_timeout: attemptTimeout } = step
    const said = JSON.stringify([retry ?? null, attemptTimeout ?? null])
    const known = this.known.get(said)
    if (known !== undefined) return known
    const { defaults, breakers } = this
    const policy: PolicyInput = buildPolicy({ retry, defaults, attemptTimeout, breakers, breakerKey })
    const onFailure: FailureAction = buildFailureAction(retry, defaults)
    const built = { policy, onFailure }
    const isOwn = policy.breaker?.key === breakerKey
    if (!isOwn) this.known.set(said, built)
    return built
  }
}
