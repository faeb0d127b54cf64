/**
 * One type for everything observed. Drivers emit these; metrics, traces and logs are made of nothing else.
 * Imports types of core only.
 */
import type { AttemptKind, AttemptResult, BreakerPhase, StopReason } from './words.js'

export interface EventBase {
  readonly timeMs: number
  readonly key: string
  /** Identity of the call within its process; durable calls add the ids of task, scope, correlation and resume. */
  readonly callId: number
  readonly taskId?: string
  /** What the task's id is unique in: the tasks of one name (`task`), or the steps of one run (`run`). */
  readonly scopeKind?: 'task' | 'run'
  readonly scope?: string
  readonly correlationId?: string
  readonly resumeId?: string
  /** n of "attempt n/N": the attempt of the policy that the event belongs to, shared by a hedge. 0 before the first. */
  readonly attempt: number
  /** N of "attempt n/N". */
  readonly attempts: number
}

/** Of durable tasks only: what happens to them beside their attempts. */
export const TASK_EVENTS = ['resumed', 'interrupted', 'reset', 'dead_lettered', 'state_refused'] as const

/** `launch`, where there is one: 1, 2, 3 … over the retries and hedges of the call; of a durable task the attempt. */
export type RepriseEvent = EventBase &
  (
    | { readonly type: 'call_started' }
    | {
        readonly type: 'attempt_started'
        readonly launch: number
        readonly kind: AttemptKind
        readonly delayBeforeMs: number
        readonly parkedMs: number
      }
    | {
        readonly type: 'attempt_finished'
        readonly launch: number
        readonly kind: AttemptKind
        readonly outcome: Exclude<AttemptResult, 'denied'>
        readonly durationMs: number
        readonly won: boolean
        readonly error?: unknown
      }
    /** `attempt` is the attempt that failed, `nextAttempt` the one to come. */
    | { readonly type: 'waiting'; readonly delayMs: number; readonly nextAttempt: number; readonly error: unknown }
    | { readonly type: 'parked'; readonly launch: number; readonly budget: string }
    | {
        readonly type: 'budget_decision'
        readonly launch: number
        readonly kind: AttemptKind
        readonly budget: string
        readonly cost: number
        /** `gate`: asked at launch; `peek`: asked before the wait, nothing consumed; `grant`: handed out of the line. */
        readonly mode: 'gate' | 'peek' | 'grant'
        readonly allowed: boolean
        readonly reason: string
      }
    | { readonly type: 'hedge_started'; readonly launch: number }
    | { readonly type: 'hedge_cancelled'; readonly launch: number }
    | {
        readonly type: 'breaker_changed'
        readonly breaker: string
        readonly from: BreakerPhase
        readonly to: BreakerPhase
      }
    /** `attemptsMade`: attempts of the policy that were started. `launches`: starts of the operation, hedges included. */
    | {
        readonly type: 'call_succeeded'
        readonly attemptsMade: number
        readonly launches: number
        readonly totalDelayMs: number
        readonly elapsedMs: number
      }
    | {
        readonly type: 'call_failed'
        readonly stopReason: StopReason
        readonly budgetReason?: string | undefined
        readonly attemptsMade: number
        readonly launches: number
        readonly totalDelayMs: number
        readonly elapsedMs: number
        readonly error: unknown
      }
    // Of durable tasks only:
    /** Taken from a process that is gone, which may have left an attempt in flight. */
    | { readonly type: 'resumed'; readonly from: string }
    /** The attempt in flight will not be heard of: its process is gone, or was asked to stop (`orderly`). */
    | { readonly type: 'interrupted'; readonly launch: number; readonly execution: number; readonly orderly: boolean }
    /** A fresh set of attempts was granted. */
    | { readonly type: 'reset'; readonly generation: number }
    | { readonly type: 'dead_lettered'; readonly signature: string }
    /** What the ledger says of the task cannot be; it is left as it is. */
    | { readonly type: 'state_refused'; readonly faults: readonly string[] }
  )

export interface Observer {
  onEvent(event: RepriseEvent): void
}
