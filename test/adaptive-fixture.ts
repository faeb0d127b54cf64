/**
 * An adaptive budget in a known state and a time that stands still until it is moved: what the tests of the budget share.
 */
import type { AttemptOutcome, BudgetRequest, Decision } from '../packages/reprise/src/core/budget.js'
import {
  type AdaptiveBudget,
  type AdaptiveBudgetOptions,
  adaptiveBudget,
} from '../packages/reprise/src/core/budgets/index.js'

/** What the budget has learnt before the play begins. */
export interface Learnt {
  /** Calls a second. */
  readonly rate?: number
  readonly floorMs?: number
  readonly waste?: number
}

export interface Details {
  readonly kind?: BudgetRequest['kind']
  readonly cost?: number
  readonly deadlineMs?: number
  readonly attemptTimeoutMs?: number
}

export const START_MS = 1_000_000
/** Chance that makes the jitter of a probe exactly 1. */
export const even = (): number => 0.5

export function requestAt(now: number, attempt: number, details: Details = {}): BudgetRequest {
  const { kind = 'retry', cost = 1, deadlineMs = Infinity, attemptTimeoutMs } = details
  return { key: 'k', attempt, kind, ref: { name: 'b', cost }, now, deadlineMs, attemptTimeoutMs }
}

export class Play {
  readonly budget: AdaptiveBudget
  now = START_MS
  /** Who was woken, in order, and with what. */
  readonly woken: string[] = []
  readonly grants: Decision[] = []
  private readonly granted: (() => void)[] = []

  constructor(options?: AdaptiveBudgetOptions, { rate = 0, floorMs, waste = 5 }: Learnt = {}) {
    this.budget = adaptiveBudget(options)
    const latencies = floorMs === undefined ? [] : [floorMs]
    this.budget.restore({ waste, used: 0, latencies, rate: { perSecond: rate, atMs: this.now } })
  }

  get waste(): number {
    return this.budget.snapshot().waste
  }

  ask(attempt: number, details?: Details): Decision {
    return this.budget.allowAttempt(requestAt(this.now, attempt, details))
  }

  /** So many first attempts; how many of them may start. */
  firsts(count: number, details?: Details): number {
    return Array.from({ length: count }, () => this.ask(1, details)).filter(({ allowed }) => allowed).length
  }

  /** How many retries may start now. */
  retries(details?: Details): number {
    let count = 0
    while (this.ask(2, details).allowed) count++
    return count
  }

  end(attempt: number, result: AttemptOutcome['result'], latencyMs = 10, details?: Details): void {
    const outcome = { result, latencyMs, won: result === 'success', now: this.now }
    this.budget.settle(requestAt(this.now, attempt, details), outcome)
  }

  /** First attempts that succeed. They are not counted into the rate: others asked for them. */
  succeed(times = 1, latencyMs = 1, details?: Details): void {
    for (let i = 0; i < times; i++) this.end(1, 'success', latencyMs, details)
  }

  /** A launch that came to nothing: its attempt was never made. */
  handBack(attempt: number, details?: Details): void {
    this.end(attempt, 'aborted', 0, details)
  }

  /** Who was woken as the nth cannot use it any more. */
  handBackGrant(index: number): void {
    this.granted[index]?.()
  }

  /** Stands in line under a name; the result leaves it. */
  park(name: string, attempt = 2, details?: Details): () => void {
    const request = requestAt(this.now, attempt, details)
    return this.budget.park(request, (grant) => {
      this.woken.push(name)
      this.grants.push(grant)
      this.granted.push(() => {
        const outcome = { result: 'aborted', latencyMs: 0, won: false, now: this.now } as const
        if (grant.release === undefined) this.budget.settle(request, outcome)
        else grant.release(outcome)
      })
    })
  }

  poll(random = even): void {
    this.budget.poll(this.now, random)
  }

  pass(ms: number): void {
    this.now += ms
  }
}
