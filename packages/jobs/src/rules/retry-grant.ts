/**
 * Whether a failed workflow may run again, what a success gives back, and when a parked workflow asks again.
 *
 * Invariants: pure; a denial changes no counter; `used = grants - refunds` and `0 <= used <= total + extra` after every
 * function here. Randomness is an argument: `draw` is a number from 0 to 1. Imports the settings.
 */
import type { EffectiveSettings } from './clamp.js'

/** The retry budget of a job, or of one datacenter of it. */
export interface RetryBudgetState {
  /** The limit. */
  readonly total: number
  /** Retries that count against the limit: grants minus refunds. */
  readonly used: number
  /** Retries granted, ever. */
  readonly grants: number
  /** Retries given back, ever. */
  readonly refunds: number
  /** The longest wait for the next probe of a parked workflow; doubles with each probe, reset by a success. */
  readonly probeIntervalMs: number
  /** When a parked workflow may be started as a probe; 0: at once. */
  readonly nextProbeAtMs: number
}

/** What a workflow has used, as kept with its task. */
export interface WorkflowRetries {
  /** Retries that were charged for it. Probes and refunds are not counted. */
  readonly charged: number
  /** Attempts that were made: first attempt, retries and probes. */
  readonly attempts: number
}

export const DENIAL_REASONS = [
  'job_budget_exhausted',
  'workflow_budget_exhausted',
  'dispatch_attempts_exhausted',
  'retry_budget_missing',
] as const

/** Which limit denied a retry. */
export type DenialReason = (typeof DENIAL_REASONS)[number]

/** Why a workflow does not run again, as kept with it. */
export interface Denial {
  readonly reason: DenialReason
  /** Of the count that said no. */
  readonly used: number
  readonly total: number
}

export type RetryAnswer =
  | { readonly kind: 'granted'; readonly budget: RetryBudgetState }
  | { readonly kind: 'denied'; readonly denial: Denial }
  /** Denied by the job's budget; the workflow waits and asks again. */
  | { readonly kind: 'parked'; readonly denial: Denial; readonly dueAtMs: number }

type Limits = Pick<EffectiveSettings, 'retryBudgetPerWorkflow' | 'maxDispatchAttempts' | 'onBudgetExhausted'>

const FIRST_PROBE_MS = 5_000
const LAST_PROBE_MS = 60_000
const SHORTEST_PARK_MS = 5_000
const LONGEST_PARK_MS = 60_000

/** The budget of a new job. */
export function newRetryBudget(total: number): RetryBudgetState {
  return { total, used: 0, grants: 0, refunds: 0, probeIntervalMs: FIRST_PROBE_MS, nextProbeAtMs: 0 }
}

/** A budget whose row is missing, from what its workflows were charged. What was refunded is not known any more. */
export function rebuiltRetryBudget(total: number, charges: readonly number[]): RetryBudgetState {
  const grants = charges.reduce((sum, charged) => sum + charged, 0)
  const refunds = Math.max(0, grants - total)
  return { ...newRetryBudget(total), used: grants - refunds, grants, refunds }
}

/**
 * Asked at the failure, before any backoff. The job's budget is asked first, then the workflow's, then the ceiling of
 * attempts; the first that says no is the reason. Parking applies to the job's budget alone: a workflow that another
 * limit would deny is not parked.
 */
export function grantRetry(
  budget: RetryBudgetState | null,
  workflow: WorkflowRetries,
  limits: Limits,
  now: number,
  draw: number,
): RetryAnswer {
  if (budget === null) return { kind: 'denied', denial: { reason: 'retry_budget_missing', used: 0, total: 0 } }
  const own = deniedByWorkflow(workflow, limits)
  if (budget.used >= budget.total) {
    const denial: Denial = { reason: 'job_budget_exhausted', used: budget.used, total: budget.total }
    if (limits.onBudgetExhausted === 'fail') return { kind: 'denied', denial }
    if (own !== undefined) return { kind: 'denied', denial: own }
    return { kind: 'parked', denial, dueAtMs: now + parkDelayMs(draw) }
  }
  if (own !== undefined) return { kind: 'denied', denial: own }
  return { kind: 'granted', budget: { ...budget, used: budget.used + 1, grants: budget.grants + 1 } }
}

function deniedByWorkflow({ charged, attempts }: WorkflowRetries, limits: Limits): Denial | undefined {
  const { retryBudgetPerWorkflow: cap, maxDispatchAttempts: ceiling } = limits
  if (charged >= cap) return { reason: 'workflow_budget_exhausted', used: charged, total: cap }
  if (ceiling !== null && attempts >= ceiling) {
    return { reason: 'dispatch_attempts_exhausted', used: attempts, total: ceiling }
  }
  return undefined
}

/** How long a parked workflow waits before it asks again: 5 to 60 s, spread so that not all ask at once. */
export function parkDelayMs(draw: number): number {
  return Math.round(SHORTEST_PARK_MS + draw * (LONGEST_PARK_MS - SHORTEST_PARK_MS))
}

export type ParkedAnswer =
  /** It runs as a retry, which is charged. */
  | { readonly kind: 'granted'; readonly budget: RetryBudgetState }
  /** It runs as a probe, which costs nothing. */
  | { readonly kind: 'probe'; readonly budget: RetryBudgetState }
  | { readonly kind: 'waits'; readonly dueAtMs: number }

/**
 * Asked in the transaction that would claim a parked workflow. `running`: attempts of the job that run now. Without any,
 * nothing could succeed and give something back, so one parked workflow is started as a probe.
 */
export function askAgain(budget: RetryBudgetState, running: number, now: number, draw: number): ParkedAnswer {
  if (budget.used < budget.total) {
    return { kind: 'granted', budget: { ...budget, used: budget.used + 1, grants: budget.grants + 1 } }
  }
  if (running > 0) return { kind: 'waits', dueAtMs: now + parkDelayMs(draw) }
  if (now < budget.nextProbeAtMs) return { kind: 'waits', dueAtMs: budget.nextProbeAtMs }
  // Between half the interval and all of it.
  const waitMs = Math.round(budget.probeIntervalMs * (0.5 + draw / 2))
  const probeIntervalMs = Math.min(budget.probeIntervalMs * 2, LAST_PROBE_MS)
  return { kind: 'probe', budget: { ...budget, probeIntervalMs, nextProbeAtMs: now + waitMs } }
}

/**
 * What the success of an attempt means for the budget. With `wasted` a retry that succeeded is given back, and with every
 * success one retry that was wasted: after an outage the retries that can be granted double with each round.
 */
export function afterSuccess(
  budget: RetryBudgetState,
  wasCharged: boolean,
  counts: EffectiveSettings['retryBudgetCounts'],
): { readonly budget: RetryBudgetState; readonly refunds: number } {
  const refunds = counts === 'wasted' ? Math.min(budget.used, wasCharged ? 2 : 1) : 0
  const isReset = budget.probeIntervalMs === FIRST_PROBE_MS && budget.nextProbeAtMs === 0
  if (refunds === 0 && isReset) return { budget, refunds }
  return {
    refunds,
    budget: {
      ...budget,
      used: budget.used - refunds,
      refunds: budget.refunds + refunds,
      probeIntervalMs: FIRST_PROBE_MS,
      nextProbeAtMs: 0,
    },
  }
}
