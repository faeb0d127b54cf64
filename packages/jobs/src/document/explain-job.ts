/** What a job would do, before it is submitted: its settings with what was changed in them, and how it ends. Pure. */
import { formatDuration } from 'reprise'
import { type Clamp, effectiveSettings, type EffectiveSettings } from '../rules/clamp.js'
import type { JobRequest } from '../rules/job-request.js'
import type { OperatorSettings } from '../rules/operator-settings.js'

/** What a job would do. */
export interface JobExplanation {
  readonly name: string
  readonly datacenters: readonly string[]
  readonly workflows: readonly { readonly name: string; readonly runs: string; readonly needs: readonly string[] }[]
  readonly settings: EffectiveSettings
  readonly clamps: readonly Clamp[]
  /** First attempts: one for each workflow at each datacenter. */
  readonly firstAttempts: number
  /** The most that there can be, retries included; null: refunds or parked workflows can add more. */
  readonly mostAttempts: number | null
  /** How retries are limited and how the job ends, in sentences. */
  readonly sentences: readonly string[]
}

export function explainJob(request: JobRequest, operator: OperatorSettings): JobExplanation {
  const { settings, clamps } = effectiveSettings(request, operator)
  const { workflows, datacenters } = request
  const firstAttempts = workflows.length * datacenters.length
  const isBounded = settings.retryBudgetCounts === 'all' && settings.onBudgetExhausted === 'fail'
  const budgets = settings.budgetScope === 'job' ? 1 : datacenters.length
  const retries = Math.min(settings.retryBudget * budgets, settings.retryBudgetPerWorkflow * firstAttempts)
  return {
    name: request.name,
    datacenters,
    workflows: workflows.map(({ name, source, needs }) => ({
      name,
      runs: source.kind === 'handler' ? `handler ${source.handler}` : (source.file ?? 'its document'),
      needs,
    })),
    settings,
    clamps,
    firstAttempts,
    mostAttempts: isBounded ? firstAttempts + retries : null,
    sentences: [...budgetSentences(settings), ...endSentences(settings, datacenters.length)],
  }
}

function budgetSentences(settings: EffectiveSettings): string[] {
  const { retryBudget, retryBudgetPerWorkflow, budgetScope, onBudgetExhausted, retryBudgetCounts } = settings
  if (retryBudget === 0) return ['A workflow that fails is not retried.']
  const whose = budgetScope === 'job' ? 'over all datacenters' : 'at each datacenter'
  const then =
    onBudgetExhausted === 'fail'
      ? 'a workflow that fails after that has failed for good'
      : 'a workflow that fails after that waits until something is given back'
  return [
    `At most ${retryBudget} retries ${whose}, ${retryBudgetPerWorkflow} of one workflow at one datacenter: ${then}.`,
    ...(retryBudgetCounts === 'wasted' ? ['A retry that succeeds is given back.'] : []),
  ]
}

function endSentences(settings: EffectiveSettings, targets: number): string[] {
  const { bestEffort, minDcs, deadlineMs, settleMs, timeoutMs, strictMinDcs, stragglers } = settings
  const limit = timeoutMs === null ? [] : [`It ends without success after ${formatDuration(timeoutMs)}.`]
  if (!bestEffort || deadlineMs === null) {
    return [`It completes when all ${targets} datacenters have reported, and succeeds if nothing failed.`, ...limit]
  }
  const settling = settleMs === 0 ? 'at once' : `${formatDuration(settleMs)} later`
  const short = strictMinDcs ? 'without success if fewer have completed' : 'a success if any has completed'
  const rest = stragglers === 'run' ? 'go on in the background' : 'are cancelled'
  return [
    `It completes ${settling} when ${minDcs} of ${targets} datacenters have completed.`,
    `At the latest it completes after ${formatDuration(deadlineMs)} with what is there, ${short}.`,
    `Datacenters that it did not wait for ${rest}.`,
    ...limit,
  ]
}
