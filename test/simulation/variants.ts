/**
 * Budgets that look as good as ours and are not: each leaves out or changes one part, and collapses where ours does not.
 * They show what the parts are for, and that the simulator can tell. Imports the budget's source, since the parts are
 * not for users to replace.
 */
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from 'reprise'
import type { Subject } from 'reprise/simulate'
import { AdaptiveBudget, type AdaptiveBudgetOptions } from '../../packages/reprise/src/core/budgets/adaptive.js'
import { Bulkhead } from '../../packages/reprise/src/core/budgets/bulkhead.js'
import { LatencyFloor } from '../../packages/reprise/src/core/budgets/latency-floor.js'
import { ADAPTIVE } from './subjects.js'

/** Every success, early or late, lets half a retry go; there is nothing else. */
export class HalfARetryPerSuccess implements Budget {
  private readonly line = new Set<(grant: Decision) => void>()
  private credit = 0

  allowAttempt(request: BudgetRequest): Decision {
    if (request.attempt === 1) return { allowed: true, reason: 'allowed' }
    if (this.credit < 1) return { allowed: false, reason: 'no_credit' }
    this.credit--
    return { allowed: true, reason: 'allowed' }
  }

  settle(_request: BudgetRequest, outcome: AttemptOutcome): void {
    if (outcome.result === 'success') this.credit += 0.5
    for (const wake of this.line) {
      if (this.credit < 1) return
      this.credit--
      this.line.delete(wake)
      wake({ allowed: true, reason: 'allowed' })
    }
  }

  park(_request: BudgetRequest, wake: (grant: Decision) => void): () => void {
    this.line.add(wake)
    return () => void this.line.delete(wake)
  }
}

/** A success mints credit however late it came. */
export class NoLatencyGate extends AdaptiveBudget {
  protected override creditFor(): number {
    return 1
  }
}

/** The floor is what the last seconds took: a slow server raises it. */
class LatestLatency extends LatencyFloor {
  override get ms(): number | undefined {
    return this.snapshot().at(-1)
  }
}

export class FloorThatFollows extends AdaptiveBudget {
  constructor(options?: AdaptiveBudgetOptions) {
    super(options)
    this.floor = new LatestLatency()
  }
}

const WINDOW_MS = 120_000

/** The floor forgets by the clock: an outage as long as its window leaves nothing of it. */
class RecentFloor extends LatencyFloor {
  private recent = new LatencyFloor()
  private lastMs = -Infinity

  override get ms(): number | undefined {
    return this.recent.ms
  }

  override add(latencyMs: number, now: number): void {
    if (now - this.lastMs > WINDOW_MS) this.recent = new LatencyFloor()
    this.lastMs = now
    this.recent.add(latencyMs, now)
  }
}

export class FloorThatForgets extends AdaptiveBudget {
  constructor(options?: AdaptiveBudgetOptions) {
    super(options)
    this.floor = new RecentFloor()
  }
}

/** The bulkhead is what rate and floor explain, whatever answers take. */
class StiffBulkhead extends Bulkhead {
  override answered(): number {
    return 0
  }
}

export class BulkheadThatNeverLearns extends AdaptiveBudget {
  constructor() {
    super({ bulkhead: true })
    this.bulkhead = new StiffBulkhead()
  }
}

export function withBudget(name: string, make: () => Budget): Subject {
  return { ...ADAPTIVE, name, budgets: { adaptive: make } }
}
