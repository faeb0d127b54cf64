/**
 * The circuit breaker: closed → open after consecutive failures → half-open once the recovery time has passed.
 * Half-open is computed from timestamps, so an open breaker needs no timer.
 *
 * Invariants: every admission returns the *epoch* it belongs to, and every result names it. A result of an earlier epoch
 * says nothing about the present one and is ignored, so a slow attempt from before an outage can neither close nor
 * reopen. An admission of the half-open epoch holds a slot until its result or `giveBack`. Imports core only.
 */
import { BreakerStateError } from './errors.js'
import type { BreakerPolicy } from './policy.js'
import type { BreakerPhase } from './words.js'

export interface BreakerState {
  readonly phase: BreakerPhase
  readonly failures: number
  /** When an open breaker turns half-open, or a half-open one did; null when closed. */
  readonly openUntilMs: number | null
}

export type BreakerListener = (from: BreakerPhase, to: BreakerPhase) => void

const PHASES: readonly BreakerPhase[] = ['closed', 'open', 'half_open']

export const REFUSED = -1

export class Breaker {
  readonly key: string
  private readonly policy: BreakerPolicy
  private readonly onChange: BreakerListener | undefined
  protected current: BreakerPhase = 'closed'
  protected epoch = 0
  private failures = 0
  private openUntilMs = 0
  protected probes = 0
  protected successes = 0

  constructor(key: string, policy: BreakerPolicy, onChange?: BreakerListener) {
    this.key = key
    this.policy = policy
    this.onChange = onChange
  }

  /** The phase at `now`; an open breaker whose time has passed counts as half-open though nobody has asked yet. */
  phase(now: number): BreakerPhase {
    return this.current === 'open' && now >= this.openUntilMs ? 'half_open' : this.current
  }

  /** Whether nothing but `closed` has to be remembered; then no clock need be read to admit. */
  get closed(): boolean {
    return this.current === 'closed'
  }

  /** Nothing is lost by forgetting a breaker that is idle. */
  get idle(): boolean {
    return this.current === 'closed' && this.failures === 0
  }

  /** Whether an attempt that became due at `atMs` would find the breaker still open. */
  refusesAt(atMs: number): boolean {
    return this.current === 'open' && atMs < this.openUntilMs
  }

  /** The epoch the attempt belongs to, or `REFUSED`. In half-open it takes a slot. */
  admit(now: number): number {
    if (this.current === 'closed') return this.epoch
    if (this.current === 'open') {
      if (now < this.openUntilMs) return REFUSED
      this.enter('half_open')
    }
    if (this.probes >= this.policy.halfOpenMaxCalls) return REFUSED
    this.probes++
    return this.epoch
  }

  success(epoch: number): void {
    if (epoch !== this.epoch) return
    if (this.current === 'closed') {
      this.failures = 0
      return
    }
    this.probes--
    this.successes++
    if (this.successes >= this.policy.halfOpenMaxCalls) this.enter('closed')
  }

  failure(epoch: number, now: number): void {
    if (epoch !== this.epoch) return
    this.failures++
    if (this.current === 'half_open' || this.failures >= this.policy.failureThreshold) this.open(now)
  }

  /** An admitted attempt ended without saying anything about the dependency: aborted, denied, lost a race. */
  giveBack(epoch: number): void {
    if (epoch === this.epoch && this.current === 'half_open') this.probes--
  }

  /** Opens by hand, for a full period. */
  open(now: number): void {
    this.openUntilMs = now + this.policy.recoveryTimeoutMs
    this.enter('open')
  }

  /** Closes by hand. */
  reset(): void {
    this.enter('closed')
  }

  snapshot(): BreakerState {
    return {
      phase: this.current,
      failures: this.failures,
      openUntilMs: this.current === 'closed' ? null : this.openUntilMs,
    }
  }

  /** A half-open breaker comes back open with its time passed: probes of the past hold no slot of the present. */
  restore(state: BreakerState): void {
    const { phase, failures, openUntilMs } = state
    if (
      !PHASES.includes(phase) ||
      !Number.isSafeInteger(failures) ||
      failures < 0 ||
      !Number.isFinite(openUntilMs ?? 0)
    ) {
      throw new BreakerStateError(this.key, state)
    }
    this.openUntilMs = openUntilMs ?? 0
    this.enter(phase === 'closed' ? 'closed' : 'open')
    this.failures = failures
  }

  /** Whether it was made with these settings: calls with one key share one breaker, and the first decides. */
  hasSettings(settings: BreakerPolicy): boolean {
    const { failureThreshold, recoveryTimeoutMs, halfOpenMaxCalls } = this.policy
    return (
      failureThreshold === settings.failureThreshold &&
      recoveryTimeoutMs === settings.recoveryTimeoutMs &&
      halfOpenMaxCalls === settings.halfOpenMaxCalls
    )
  }

  private enter(phase: BreakerPhase): void {
    const from = this.current
    this.current = phase
    this.epoch++
    this.probes = 0
    this.successes = 0
    if (phase !== 'open') this.failures = 0
    if (from !== phase) this.onChange?.(from, phase)
  }
}
