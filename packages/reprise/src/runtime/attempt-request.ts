/**
 * What a budget is told of an attempt: the fields of the contract and nothing of the runtime. Imports core and types.
 */
import type { BudgetRequest } from '../core/budget.js'
import type { BudgetRef, Policy } from '../core/policy.js'
import type { AttemptKind } from '../core/words.js'
import type { Launch } from './context.js'
import type { Environment } from './environment.js'

export class AttemptRequest implements BudgetRequest {
  readonly key: string
  readonly attempt: number
  readonly launch: number
  readonly kind: AttemptKind
  readonly ref: BudgetRef
  readonly attemptTimeoutMs: number | undefined
  readonly #environment: Environment
  /** `NaN` for a call that has not begun: its deadline counts from now. */
  #deadlineMs: number
  readonly #timeoutMs: number

  constructor(
    environment: Environment,
    policy: Policy,
    key: string,
    { attempt, launch, kind }: Launch,
    ref: BudgetRef,
    deadlineMs: number | undefined,
  ) {
    this.key = key
    this.attempt = attempt
    this.launch = launch
    this.kind = kind
    this.ref = ref
    this.attemptTimeoutMs = policy.attemptTimeoutMs
    this.#environment = environment
    this.#deadlineMs = deadlineMs ?? NaN
    this.#timeoutMs = policy.timeoutMs ?? Infinity
  }

  get now(): number {
    return this.#environment.nowMs()
  }

  get deadlineMs(): number {
    if (this.#deadlineMs === this.#deadlineMs) return this.#deadlineMs
    return this.#timeoutMs === Infinity ? Infinity : this.now + this.#timeoutMs
  }

  /** Makes it the request of a call with this deadline. */
  until(deadlineMs: number): this {
    this.#deadlineMs = deadlineMs
    return this
  }

  toJSON(): BudgetRequest {
    const { key, attempt, launch, kind, ref, now, deadlineMs, attemptTimeoutMs } = this
    return { key, attempt, launch, kind, ref, now, deadlineMs, attemptTimeoutMs }
  }
}
