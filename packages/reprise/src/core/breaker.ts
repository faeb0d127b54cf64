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

/** A breaker as plain JSON: see `snapshot` and `restore`. */
export interface BreakerState {
  /** `closed` lets attempts through, `open` refuses them, `half_open` lets a few through as probes. */
  readonly phase: BreakerPhase
  /** Failures in a row, as far as they count towards opening. */
  readonly failures: number
  /** When an open breaker turns half-open, or a half-open one did; null when closed. */
  readonly openUntilMs: number | null
}

export type BreakerListener = (from: BreakerPhase, to: BreakerPhase) => void

const PHASES: readonly BreakerPhase[] = ['closed', 'open', 'half_open']

export const REFUSED = -1

/**
 * A circuit breaker. It opens after a number of failures in a row, and closes again after successful probes. Times are
 * arguments, on one scale of the caller's choice.
 */
export class Breaker {
  /** The name by which calls share it. */
  readonly key: string
  private readonly policy: BreakerPolicy
  readonly #onChange: BreakerListener | undefined
  protected current: BreakerPhase = 'closed'
  protected epoch = 0
  private failures = 0
  protected openUntilMs = 0
  /** When it was opened last; 0 if it never was. */
  protected openedAtMs = 0
  /** When an attempt that counts last failed; null if none has. */
  protected lastFailureAtMs: number | null = null
  protected probes = 0
  protected successes = 0

  /** `onChange` is called with the old and the new phase. */
  constructor(key: string, policy: BreakerPolicy, onChange?: BreakerListener) {
    this.key = key
    this.policy = policy
    this.#onChange = onChange
  }

  /**
   * The phase at `now`; an open breaker whose time has passed counts as half-open though nobody has asked yet.
   * @example breaker.phase(clock.monotonicMs()) // 'closed'
   */
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

  /**
   * Whether an attempt that became due at `atMs` would find the breaker still open.
   * @example if (breaker.refusesAt(clock.monotonicMs() + 500)) throw new Error('no use in waiting')
   */
  refusesAt(atMs: number): boolean {
    return this.current === 'open' && atMs < this.openUntilMs
  }

  /**
   * The epoch that the attempt belongs to, to be handed back with its result; -1 if the attempt is refused. In
   * half-open it takes one of the slots for probes.
   * @example
   * const epoch = breaker.admit(clock.monotonicMs())
   * if (epoch === -1) throw new Error('the breaker is open')
   */
  admit(now: number): number {
    if (this.current === 'closed') return this.epoch
    if (this.current === 'open') {
      if (now < this.openUntilMs) return REFUSED
      this.#enter('half_open')
    }
    if (this.probes >= this.policy.halfOpenMaxCalls) return REFUSED
    this.probes++
    return this.epoch
  }

  /**
   * Records that an admitted attempt succeeded. An attempt of an earlier epoch is not counted.
   * @example breaker.success(breaker.admit(clock.monotonicMs()))
   */
  success(epoch: number): void {
    if (epoch !== this.epoch) return
    if (this.current === 'closed') {
      this.failures = 0
      return
    }
    this.probes--
    this.successes++
    if (this.successes >= this.policy.halfOpenMaxCalls) this.#enter('closed')
  }

  /**
   * Records that an admitted attempt failed; opens the breaker at its threshold. An attempt of an earlier epoch is not
   * counted.
   * @example
   * const epoch = breaker.admit(clock.monotonicMs())
   * breaker.failure(epoch, clock.monotonicMs())
   */
  failure(epoch: number, now: number): void {
    if (epoch !== this.epoch) return
    this.failures++
    this.lastFailureAtMs = now
    if (this.current === 'half_open' || this.failures >= this.policy.failureThreshold) this.open(now)
  }

  /**
   * An admitted attempt ended without saying anything about the dependency: aborted, denied, lost a race.
   * @example breaker.giveBack(breaker.admit(clock.monotonicMs()))
   */
  giveBack(epoch: number): void {
    if (epoch === this.epoch && this.current === 'half_open') this.probes--
  }

  /**
   * Opens the breaker by hand, for its full recovery timeout.
   * @example executor.breaker('mail')?.open(clock.monotonicMs())
   */
  open(now: number): void {
    this.openedAtMs = now
    this.openUntilMs = now + this.policy.recoveryTimeoutMs
    this.#enter('open')
  }

  /** Closes the breaker by hand and forgets its failures. @example executor.breaker('mail')?.reset() */
  reset(): void {
    this.#enter('closed')
  }

  /** Its state as plain JSON. @example const kept = JSON.stringify(breaker.snapshot()) */
  snapshot(): BreakerState {
    return {
      phase: this.current,
      failures: this.failures,
      openUntilMs: this.current === 'closed' ? null : this.openUntilMs,
    }
  }

  /**
   * Takes over a snapshot. A half-open breaker comes back open with its time passed: probes of the past hold no slot of
   * the present. Throws a `BreakerStateError` if it is no snapshot.
   * @example breaker.restore({ phase: 'open', failures: 5, openUntilMs: clock.monotonicMs() + 10_000 })
   */
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
    this.#enter(phase === 'closed' ? 'closed' : 'open')
    this.failures = failures
  }

  /**
   * Whether it was made with these settings: calls with one key share one breaker, and the first decides.
   * @example
   * const settings = { key: 'mail', failureThreshold: 5, recoveryTimeoutMs: 30_000, halfOpenMaxCalls: 1 }
   * breaker.hasSettings(settings)
   */
  hasSettings(settings: BreakerPolicy): boolean {
    const { failureThreshold, recoveryTimeoutMs, halfOpenMaxCalls } = this.policy
    return (
      failureThreshold === settings.failureThreshold &&
      recoveryTimeoutMs === settings.recoveryTimeoutMs &&
      halfOpenMaxCalls === settings.halfOpenMaxCalls
    )
  }

  #enter(phase: BreakerPhase): void {
    const from = this.current
    this.current = phase
    this.epoch++
    this.probes = 0
    this.successes = 0
    if (phase !== 'open') this.failures = 0
    if (from !== phase) this.#onChange?.(from, phase)
  }
}
