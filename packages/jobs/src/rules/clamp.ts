/**
 * From what a job requests to what it gets: the operator's defaults filled in, values above a limit lowered to it, and a
 * sentence for each value that was changed. The effective settings are kept with the job; a later change of the operator's
 * does not touch them. Pure. Imports the requests and settings.
 */
import { formatDuration } from 'reprise'
import type { JobRequest } from './job-request.js'
import type { LateResultPolicy, OperatorSettings } from './operator-settings.js'

/** What holds for a job, from its submission to its end. */
export interface EffectiveSettings {
  /** Retries of the job, or of each datacenter with `budgetScope: datacenter`. */
  readonly retryBudget: number
  /** Retries of one workflow at one datacenter. */
  readonly retryBudgetPerWorkflow: number
  /** Whether the job has one budget, or each datacenter one. */
  readonly budgetScope: 'job' | 'datacenter'
  /** Whether every retry counts, or only those that were wasted. */
  readonly retryBudgetCounts: 'all' | 'wasted'
  /** Whether a workflow fails or waits when the budget is used up. */
  readonly onBudgetExhausted: 'fail' | 'park'
  /** Attempts of one workflow at one datacenter; null: no ceiling of its own. */
  readonly maxDispatchAttempts: number | null
  /** After this time a datacenter of which no worker has claimed anything has failed; null: never. */
  readonly dispatchTimeoutMs: number | null
  /** Whether the job may complete without all its datacenters. */
  readonly bestEffort: boolean
  /** All targets where best effort is off. */
  readonly minDcs: number
  /** From the submission; null where best effort is off. */
  readonly deadlineMs: number | null
  /** How long the job waits for further datacenters once it has its minimum. */
  readonly settleMs: number
  /** Whether fewer datacenters than the minimum are no success. */
  readonly strictMinDcs: boolean
  /** Whether a datacenter with failures counts toward the minimum (`any`), or only one without (`all`). */
  readonly datacenterSuccess: 'any' | 'all'
  /** The job is over after this time; null: no limit. */
  readonly timeoutMs: number | null
  /** What a result means that arrives after the completion. */
  readonly lateResultPolicy: LateResultPolicy
  /** What becomes of datacenters that have not reported at the completion. */
  readonly stragglers: 'run' | 'cancel'
  /** The backstop of all timers. */
  readonly checkIntervalMs: number
}

/** A value that the job did not get as it was requested. */
export interface Clamp {
  /** As the wire spells it. */
  readonly field: string
  /** What was asked for. */
  readonly requested: number
  /** What the job got. */
  readonly effective: number
  /** For people: what was changed, and by which limit. */
  readonly sentence: string
}

/** The settings of a new job, and what was changed in them. */
export function effectiveSettings(
  request: JobRequest,
  operator: OperatorSettings,
): { readonly settings: EffectiveSettings; readonly clamps: readonly Clamp[] } {
  const clamps: Clamp[] = []
  const { bestEffort } = request
  const budgets = clampBudgets(request, operator, clamps)
  const deadlineMs = bestEffort ? clampDeadline(request.deadlineMs, operator, clamps) : null
  const settings: EffectiveSettings = {
    ...budgets,
    budgetScope: request.budgetScope,
    retryBudgetCounts: request.retryBudgetCounts,
    onBudgetExhausted: request.onBudgetExhausted,
    maxDispatchAttempts: request.maxDispatchAttempts,
    dispatchTimeoutMs: request.dispatchTimeoutMs,
    bestEffort,
    minDcs: bestEffort ? clampMinDcs(request, operator, clamps) : request.datacenters.length,
    deadlineMs,
    settleMs: deadlineMs === null ? request.settleMs : clampSettle(request.settleMs, deadlineMs, clamps),
    strictMinDcs: request.strictMinDcs,
    datacenterSuccess: request.datacenterSuccess,
    timeoutMs: request.timeoutMs,
    lateResultPolicy: request.lateResultPolicy ?? operator.lateResultPolicy,
    stragglers: request.stragglers,
    checkIntervalMs: operator.checkIntervalMs,
  }
  return { settings, clamps }
}

function clampBudgets(
  { allowsRetries, retryBudget, retryBudgetPerWorkflow }: JobRequest,
  operator: OperatorSettings,
  clamps: Clamp[],
): Pick<EffectiveSettings, 'retryBudget' | 'retryBudgetPerWorkflow'> {
  if (!allowsRetries) return { retryBudget: 0, retryBudgetPerWorkflow: 0 }
  const total = limited('retry_budget', retryBudget, operator.retryBudgetDefault, operator.retryBudgetMax, clamps)
  const field = 'retry_budget_per_workflow'
  const { retryBudgetPerWorkflowDefault: usual, retryBudgetPerWorkflowMax: most } = operator
  if (total >= most) {
    return { retryBudget: total, retryBudgetPerWorkflow: limited(field, retryBudgetPerWorkflow, usual, most, clamps) }
  }
  const cap = Math.min(retryBudgetPerWorkflow || usual, total)
  if (retryBudgetPerWorkflow > cap) {
    const sentence = `${field}: ${retryBudgetPerWorkflow} lowered to ${cap}, the retry budget of the whole job`
    clamps.push({ field, requested: retryBudgetPerWorkflow, effective: cap, sentence })
  }
  return { retryBudget: total, retryBudgetPerWorkflow: cap }
}

/** 0 is the default, and nothing exceeds the limit. */
function limited(field: string, requested: number, usual: number, most: number, clamps: Clamp[]): number {
  const effective = Math.min(requested || usual, most)
  if (requested > effective) {
    const sentence = `${field}: ${requested} lowered to ${effective}, the most that the operator allows`
    clamps.push({ field, requested, effective, sentence })
  }
  return effective
}

function clampMinDcs(
  { minDcs, datacenters }: JobRequest,
  { minDcsDefault }: OperatorSettings,
  clamps: Clamp[],
): number {
  const targets = datacenters.length
  const requested = minDcs || minDcsDefault
  if (requested <= targets) return requested
  const field = 'best_effort_min_dcs'
  const sentence = `${field}: ${requested} lowered to ${targets}, the number of datacenters`
  clamps.push({ field, requested, effective: targets, sentence })
  return targets
}

function clampDeadline(requestedMs: number, operator: OperatorSettings, clamps: Clamp[]): number {
  const { deadlineDefaultMs, deadlineMaxMs, checkIntervalMs } = operator
  if (requestedMs === 0) return deadlineDefaultMs
  const effectiveMs = Math.min(Math.max(requestedMs, checkIntervalMs), deadlineMaxMs)
  if (effectiveMs !== requestedMs) {
    const why = effectiveMs < requestedMs ? 'the most that the operator allows' : 'the interval of the checks'
    clamps.push(clampedTime('best_effort_deadline_seconds', requestedMs, effectiveMs, why))
  }
  return effectiveMs
}

function clampSettle(requestedMs: number, deadlineMs: number, clamps: Clamp[]): number {
  if (requestedMs <= deadlineMs) return requestedMs
  clamps.push(clampedTime('best_effort_settle_seconds', requestedMs, deadlineMs, 'the deadline'))
  return deadlineMs
}

function clampedTime(field: string, requestedMs: number, effectiveMs: number, why: string): Clamp {
  const verb = effectiveMs < requestedMs ? 'lowered' : 'raised'
  const sentence = `${field}: ${formatDuration(requestedMs)} ${verb} to ${formatDuration(effectiveMs)}, ${why}`
  return { field, requested: requestedMs / 1000, effective: effectiveMs / 1000, sentence }
}
