/**
 * What an operation is handed: which attempt it is, and a signal made only when somebody reads it.
 * An `AbortController` costs more than the rest of a call, and most operations never look. Imports types only.
 */
import type { AttemptKind } from '../core/words.js'
import type { Plan } from './plan.js'

/** What an operation is handed. */
export interface AttemptContext {
  /** 1..attempts of the policy. A hedge has the attempt of the launch that it copies. */
  readonly attempt: number
  /** 1, 2, 3 … over retries and hedges, in the order in which they were asked for. A denied launch uses its number up. */
  readonly launch: number
  /** `retry` for attempts in sequence, the first included; `hedge` for one that runs beside another. */
  readonly kind: AttemptKind
  /** The key of the call. */
  readonly key: string
  /** Aborts when the attempt times out, loses a race, or its call ends. */
  readonly signal: AbortSignal
  /** What the attempt before failed with. */
  readonly previousError?: unknown
  /** Until the whole call must have ended; undefined without a `timeout`. */
  readonly remainingMs?: number | undefined
}

/** The function that a call runs, once for each attempt. `T`: what it gives. */
export type Operation<T> = (context: AttemptContext) => T | PromiseLike<T>

/** Which launch of a call it is. */
export interface Launch {
  readonly attempt: number
  readonly launch: number
  readonly kind: AttemptKind
}

export const FIRST: Launch = Object.freeze({ attempt: 1, launch: 1, kind: 'retry' })

/** What knows when the call must have ended. */
export interface Limited {
  /** Null: there is no limit. */
  readonly deadlineAtMs: number | null
}

class Aborted {
  readonly reason: unknown

  constructor(reason: unknown) {
    this.reason = reason
  }
}

export class Context implements AttemptContext {
  readonly attempt: number
  readonly launch: number
  readonly kind: AttemptKind
  readonly key: string
  readonly previousError: unknown
  readonly #plan: Plan
  readonly #limited: Limited | null
  #abort: AbortController | Aborted | undefined = undefined

  constructor(plan: Plan, launch: Launch, previousError: unknown, limited: Limited | null) {
    this.#plan = plan
    this.key = plan.key
    this.attempt = launch.attempt
    this.launch = launch.launch
    this.kind = launch.kind
    this.previousError = previousError
    this.#limited = limited
  }

  get signal(): AbortSignal {
    if (this.#abort instanceof AbortController) return this.#abort.signal
    const controller = new AbortController()
    if (this.#abort !== undefined) controller.abort(this.#abort.reason)
    this.#abort = controller
    return controller.signal
  }

  get remainingMs(): number | undefined {
    const deadlineAtMs = this.#limited?.deadlineAtMs ?? null
    return deadlineAtMs === null ? undefined : Math.max(0, deadlineAtMs - this.#plan.environment.exactMs())
  }

  /** Not a method: an operation cannot abort itself through what it is handed. */
  static abort(context: Context, reason: unknown): void {
    if (context.#abort instanceof AbortController) context.#abort.abort(reason)
    else context.#abort ??= new Aborted(reason)
  }
}

/** Runs the operation; what it throws is a rejection like any other. */
export function outcomeOf(operation: Operation<unknown>, context: AttemptContext): Promise<unknown> {
  try {
    return Promise.resolve(operation(context))
  } catch (error) {
    return Promise.reject(error)
  }
}
