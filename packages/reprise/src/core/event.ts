/**
 * One type for everything observed. Drivers emit these; metrics, traces and logs are made of nothing else.
 * Imports types of core only.
 */
import type { AttemptKind, AttemptResult, BreakerPhase, StopReason } from './words.js'

export interface EventBase {
  /** When it happened: milliseconds since the epoch. */
  readonly timeMs: number
  /** The key of the call, or the name of the task; empty for an event about the store. */
  readonly key: string
  /** Identity of the call within its process; durable calls add the ids of task, scope, correlation and resume. */
  readonly callId: number
  /** The id of the durable task; absent for other calls. */
  readonly taskId?: string
  /** What the task's id is unique in: the tasks of one name (`task`), or the steps of one run (`run`). */
  readonly scopeKind?: 'task' | 'run'
  /** The task's name, or the id of the run; absent for other calls. */
  readonly scope?: string
  /** Joins all events of one durable task, over processes and resets. */
  readonly correlationId?: string
  /** The resume that the task was continued by; absent if it was never resumed. */
  readonly resumeId?: string
  /** n of "attempt n/N": the attempt of the policy that the event belongs to, shared by a hedge. 0 before the first. */
  readonly attempt: number
  /** N of "attempt n/N". */
  readonly attempts: number
}

/** Of durable tasks only: what happens to them beside their attempts. */
export const TASK_EVENTS = [
  'resumed',
  'interrupted',
  'reset',
  'dead_lettered',
  'state_refused',
  'queue_held',
  'queue_released',
] as const

/** `launch`, where there is one: 1, 2, 3 … over the retries and hedges of the call; of a durable task the attempt. */
export type RepriseEvent = EventBase &
  (
    | { readonly type: 'call_started' }
    | {
        readonly type: 'attempt_started'
        /** 1, 2, 3 … over retries and hedges of the call. */
        readonly launch: number
        /** `retry` for attempts in sequence, the first included; `hedge` for one that runs beside another. */
        readonly kind: AttemptKind
        /** The wait before the attempt. */
        readonly delayBeforeMs: number
        /** The time in a budget's line before the attempt. */
        readonly parkedMs: number
      }
    | {
        readonly type: 'attempt_finished'
        /** 1, 2, 3 … over retries and hedges of the call. */
        readonly launch: number
        /** `retry` for attempts in sequence, the first included; `hedge` for one that runs beside another. */
        readonly kind: AttemptKind
        /** How the attempt ended. */
        readonly outcome: Exclude<AttemptResult, 'denied'>
        /** From the start of the attempt to its end. */
        readonly durationMs: number
        /** Whether the call's result is that of this launch. */
        readonly won: boolean
        /** What the attempt or the call failed with. */
        readonly error?: unknown
      }
    /** `attempt` is the attempt that failed, `nextAttempt` the one to come. */
    | {
        readonly type: 'waiting'
        /** The wait until the next attempt. */
        readonly delayMs: number
        /** The attempt that follows the wait. */
        readonly nextAttempt: number
        /** What the attempt or the call failed with. */
        readonly error: unknown
      }
    | {
        readonly type: 'parked'
        /** 1, 2, 3 … over retries and hedges of the call. */
        readonly launch: number
        /** The name of the budget. */
        readonly budget: string
      }
    | {
        readonly type: 'budget_decision'
        /** 1, 2, 3 … over retries and hedges of the call. */
        readonly launch: number
        /** `retry` for attempts in sequence, the first included; `hedge` for one that runs beside another. */
        readonly kind: AttemptKind
        /** The name of the budget. */
        readonly budget: string
        /** What the attempt costs in this budget. */
        readonly cost: number
        /** `gate`: asked at launch; `peek`: asked before the wait, nothing consumed; `grant`: handed out of the line. */
        readonly mode: 'gate' | 'peek' | 'grant'
        /** Whether the budget lets the attempt start. */
        readonly allowed: boolean
        /** The budget's word for its answer. */
        readonly reason: string
        /** What the budget threw, which counts as a denial; absent if it answered. */
        readonly error?: unknown
      }
    | {
        readonly type: 'hedge_started'
        /** 1, 2, 3 … over retries and hedges of the call. */
        readonly launch: number
      }
    | {
        readonly type: 'hedge_cancelled'
        /** 1, 2, 3 … over retries and hedges of the call. */
        readonly launch: number
      }
    | {
        readonly type: 'breaker_changed'
        /** The key of the breaker. */
        readonly breaker: string
        /** The phase before. */
        readonly from: BreakerPhase
        /** The phase after. */
        readonly to: BreakerPhase
      }
    /** `attemptsMade`: attempts of the policy that were started. `launches`: starts of the operation, hedges included. */
    | {
        readonly type: 'call_succeeded'
        /** Attempts of the policy that were started. */
        readonly attemptsMade: number
        /** Starts of the operation, hedges included. */
        readonly launches: number
        /** The sum of all waits between attempts. */
        readonly totalDelayMs: number
        /** From the start of the call to its end. */
        readonly elapsedMs: number
      }
    | {
        readonly type: 'call_failed'
        /** Why the call ended. */
        readonly stopReason: StopReason
        /** The word of the budget that ended the call; absent if none did. */
        readonly budgetReason?: string | undefined
        /** Attempts of the policy that were started. */
        readonly attemptsMade: number
        /** Starts of the operation, hedges included. */
        readonly launches: number
        /** The sum of all waits between attempts. */
        readonly totalDelayMs: number
        /** From the start of the call to its end. */
        readonly elapsedMs: number
        /** What the attempt or the call failed with. */
        readonly error: unknown
      }
    // Of durable tasks only:
    /** Taken from a process that is gone, which may have left an attempt in flight. */
    | {
        readonly type: 'resumed'
        /** The id of the lost owner that the task was taken from. */
        readonly from: string
      }
    /** The attempt in flight will not be heard of: its process is gone, or was asked to stop (`orderly`). */
    | {
        readonly type: 'interrupted'
        /** 1, 2, 3 … over retries and hedges of the call. */
        readonly launch: number
        /** Starts of this attempt, the interrupted one included. */
        readonly execution: number
        /** Whether the process was asked to stop, rather than lost. */
        readonly orderly: boolean
      }
    /** A fresh set of attempts was granted. */
    | {
        readonly type: 'reset'
        /** The number of the fresh set of attempts. */
        readonly generation: number
      }
    | {
        readonly type: 'dead_lettered'
        /** The kind of failure, as it is counted. */
        readonly signature: string
      }
    /** What the ledger says of the task cannot be; it is left as it is. */
    | {
        readonly type: 'state_refused'
        /** What is inconsistent in the record, in sentences. */
        readonly faults: readonly string[]
      }
    /** `durable.resume` has looked at what earlier processes left. Of no task: its key is empty. */
    | {
        readonly type: 'restored'
        /** Tasks that were taken over from lost processes. */
        readonly resumed: number
        /** Tasks that waited for their next attempt. */
        readonly waiting: number
        /** Tasks of an older version that were given a retry state. */
        readonly migrated: number
        /** Tasks whose record cannot be. */
        readonly refused: number
        /** How long it took. */
        readonly elapsedMs: number
      }
    /** A gate denies tasks of this name, and they wait. Told once, however long it lasts. */
    | {
        readonly type: 'queue_held'
        /** The kind and the name of the gate: `breaker:mail`. */
        readonly gate: string
        /** The gate's word for it. */
        readonly reason: string
        /** How long until the gate allows an attempt by itself; absent where that is not known. */
        readonly waitMs?: number
      }
    /** Tasks of this name start again. */
    | {
        readonly type: 'queue_released'
        /** The gate that had held them. */
        readonly gate: string
      }
    // Of durable tasks, and of no single one: the key is empty.
    /** The store has not answered for some seconds; attempts go on to run, and what is to be recorded waits. */
    | {
        readonly type: 'store_away'
        /** Which store, without a password. */
        readonly store: string
        /** What the last question to it failed with. */
        readonly reason: string
      }
    /** The store answers again. */
    | {
        readonly type: 'store_back'
        /** Which store, without a password. */
        readonly store: string
        /** How long it had not answered. */
        readonly awayMs: number
      }
  )

/** Something that is told what happens. An error that it throws does not reach the call. */
export interface Observer {
  /**
   * Called synchronously with each event.
   * @example
   * const observer: Observer = { onEvent: (event) => console.log(event.type, event.key) }
   * const api = createExecutor({ observers: [observer] })
   */
  onEvent(event: RepriseEvent): void
}
