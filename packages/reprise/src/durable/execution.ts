/**
 * One execution of an operation: its context, its time limits, and how it ended as a value. After a limit the operation
 * is not waited for; its signal tells it. Imports core and types.
 */
import { AttemptTimeoutError, CallTimeoutError } from '../core/errors.js'
import type { Clock, Timer } from '../core/time.js'
import type { Json, TaskRecord } from '../ledger/records.js'
import type { Checkpoint } from './checkpoints.js'
import type { Definition } from './definition.js'
import { errorOf } from './failure-record.js'

/** What the function of a task is handed beside its input. `C`: what its checkpoints are. */
export interface DurableContext<C = Json> {
  /** 1..attempts of the policy; an attempt that was interrupted runs again under its number. */
  readonly attempt: number
  /** The same number: a durable task has no hedges. */
  readonly launch: number
  readonly kind: 'retry'
  /** The task's name. */
  readonly key: string
  /** Aborts when the attempt times out, the task is cancelled, or the process stops. */
  readonly signal: AbortSignal
  /** Until the whole task must have ended; undefined without a `timeout`. */
  readonly remainingMs?: number | undefined
  /** How the attempt before failed, as the ledger knows it. */
  readonly previousError?: Error | undefined
  /** The id of the task. */
  readonly taskId: string
  /** Grows with every reset of the task. */
  readonly generation: number
  /** The same for all attempts, resumes and resets of the task: hand it to what must not happen twice. */
  readonly idempotencyKey: string
  /** Joins its events, over processes and resets. */
  readonly correlationId: string
  /** Starts of this attempt: above 1, an earlier one was interrupted, and nobody knows how far it came. */
  readonly execution: number
  /** What an earlier execution of the task kept last; absent if none did. */
  readonly lastCheckpoint?: Checkpoint<C> | undefined
  /**
   * Keeps how far this execution has come, for the next one if there is any; the last value counts. At most 65 536 bytes
   * as JSON. Rejects with `task_lost` if the task is another process's by now.
   * @example
   * durable.task('import', { attempts: 5 }, async (file: string, context: DurableContext<number>) => {
   *   for (let line = context.lastCheckpoint?.value ?? 0; line < 10_000; line += 100) await context.checkpoint(line)
   *   return file
   * })
   */
  checkpoint(this: void, value: C): Promise<void>
}

export type ExecutionEnd =
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'attempt_timeout'; readonly error: unknown }
  /** `started`: false if the whole time had passed before the operation was called. */
  | { readonly type: 'call_timeout'; readonly error: unknown; readonly started: boolean }
  | { readonly type: 'stopped'; readonly started: boolean }

export interface Limits {
  readonly attemptTimeoutMs: number | undefined
  /** Until the whole call must have ended, from now. */
  readonly remainingMs: number | undefined
  /** Of the whole call: what its error names. */
  readonly timeoutMs: number | undefined
}

/** Only asked for microtasks: one promise serves all executions. */
const READY = Promise.resolve()

export class Execution {
  private readonly clock: Clock
  /** Made when somebody asks for the signal, since most operations do not. */
  private controller: AbortController | undefined = undefined
  private reason: { readonly reason: unknown } | undefined = undefined
  private timers: Timer[] | undefined = undefined
  private started = false
  private end: ExecutionEnd | undefined = undefined
  private onEnd: ((end: ExecutionEnd) => void) | undefined = undefined

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Whether it is known how it ended; its operation may still run. */
  get isOver(): boolean {
    return this.end !== undefined
  }

  /** Calls `listener` once, with how it ended: at once if that is known. */
  whenEnded(listener: (end: ExecutionEnd) => void): void {
    if (this.end === undefined) this.onEnd = listener
    else listener(this.end)
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.reason !== undefined) this.controller.abort(this.reason.reason)
    }
    return this.controller.signal
  }

  run(operation: () => unknown, key: string, attempt: number, limits: Limits): void {
    const { attemptTimeoutMs, remainingMs, timeoutMs } = limits
    this.started = true
    if (attemptTimeoutMs !== undefined) {
      this.limit(attemptTimeoutMs, () => ({
        type: 'attempt_timeout',
        error: new AttemptTimeoutError(key, attempt, attemptTimeoutMs),
      }))
    }
    if (remainingMs !== undefined) {
      this.limit(Math.max(0, remainingMs), () => ({
        type: 'call_timeout',
        error: new CallTimeoutError(key, timeoutMs ?? remainingMs),
        started: true,
      }))
    }
    // In a microtask: nothing of the operation runs before its caller has gone on.
    void READY.then(() => this.call(operation))
  }

  private call(operation: () => unknown): void {
    try {
      void Promise.resolve(operation()).then(
        (value) => this.finish({ type: 'value', value }),
        (error: unknown) => this.finish({ type: 'error', error }),
      )
    } catch (error) {
      this.finish({ type: 'error', error })
    }
  }

  /** The first end counts. */
  private finish(end: ExecutionEnd): void {
    if (this.end !== undefined) return
    this.end = end
    for (const timer of this.timers ?? []) this.clock.cancel(timer)
    this.onEnd?.(end)
  }

  /** The whole call was out of time before its operation was called. */
  expire(key: string, timeoutMs: number): void {
    const error = new CallTimeoutError(key, timeoutMs)
    this.abort(error)
    this.finish({ type: 'call_timeout', error, started: false })
  }

  /** An orderly stop: the operation is told, and not waited for. `started`: whether it has begun. */
  stop(reason: unknown, started = this.started): void {
    this.abort(reason)
    this.finish({ type: 'stopped', started })
  }

  private abort(reason: unknown): void {
    this.reason = { reason }
    this.controller?.abort(reason)
  }

  private limit(afterMs: number, end: () => Extract<ExecutionEnd, { error: unknown }>): void {
    const timer: Timer = {
      fire: () => {
        const how = end()
        this.abort(how.error)
        this.finish(how)
      },
    }
    this.timers ??= []
    this.timers.push(timer)
    this.clock.schedule(timer, this.clock.monotonicMs() + afterMs)
  }
}

export function contextOf(
  { name, idempotencyScope }: Definition,
  task: TaskRecord,
  signal: () => AbortSignal,
  remainingMs: number | undefined,
  checkpoint: (value: Json) => Promise<void>,
): DurableContext {
  const { current, retry, lastFailure } = task.progress
  const attempt = current?.attempt ?? retry.launched
  let previousError: Error | undefined
  return {
    attempt,
    launch: attempt,
    kind: 'retry',
    key: name,
    get signal() {
      return signal()
    },
    remainingMs,
    // Made when it is read: an error has a stack, and most operations do not look at it.
    get previousError() {
      return (previousError ??= errorOf(lastFailure))
    },
    taskId: task.id,
    generation: task.generation,
    idempotencyKey: `${idempotencyScope ?? task.scope}/${task.id}`,
    correlationId: task.correlationId,
    execution: current?.execution ?? 1,
    checkpoint,
  }
}
