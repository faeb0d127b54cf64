/**
 * The words that errors, timelines, events, metrics and ledgers share.
 * One spelling per concept, so that a grep for a reason finds every place that speaks of it. Imports nothing.
 */

/** Why a call ended without success. */
export const STOP_REASONS = [
  'attempts_exhausted',
  'retry_budget_exhausted',
  'not_retryable',
  'breaker_open',
  'budget_denied',
  'timeout',
  'aborted',
  'retry_after_too_long',
  'interrupted',
  'no_policy',
] as const

/** Why a call ended without success. */
export type StopReason = (typeof STOP_REASONS)[number]

/** `retry` is every attempt in sequence, the first included; `hedge` runs beside one. */
export const ATTEMPT_KINDS = ['retry', 'hedge'] as const

export type AttemptKind = (typeof ATTEMPT_KINDS)[number]

/** How one attempt ended. `denied` marks the record of an attempt that a budget did not let start. */
export const ATTEMPT_RESULTS = ['success', 'failure', 'timeout', 'aborted', 'interrupted', 'denied'] as const

export type AttemptResult = (typeof ATTEMPT_RESULTS)[number]

export type BreakerPhase = 'closed' | 'open' | 'half_open'

/** Reasons that budgets of this library give; a custom budget may use words of its own. */
export const BUDGET_REASONS = [
  'allowed',
  'no_budget',
  'budget_not_found',
  'budget_denied',
  'panic_in_budget',
  'park_expired',
] as const
