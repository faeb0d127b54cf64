/**
 * A result that arrives after its job has completed. The job's first completion keeps its time and reason; by policy the
 * late datacenter changes nothing, or its slot, the aggregates and the verdict. Pure. Imports completion.
 */
import type { EffectiveSettings } from './clamp.js'
import { type Completion, type DatacenterStanding, type JobOutcome, OUTCOMES, verdictOf } from './completion.js'

/** A job that has completed, as a late result finds it. */
export interface CompletedJob {
  readonly settings: EffectiveSettings
  readonly completion: Completion
  /** 1 at the completion, one more with every update. */
  readonly version: number
  /** As they count in the result now. */
  readonly datacenters: readonly DatacenterStanding[]
}

export type LateAnswer =
  /** The report is kept and retrievable, and the result stays as it is. */
  | { readonly kind: 'logged' }
  /** The datacenter counts from now on. */
  | { readonly kind: 'updated'; readonly completion: Completion; readonly version: number }

/**
 * `late`: the datacenter as it reports; it has not reported before (a second report is no report). Success never becomes
 * failure, and a job that was cancelled is never updated.
 */
export function acceptLateResult(job: CompletedJob, late: DatacenterStanding): LateAnswer {
  const { settings, completion, version } = job
  if (settings.lateResultPolicy === 'log_only' || completion.reason === 'cancelled') return { kind: 'logged' }
  const datacenters = job.datacenters.map((one) => (one.name === late.name ? late : one))
  const verdict = verdictOf({ settings, datacenters }, completion.reason)
  return {
    kind: 'updated',
    version: version + 1,
    completion: {
      ...completion,
      outcome: betterOf(completion.outcome, verdict.outcome),
      success: completion.success || verdict.success,
      minDcsMet: completion.minDcsMet || verdict.minDcsMet,
    },
  }
}

function betterOf(a: JobOutcome, b: JobOutcome): JobOutcome {
  return OUTCOMES.indexOf(a) <= OUTCOMES.indexOf(b) ? a : b
}
