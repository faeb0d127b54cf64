/**
 * A light call whose first attempt was refused: nothing but an error, and a timeline if somebody asks. Refusals come
 * by the thousand when things go wrong, so they cost little. Imports core and the runtime's parts.
 */
import type { Decision } from '../core/budget.js'
import type { Stop } from '../core/decide.js'
import type { Timeline } from '../core/timeline.js'
import { Attempt } from './attempt.js'
import { timelineFrom } from './history.js'
import type { Plan } from './plan.js'
import { rejectionFor, rememberTimeline, type TimelineSource } from './rejection.js'

export class FirstRefusal implements TimelineSource {
  private readonly plan: Plan
  private readonly stop: Stop
  private readonly tick: number
  private made: Timeline | undefined = undefined

  constructor(plan: Plan, stop: Stop) {
    this.plan = plan
    this.stop = stop
    this.tick = plan.environment.turnTick()
  }

  /** The error of the call, with the way back to its timeline. */
  rejection(): Error {
    const { reason, decision: denial } = this.stop
    const error = rejectionFor(reason, { plan: this.plan, totalDelayMs: 0, failure: null, attempt: 1, denial })
    rememberTimeline(error, this)
    return error as Error
  }

  timeline(): Timeline {
    const { plan } = this
    const { reason: stopReason, decision } = this.stop
    const history = decision === undefined ? null : this.denied(decision)
    const budgetReason = decision?.reason
    this.made ??= timelineFrom({ plan, history, stopReason, budgetReason, totalDelayMs: 0, elapsedMs: 0 })
    return this.made
  }

  private denied(decision: Decision): Attempt {
    const atMs = this.plan.environment.msOf(this.tick)
    const attempt = Attempt.over(this.plan, 'denied', atMs, atMs)
    attempt.decision = decision
    return attempt
  }
}
