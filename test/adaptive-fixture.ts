/** An adaptive budget in a known state, with a clock that stands still until a test moves it. */
import type { AttemptOutcome, BudgetRequest, Decision } from '../packages/reprise/src/core/budget.js'
import {
  type AdaptiveBudget,
  type AdaptiveBudgetOptions,
  adaptiveBudget,
} from '../packages/reprise/src/core/budgets/index.js'

/** What the budget knows when a test begins. */
export interface Knowledge {
  /** Calls a second. */
  readonly rate?: number
  readonly waste?: number
  /** Share of answers that are fast; unknown unless it is given. */
  readonly fastShare?: number
  /** What retries are worth. */
  readonly worth?: number
}

export interface Details {
  readonly kind?: BudgetRequest['kind']
  readonly cost?: number
  readonly deadlineMs?: number
  readonly attemptTimeoutMs?: number
  readonly won?: boolean
}

export const START_MS = 1_000_000
/** The patience of a request without limits, and what is fast for it. */
export const PATIENCE_MS = 30_000
export const FAST_MS = PATIENCE_MS / 4
/** The random number that makes the jitter of a probe exactly 1. */
const even = (): number => 0.5

export function requestAt(now: number, attempt: number, details: Details = {}): BudgetRequest {
  const { kind = 'retry', cost = 1, deadlineMs = Infinity, attemptTimeoutMs } = details
  return { key: 'k', attempt, launch: attempt, kind, ref: { name: 'b', cost }, now, deadlineMs, attemptTimeoutMs }
}

export function stateAt(now: number, { rate = 1, waste = 5, fastShare, worth = 1 }: Knowledge = {}): object {
  const window = fastShare === undefined ? { fastShare: 1, spells: 0 } : { fastShare, spells: 8 }
  // As often as retries help, so that they are worth that much.
  const help = 0.6 * Math.sqrt(worth)
  return {
    waste,
    rate: { perSecond: rate, atMs: now },
    window,
    worth: { help: worth === 1 ? 1 : help, firsts: 1, late: 0, value: worth },
  }
}

export class AdaptiveFixture {
  readonly budget: AdaptiveBudget
  now = START_MS
  /** Names of the parked attempts that were woken, in order, and what they were woken with. */
  readonly woken: string[] = []
  readonly grants: Decision[] = []
  private readonly requests: BudgetRequest[] = []

  /** Restored, so it has no credit. */
  constructor(options?: AdaptiveBudgetOptions, knowledge?: Knowledge) {
    this.budget = adaptiveBudget(options)
    this.budget.restore(stateAt(this.now, knowledge))
  }

  get waste(): number {
    return this.budget.snapshot().waste
  }

  ask(attempt: number, details?: Details): Decision {
    return this.budget.allowAttempt(requestAt(this.now, attempt, details))
  }

  /** Asks for this many first attempts; how many of them may start. */
  firsts(count: number, details?: Details): number {
    return Array.from({ length: count }, () => this.ask(1, details)).filter(({ allowed }) => allowed).length
  }

  /** How many retries may start now. */
  retries(details?: Details): number {
    let count = 0
    while (this.ask(2, details).allowed) count++
    return count
  }

  /** An attempt ends that took this long. */
  end(attempt: number, result: AttemptOutcome['result'], latencyMs = 10, details?: Details): void {
    const outcome = { result, latencyMs, won: details?.won ?? result === 'success', now: this.now }
    this.budget.conclude(requestAt(this.now, attempt, details), outcome)
  }

  /** First attempts that start and succeed. */
  succeed(times = 1, latencyMs = 1, details?: Details): void {
    for (let i = 0; i < times; i++) {
      if (!this.ask(1, details).allowed) throw new Error('the first attempt was not allowed')
      this.end(1, 'success', latencyMs, details)
    }
  }

  /** A retry goes, by the credit of a first attempt that succeeds, and ends. */
  retry(result: AttemptOutcome['result'], latencyMs?: number, details?: Details): void {
    this.succeed()
    if (!this.ask(2, details).allowed) throw new Error('the retry was not allowed')
    this.end(2, result, latencyMs, details)
  }

  /** A grant is returned: its attempt was never made. */
  returnUnused(attempt: number, details?: Details): void {
    this.end(attempt, 'aborted', 0, details)
  }

  /** The grant of the attempt that was woken as the nth is not used. */
  returnGrant(index: number): void {
    const request = this.requests[index]
    if (request === undefined) throw new Error(`fewer than ${index + 1} attempts were woken`)
    this.budget.conclude(request, { result: 'aborted', latencyMs: 0, won: false, now: this.now })
  }

  /** Parks an attempt under a name; the result leaves the line. */
  park(name: string, attempt = 2, details?: Details): () => void {
    const request = requestAt(this.now, attempt, details)
    return this.budget.park(request, (grant) => {
      this.woken.push(name)
      this.grants.push(grant)
      this.requests.push(request)
    })
  }

  poll(random = even): void {
    this.budget.poll(this.now, random)
  }

  pass(ms: number): void {
    this.now += ms
  }
}
