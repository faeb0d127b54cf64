/**
 * What happened, second by second, and over all. Imports core and types.
 */
import type { BudgetRequest } from '../core/budget.js'
import { isFirstLaunch } from '../core/gate.js'
import type { Part } from './part.js'
import type { Scenario } from './scenario.js'

export class Tally {
  /** Calls that began in this second; by the second they began in, those that succeeded. */
  readonly calls: number[]
  readonly succeeded: number[]
  /** Attempts that began in this second, and successes of calls that came in it. */
  readonly attempts: number[]
  readonly useful: number[]
  /** While the fault went on, by exact time. */
  readonly fault = { calls: 0, succeeded: 0, attempts: 0, useful: 0 }
  /** The same, apart for what the fault hits and the rest. */
  readonly parts = {
    hit: { calls: 0, succeeded: 0, attempts: 0 },
    rest: { calls: 0, succeeded: 0, attempts: 0 },
  }
  firstAttempts = 0
  retries = 0
  retriesThatFailed = 0
  private readonly latenciesMs: number[] = []

  private readonly faultStartMs: number
  private readonly faultEndMs: number

  constructor({ faultStartMs, faultEndMs }: Scenario, endMs: number) {
    this.faultStartMs = faultStartMs
    this.faultEndMs = faultEndMs
    const seconds = (): number[] => Array.from({ length: Math.ceil(endMs / 1000) }, () => 0)
    this.calls = seconds()
    this.succeeded = seconds()
    this.attempts = seconds()
    this.useful = seconds()
  }

  callBegan(now: number, part: Part['name']): void {
    count(this.calls, now)
    if (this.inFault(now)) {
      this.fault.calls++
      this.parts[part].calls++
    }
  }

  attemptBegan(now: number, request: BudgetRequest, part: Part['name']): void {
    count(this.attempts, now)
    if (this.inFault(now)) {
      this.fault.attempts++
      this.parts[part].attempts++
    }
    if (isFirstLaunch(request)) this.firstAttempts++
    else this.retries++
  }

  attemptEnded(request: BudgetRequest, ok: boolean): void {
    if (!isFirstLaunch(request) && !ok) this.retriesThatFailed++
  }

  callEnded(startMs: number, now: number, ok: boolean, part: Part['name']): void {
    if (!ok) return
    count(this.succeeded, startMs)
    count(this.useful, now)
    if (this.inFault(startMs)) {
      this.fault.succeeded++
      this.parts[part].succeeded++
    }
    if (this.inFault(now)) this.fault.useful++
    this.latenciesMs.push(now - startMs)
  }

  private inFault(ms: number): boolean {
    return ms >= this.faultStartMs && ms < this.faultEndMs
  }

  /** Of the calls that succeeded. */
  latencyMs(): { readonly p50: number; readonly p99: number } {
    const sorted = Float64Array.from(this.latenciesMs).sort()
    const at = (percentile: number): number => sorted[Math.ceil((sorted.length * percentile) / 100) - 1] ?? 0
    return { p50: at(50), p99: at(99) }
  }
}

function count(seconds: number[], atMs: number): void {
  const second = Math.min(Math.floor(atMs / 1000), seconds.length - 1)
  seconds[second] = (seconds[second] as number) + 1
}
