/**
 * Turns the durable driver's events about the tasks of one run into the events of that run. Events about other runs are
 * ignored, since one driver may serve several. Imports the library and the run's events.
 *
 * Invariant: what is counted for a step is dropped when its end is told.
 */
import { normalizePolicy, type Observer, type RepriseEvent, type StopReason } from 'reprise'
import type { FailureRecord } from 'reprise/durable'
import { failureOf } from 'reprise/internal'
import { attemptsOf } from '../plan/attempts.js'
import { type Plan, type StepPlan, stepsOf } from '../plan/plan.js'
import type { StepState } from '../view/views.js'
import type { RunEvent } from './run-event.js'
import { fallbackId, fallbackName } from './step-task.js'

export type Listener = (event: RunEvent) => void

/** How a step ended, for those who watch. */
export interface StepEnd {
  readonly state: StepState
  readonly stopReason: StopReason | null
  readonly failure: FailureRecord | null
  readonly continued: boolean
}

interface Sums {
  readonly attempts: number
  readonly waitedMs: number
}

export class RunEvents implements Observer {
  private readonly run: string
  private readonly listener: Listener
  private readonly now: () => number
  private readonly steps: ReadonlyMap<string, StepPlan>
  /** Of tasks that have ended in this process, until their end is told. */
  private readonly sums = new Map<string, Sums>()
  private readonly waited = new Map<string, number>()
  /** How long the attempts of steps ran that have not ended; with those of earlier processes. */
  private readonly active = new Map<string, number>()

  constructor(run: string, plan: Plan, listener: Listener, now: () => number) {
    this.run = run
    this.listener = listener
    this.now = now
    this.steps = new Map(stepsOf(plan).map((step) => [step.id, step]))
  }

  /** What is recorded of the attempts of earlier processes. */
  recall(activeMs: ReadonlyMap<string, number>): void {
    for (const [step, ms] of activeMs) this.active.set(step, ms)
  }

  onEvent(event: RepriseEvent): void {
    const step = event.taskId ?? ''
    if (event.scope !== undefined && !(event.scopeKind === 'run' && event.scope === this.run)) return
    // What was interrupted by a kill is recorded, and recalled.
    if (event.type === 'attempt_finished' && event.outcome !== 'interrupted')
      this.active.set(step, (this.active.get(step) ?? 0) + event.durationMs)
    const told = this.toldOf(event, step)
    if (told !== undefined) this.listener(told)
  }

  finished({ id }: Pick<StepPlan, 'id'>, end: StepEnd): void {
    const { attempts, waitedMs } = this.sums.get(id) ?? { attempts: 0, waitedMs: 0 }
    const durationMs = this.active.get(id) ?? 0
    this.sums.delete(id)
    this.active.delete(id)
    this.waited.delete(id)
    const { state, stopReason, failure, continued } = end
    const base = this.base(id, attempts)
    this.listener({
      ...base,
      type: 'step_finished',
      state: state === 'succeeded' && attempts > 1 ? 'recovered' : state,
      durationMs,
      waitedMs,
      stopReason,
      failure,
      continued,
    })
  }

  skipped({ id }: Pick<StepPlan, 'id'>, reason: string): void {
    this.listener({ ...this.base(id, 0), type: 'step_skipped', reason })
  }

  fallback(step: StepPlan): void {
    const fallback = { id: fallbackId(step), name: fallbackName(step) }
    this.listener({ ...this.base(step.id, 0), type: 'fallback_started', fallback })
  }

  output(step: string, attempt: number, line: string): void {
    this.listener({ ...this.base(step, attempt), type: 'output', line })
  }

  private base(
    step: string,
    attempt: number,
  ): { timeMs: number; run: string; step: string; attempt: number; attempts: number } {
    return { timeMs: this.now(), run: this.run, step, attempt, attempts: this.allowed(step) }
  }

  /** A fallback, which is no step of the plan, runs once. */
  private allowed(step: string): number {
    const plan = this.steps.get(step)
    return plan === undefined ? 1 : attemptsOf(plan)
  }

  private toldOf(event: RepriseEvent, step: string): RunEvent | undefined {
    const { timeMs, attempt, attempts } = event
    const base = { timeMs, run: this.run, step, attempt, attempts }
    switch (event.type) {
      case 'attempt_started':
        return { ...base, type: 'attempt_started' }
      case 'attempt_finished':
        if (event.outcome !== 'failure' && event.outcome !== 'timeout') return undefined
        return {
          ...base,
          type: 'attempt_failed',
          durationMs: event.durationMs,
          failure: failureOf(event.error),
          timedOut: event.outcome === 'timeout',
        }
      case 'waiting':
        return this.waiting(event, base)
      case 'parked':
        return { ...base, type: 'parked', budget: event.budget }
      case 'budget_decision':
        if (event.allowed) return undefined
        return { type: 'budget_denied', timeMs, run: this.run, step, budget: event.budget, reason: event.reason }
      case 'breaker_changed':
        return {
          type: 'breaker_changed',
          timeMs,
          run: this.run,
          breaker: event.breaker,
          from: event.from,
          to: event.to,
        }
      case 'store_away':
        return { type: 'store_away', timeMs, run: this.run, store: event.store, reason: event.reason }
      case 'store_back':
        return { type: 'store_back', timeMs, run: this.run, store: event.store, awayMs: event.awayMs }
      case 'call_succeeded':
      case 'call_failed': {
        this.sums.set(step, { attempts: event.attemptsMade, waitedMs: event.totalDelayMs })
        return undefined
      }
      default:
        return undefined
    }
  }

  private timeBudgetOf(step: string): number | null {
    const policy = this.steps.get(step)?.policy
    return policy === undefined ? null : (normalizePolicy(policy).policy.retryBudgetMs ?? null)
  }

  private waiting(
    event: Extract<RepriseEvent, { type: 'waiting' }>,
    base: { timeMs: number; run: string; step: string; attempts: number },
  ): RunEvent {
    const { delayMs, nextAttempt } = event
    const waitedMs = (this.waited.get(base.step) ?? 0) + delayMs
    this.waited.set(base.step, waitedMs)
    return {
      ...base,
      type: 'waiting',
      attempt: nextAttempt,
      delayMs,
      nextAttemptAtMs: event.timeMs + delayMs,
      waitedMs,
      retryBudgetMs: this.timeBudgetOf(base.step),
      failure: event.error === undefined ? null : failureOf(event.error),
    }
  }
}
