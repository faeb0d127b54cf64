/**
 * One attempt of the policy with its hedges: starts the copies when they are due and knows when the attempt is over.
 * The rules are in core/hedge; this only keeps the time and the launches. Imports core and the runtime's types.
 */
import { endsAttempt, type LaunchResult, nextHedgeAtMs, outweighs } from '../core/hedge.js'
import type { HedgePolicy } from '../core/policy.js'
import type { Timer } from '../core/time.js'
import type { Attempt } from './attempt.js'
import type { Call } from './call.js'
import type { Failed } from './call-record.js'
import type { WheelLinks } from './timer-wheel.js'

export class Race implements Timer, WheelLinks {
  wheelNext = undefined
  wheelPrev = undefined
  wheelDue = 0
  /** What decides the attempt so far, if nobody succeeds. */
  deciding: Failed | undefined = undefined
  held: LaunchResult | undefined = undefined
  /** The largest `Retry-After` of its launches. */
  retryAfterMs: number | undefined = undefined
  private readonly call: Call
  private readonly hedge: HedgePolicy
  private readonly startMs: number
  private readonly delayMs: number | undefined
  private asked = 0
  private over = false

  constructor(call: Call, hedge: HedgePolicy, primary: Attempt) {
    const { latency } = primary.plan
    this.call = call
    this.hedge = hedge
    this.startMs = primary.startMs
    this.delayMs = hedge.delayMs ?? latency?.percentile(hedge.percentile as number)
    this.scheduleNext()
  }

  /** The next hedge is due. */
  fire(): void {
    this.asked++
    this.call.launchHedge()
    if (!this.over) this.scheduleNext()
  }

  /** Whether the attempt is over with this launch, `running` others still going. */
  ended(result: LaunchResult, failed: Failed, retryAfterMs: number | undefined, running: number): boolean {
    if (outweighs(result, this.held)) {
      this.held = result
      this.deciding = failed
    }
    if (retryAfterMs !== undefined) this.retryAfterMs = Math.max(retryAfterMs, this.retryAfterMs ?? 0)
    if (!endsAttempt(this.hedge, result, running)) return false
    this.stop()
    return true
  }

  stop(): void {
    this.over = true
    this.call.plan.environment.cancel(this)
  }

  private scheduleNext(): void {
    const at = nextHedgeAtMs(this.hedge, this.startMs, this.asked, this.delayMs)
    if (at !== undefined) this.call.plan.environment.schedule(this, at)
  }
}
