/**
 * The first attempt of a light call that asked nobody and has failed: a start, an end and an error are all there is to
 * know. Kept in ticks, since a call that waits should be small. Imports core's types and the runtime's parts.
 */
import type { AttemptRecord } from '../core/timeline.js'
import { Attempt } from './attempt.js'
import type { Past } from './history.js'
import type { Plan } from './plan.js'

export class PlainFailure implements Past {
  readonly error: unknown
  private readonly plan: Plan
  private readonly startTick: number
  private readonly endTick: number

  constructor(plan: Plan, startTick: number, error: unknown) {
    this.plan = plan
    this.startTick = startTick
    this.endTick = plan.environment.turnTick()
    this.error = error
  }

  get previous(): null {
    return null
  }

  get attempt(): 1 {
    return 1
  }

  get result(): 'failure' {
    return 'failure'
  }

  get startMs(): number {
    return this.plan.environment.msOf(this.startTick)
  }

  toRecord(): AttemptRecord {
    const { plan, result, startMs, endTick, error } = this
    const attempt = Attempt.over(plan, result, startMs, plan.environment.msOf(endTick))
    attempt.error = error
    return attempt.toRecord()
  }
}
