/**
 * A policy turned back into what people write, so that some of its fields can be changed and the whole be read again.
 * Invariant: reading the result gives the same policy. Imports types of the library.
 */
import type { Policy, PolicyInput } from 'reprise'
import type { Backoff, HedgePolicy } from 'reprise/core'

export function policyInput(policy: Policy): PolicyInput {
  const { backoff, jitter, breaker, hedge, failIf: _, ...others } = policy
  return {
    ...written(others),
    backoff: writtenBackoff(backoff),
    jitter: jitter === 'none' ? false : jitter,
    ...(breaker !== undefined && { breaker: written(breaker) }),
    ...(hedge !== undefined && { hedge: writtenHedge(hedge) }),
  }
}

/** Without the unit, and without what is not set. */
function written(fields: object): Record<string, unknown> {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(set.map(([name, value]) => [name.replace(/Ms$/, ''), value]))
}

function writtenBackoff(backoff: Backoff): NonNullable<PolicyInput['backoff']> {
  return written(backoff) as unknown as NonNullable<PolicyInput['backoff']>
}

function writtenHedge({ budget, shareBudget, ...others }: HedgePolicy): NonNullable<PolicyInput['hedge']> {
  if (budget === undefined) return { ...written(others), ...(shareBudget && { budget: 'share' }) }
  return { ...written(others), budget: { ...budget, share: shareBudget } }
}
