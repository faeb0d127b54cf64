/**
 * A call that always fails, taken through the library's own decisions: where it stops, and why.
 * One more driver of `decide`: it waits by adding to a number. Imports the library.
 */
import type { Policy, StopReason } from 'reprise'
import { advance, Breaker, decide, initialState } from 'reprise/core'

export interface Walk {
  readonly attempts: number
  readonly reason: StopReason
  /** Sum of the waits. */
  readonly waitedMs: number
  /** When, from the start of the call. */
  readonly endedAtMs: number
}

const FAILURE = { type: 'failure', retryable: true, retryAfterMs: undefined } as const

/** `chance` is what every draw gives, `attemptMs` how long every attempt takes. */
export function walk(policy: Policy, chance: number, attemptMs = 0): Walk {
  const state = initialState(policy.timeoutMs ?? null)
  const breaker = policy.breaker && new Breaker('', policy.breaker)
  let now = 0
  for (let attempts = 1; ; attempts++) {
    const epoch = breaker?.admit(now) ?? 0
    now = Math.min(now + attemptMs, state.deadlineAtMs ?? Infinity)
    breaker?.failure(epoch, now)
    const verdict = decide(policy, state, FAILURE, now, () => chance, { breaker })
    if (verdict.type !== 'retry') {
      const reason = verdict.type === 'stop' ? verdict.reason : 'attempts_exhausted'
      return { attempts, reason, waitedMs: state.totalDelayMs, endedAtMs: now }
    }
    advance(state, verdict)
    now = verdict.dueAtMs
  }
}

/** The draw that leaves a delay as the strategy gives it; what `delayAfter` answers without chance. */
export function plainChance(policy: Policy): number {
  return policy.jitter === 'proportional' ? 0.5 : 1
}
