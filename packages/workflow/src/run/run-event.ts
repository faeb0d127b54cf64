/**
 * What is told of a run while it goes on, after the commit that made it true: for a live view, for lines in a pipe, and
 * as `--ndjson`. Imports types of the library only.
 */
import type { FailureRecord } from 'reprise/durable'
import type { StopReason } from 'reprise'
import type { RunState, RunTimes, StepState } from '../view/views.js'

export type RunEvent =
  | ({
      readonly type: 'run_started'
      readonly timeMs: number
      readonly run: string
      readonly name: string
      readonly steps: readonly { readonly id: string; readonly name: string; readonly state: StepState }[]
      /** How often it was resumed before, this time included. */
      readonly resumes: number
    } & RunTimes)
  | (StepBase & { readonly type: 'attempt_started' })
  | (StepBase & {
      readonly type: 'attempt_failed'
      readonly durationMs: number
      readonly failure: FailureRecord
      readonly timedOut: boolean
    })
  /** `attempt` is the one to come. */
  | (StepBase & {
      readonly type: 'waiting'
      readonly delayMs: number
      readonly nextAttemptAtMs: number
      readonly waitedMs: number
      readonly retryBudgetMs: number | null
      readonly failure: FailureRecord | null
    })
  | (StepBase & { readonly type: 'parked'; readonly budget: string })
  | (StepBase & {
      readonly type: 'step_finished'
      readonly state: StepState
      /** Of all its attempts together, also those of earlier processes. */
      readonly durationMs: number
      readonly waitedMs: number
      readonly stopReason: StopReason | null
      readonly failure: FailureRecord | null
      /** Whether the run goes on although it failed. */
      readonly continued: boolean
    })
  | (StepBase & { readonly type: 'step_skipped'; readonly reason: string })
  /** The step has failed, and this task stands in for it; what becomes of that is told under its own id. */
  | (StepBase & {
      readonly type: 'fallback_started'
      readonly fallback: { readonly id: string; readonly name: string }
    })
  | {
      readonly type: 'breaker_changed'
      readonly timeMs: number
      readonly run: string
      readonly breaker: string
      readonly from: string
      readonly to: string
    }
  | {
      readonly type: 'budget_denied'
      readonly timeMs: number
      readonly run: string
      readonly step: string
      readonly budget: string
      readonly reason: string
    }
  /** The last line that a step has said; not more often than a few times a second. */
  | (StepBase & { readonly type: 'output'; readonly line: string })
  | ({
      readonly type: 'run_finished'
      readonly timeMs: number
      readonly run: string
      readonly state: RunState
      readonly stopReason: StopReason | null
    } & RunTimes)

interface StepBase {
  readonly timeMs: number
  readonly run: string
  readonly step: string
  readonly attempt: number
  readonly attempts: number
}
