/**
 * A light call whose first attempt was refused: nothing but an error, and a timeline if somebody asks. Refusals come
 * by the thousand when things go wrong, so they cost little. Imports core and the runtime's parts.
 */
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
    const { key, policy, notes, breaker } = this.plan
    const { reason, decision } = this.stop
    const error = rejectionFor(reason, {
      key,
      policy,
      notes,
      totalDelayMs: 0,
      failure: null,
      attempt: 1,
      budgetReason: decision?.reason,
      breakerKey: breaker?.key,
    })
    rememberTimeline(error, this)
    return error as Error
  }

  timeline(): Timeline {
    const { key, policy, notes } = this.plan
    const { reason: stopReason, decision } = this.stop
    const history = decision === undefined ? null : this.denied()
    const budgetReason = decision?.reason
    const totals = { totalDelayMs: 0, elapsedMs: 0 }
    this.made ??= timelineFrom({ key, policy, notes, history, stopReason, budgetReason, ...totals })
    return this.made
  }

  private denied(): Attempt {
    const attempt = new Attempt(this.plan, null, 1, 1, 'retry')
    if (this.stop.decision !== undefined) attempt.decision = this.stop.decision
    attempt.startMs = this.plan.environment.msOf(this.tick)
    attempt.endMs = attempt.startMs
    attempt.result = 'denied'
    return attempt
  }
}
