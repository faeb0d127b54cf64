/**
 * A policy turned back into what people write, so that some of its fields can be changed and the whole be read again.
 * Invariant: reading the result gives the same policy. Imports types of the library.
 */
import type { Policy, PolicyInput } from 'reprise'
import type { Backoff, HedgePolicy } from 'reprise/core'

export function policyInput(policy: Policy): PolicyInput {
  const { backoff, jitter, breaker, hedge, failIf: _, ...others } = policy
  return {
    ...withoutUnits(others),
    backoff: backoffInput(backoff),
    jitter: jitter === 'none' ? false : jitter,
    ...(breaker !== undefined && { breaker: withoutUnits(breaker) }),
    ...(hedge !== undefined && { hedge: hedgeInput(hedge) }),
  }
}

/** Without the unit, and without what is not set. */
function withoutUnits(fields: object): Record<string, unknown> {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(set.map(([name, value]) => [name.replace(/Ms$/, ''), value]))
}

function backoffInput(backoff: Backoff): NonNullable<PolicyInput['backoff']> {
  return withoutUnits(backoff) as unknown as NonNullable<PolicyInput['backoff']>
}

function hedgeInput({ budget, shareBudget, ...others }: HedgePolicy): NonNullable<PolicyInput['hedge']> {
  if (budget === undefined) return { ...withoutUnits(others), ...(shareBudget && { budget: 'share' }) }
  return { ...withoutUnits(others), budget: { ...budget, share: shareBudget } }
}
