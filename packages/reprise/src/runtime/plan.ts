/**
 * A policy made ready for one key: what every call would otherwise find out again. Imports core and the environment.
 */
import type { Breaker } from '../core/breaker.js'
import { budgetRefs } from '../core/gate.js'
import type { LatencyHistogram } from '../core/latency.js'
import type { BudgetRef, Policy } from '../core/policy.js'
import type { AttemptKind } from '../core/words.js'
import type { Environment } from './environment.js'
import { FirstGates } from './first-gates.js'

export class Plan {
  readonly key: string
  readonly policy: Policy
  readonly notes: readonly string[]
  readonly environment: Environment
  readonly breaker: Breaker | undefined
  /** Latencies of attempts that succeeded; kept only where a hedge waits for a percentile. */
  readonly latency: LatencyHistogram | undefined
  /** Whether something is asked before an attempt. */
  readonly gated: boolean
  /** Whether an attempt or the call has a time limit. */
  readonly timed: boolean
  /** Whether no wait can be longer than nothing, `Retry-After` aside. */
  readonly waitless: boolean
  /** Whether the first attempt needs no race and no observer: then a call that succeeds at once makes no `Call`. */
  readonly light: boolean
  /** A light plan without gates and limits. */
  readonly bare: boolean
  /** The nearer of the two time limits, as a first attempt sees them; `Infinity` without one. */
  readonly firstLimitMs: number
  readonly firstGates: FirstGates
  /** The budgets that attempts ask, by their kind. */
  readonly refs: Readonly<Record<AttemptKind, readonly BudgetRef[]>>

  constructor(
    key: string,
    policy: Policy,
    notes: readonly string[],
    environment: Environment,
    breaker: Breaker | undefined,
    latency: LatencyHistogram | undefined,
  ) {
    this.key = key
    this.policy = policy
    this.notes = Object.freeze(notes)
    this.environment = environment
    this.breaker = breaker
    this.latency = latency
    this.gated = policy.budget !== undefined || breaker !== undefined
    this.timed = policy.attemptTimeoutMs !== undefined || policy.timeoutMs !== undefined
    this.waitless = policy.initialDelayMs === 0 && policy.backoff.type !== 'custom' && policy.backoff.type !== 'linear'
    this.light = !environment.observed && policy.hedge === undefined && policy.failIf === undefined
    this.bare = this.light && !this.gated && !this.timed
    this.firstLimitMs = Math.min(policy.attemptTimeoutMs ?? Infinity, policy.timeoutMs ?? Infinity)
    this.firstGates = new FirstGates(environment, key, policy, breaker)
    this.refs = { retry: budgetRefs(policy, 'retry'), hedge: budgetRefs(policy, 'hedge') }
  }
}
