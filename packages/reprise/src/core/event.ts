/**
 * One type for everything observed. Drivers emit these; metrics, traces and logs are made of nothing else.
 * Imports types of core only.
 */
import type { AttemptKind, AttemptResult, BreakerPhase, StopReason } from './words.js'

export interface EventBase {
  readonly timeMs: number
  readonly key: string
  /** Identity of the call within its process; durable calls add the ids of task, run, correlation and resume. */
  readonly callId: number
  readonly taskId?: string
  readonly runId?: string
  readonly correlationId?: string
  readonly resumeId?: string
  /** n of "attempt n/N": the group the event belongs to. 0 before the first. */
  readonly attempt: number
  /** N of "attempt n/N". */
  readonly attempts: number
}

export type RepriseEvent = EventBase &
  (
    | { readonly type: 'call_started' }
    | {
        readonly type: 'attempt_started'
        readonly number: number
        readonly kind: AttemptKind
        readonly delayBeforeMs: number
        readonly parkedMs: number
      }
    | {
        readonly type: 'attempt_finished'
        readonly number: number
        readonly kind: AttemptKind
        readonly outcome: Exclude<AttemptResult, 'denied'>
        readonly durationMs: number
        readonly won: boolean
        readonly error?: unknown
      }
    /** `attempt` is the attempt that failed, `nextAttempt` the one to come. */
    | { readonly type: 'waiting'; readonly delayMs: number; readonly nextAttempt: number; readonly error: unknown }
    | { readonly type: 'parked'; readonly number: number; readonly budget: string }
    | {
        readonly type: 'budget_decision'
        readonly number: number
        readonly kind: AttemptKind
        readonly budget: string
        readonly cost: number
        /** `gate`: asked at launch; `peek`: asked before the wait, nothing consumed; `grant`: handed out of the line. */
        readonly mode: 'gate' | 'peek' | 'grant'
        readonly allowed: boolean
        readonly reason: string
      }
    | { readonly type: 'hedge_started'; readonly number: number }
    | { readonly type: 'hedge_cancelled'; readonly number: number }
    | {
        readonly type: 'breaker_changed'
        readonly breaker: string
        readonly from: BreakerPhase
        readonly to: BreakerPhase
      }
    | {
        readonly type: 'call_succeeded'
        readonly attemptsMade: number
        readonly totalDelayMs: number
        readonly elapsedMs: number
      }
    | {
        readonly type: 'call_failed'
        readonly stopReason: StopReason
        readonly budgetReason?: string | undefined
        readonly attemptsMade: number
        readonly totalDelayMs: number
        readonly elapsedMs: number
        readonly error: unknown
      }
  )

export interface Observer {
  onEvent(event: RepriseEvent): void
}
