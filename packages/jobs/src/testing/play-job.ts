/**
 * A job played by the rules alone, in virtual time, for tests: every workflow fails as often as the script says, every retry
 * waits one second, every attempt takes one second, and all workflows of a datacenter run at once. No ledger, no process.
 * Imports the rules.
 */
import { effectiveSettings, type EffectiveSettings } from '../rules/clamp.js'
import { type Completion, type DatacenterStanding, evaluateCompletion, type Waiting } from '../rules/completion.js'
import { datacenterEnd, type WorkflowCounts } from '../rules/datacenter-end.js'
import { type JobRequest, readJobRequest } from '../rules/job-request.js'
import { type DatacenterReport, jobResult, type JobResult, type WorkflowResult } from '../rules/job-result.js'
import { DEFAULT_OPERATOR_SETTINGS, type OperatorSettings } from '../rules/operator-settings.js'
import { type Denial, grantRetry, newRetryBudget, type RetryBudgetState } from '../rules/retry-grant.js'

const ATTEMPT_MS = 1000
const BACKOFF_MS = 1000

export interface JobScript {
  /** As on the wire. */
  readonly job: Readonly<Record<string, unknown>>
  readonly operator?: OperatorSettings
  /** How often a workflow fails before it succeeds; Infinity: always. 0 where it is not named. */
  readonly failures?: Readonly<Record<string, number>>
  /** When a datacenter starts to work; Infinity: never. 0 where it is not named. */
  readonly startsAtMs?: Readonly<Record<string, number>>
}

export interface PlayedJob {
  readonly request: JobRequest
  readonly settings: EffectiveSettings
  readonly budget: RetryBudgetState
  readonly denials: readonly Denial[]
  readonly result: JobResult
}

interface Ask {
  readonly atMs: number
  readonly datacenter: string
  readonly workflow: string
  readonly attempt: number
}

/** Plays the job until it completes. */
export function playJob(script: JobScript): PlayedJob {
  return new JobPlay(script).play()
}

class JobPlay {
  private readonly script: JobScript
  private readonly request: JobRequest
  private readonly settings: EffectiveSettings
  private readonly denials: Denial[] = []
  private readonly results = new Map<string, WorkflowResult[]>()
  private readonly reports = new Map<string, DatacenterReport>()
  private asks: Ask[]
  private budget: RetryBudgetState

  constructor(script: JobScript) {
    this.script = script
    this.request = readJobRequest(script.job)
    this.settings = effectiveSettings(this.request, script.operator ?? DEFAULT_OPERATOR_SETTINGS).settings
    this.budget = newRetryBudget(this.settings.retryBudget)
    this.asks = this.request.datacenters.flatMap((datacenter) =>
      this.request.workflows.map(({ name }) => ({
        atMs: this.startOf(datacenter) + ATTEMPT_MS,
        datacenter,
        workflow: name,
        attempt: 1,
      })),
    )
  }

  play(): PlayedJob {
    for (;;) {
      this.asks.sort((a, b) => a.atMs - b.atMs)
      const ask = this.asks[0]
      const before = this.evaluate(0)
      const timerAtMs = before.kind === 'wait' ? (before.nextAtMs ?? Infinity) : 0
      const now = Math.min(timerAtMs, ask?.atMs ?? Infinity)
      if (now === Infinity) throw new Error('the job would wait for ever')
      if (ask !== undefined && ask.atMs === now) this.endAttempt(ask)
      const completion = this.evaluate(now)
      if (completion.kind === 'complete') return this.played(completion, now)
    }
  }

  private startOf(datacenter: string): number {
    return this.script.startsAtMs?.[datacenter] ?? 0
  }

  private evaluate(now: number): Completion | Waiting {
    const datacenters = this.request.datacenters.map((name): DatacenterStanding => {
      const { end = null, reportedAtMs = null } = this.reports.get(name) ?? {}
      return { name, end, reportedAtMs, hasLivingWorker: this.startOf(name) !== Infinity }
    })
    return evaluateCompletion({ settings: this.settings, submittedAtMs: 0, isCancelled: false, datacenters }, now)
  }

  private endAttempt(ask: Ask): void {
    this.asks = this.asks.filter((one) => one !== ask)
    const { workflow, attempt, atMs } = ask
    if (attempt > (this.script.failures?.[workflow] ?? 0)) return this.endWorkflow(ask, null)
    const answer = grantRetry(this.budget, { charged: attempt - 1, attempts: attempt }, this.settings, atMs, 0.5)
    if (answer.kind === 'granted') {
      this.budget = answer.budget
      this.asks.push({ ...ask, attempt: attempt + 1, atMs: atMs + BACKOFF_MS + ATTEMPT_MS })
    } else {
      this.denials.push(answer.denial)
      this.endWorkflow(ask, answer.denial)
    }
  }

  private endWorkflow({ datacenter, workflow, attempt, atMs }: Ask, denial: Denial | null): void {
    const result: WorkflowResult = {
      name: workflow,
      state: denial === null ? 'succeeded' : 'failed',
      attempts: attempt,
      retries: attempt - 1,
      startedAtMs: this.startOf(datacenter),
      endedAtMs: atMs,
      outputs: {},
      error: denial === null ? null : 'it failed',
      denied: denial?.reason ?? null,
    }
    const results = [...(this.results.get(datacenter) ?? []), result]
    this.results.set(datacenter, results)
    const report = reportOf(datacenter, this.request, results, atMs)
    if (report !== undefined) this.reports.set(datacenter, report)
  }

  private played(completion: Completion, completedAtMs: number): PlayedJob {
    const { request, settings, budget, denials } = this
    const record = { id: 'j', name: request.name, targets: request.datacenters, aggregate: request.aggregate, settings }
    const result = jobResult({ ...record, completion, submittedAtMs: 0, completedAtMs, version: 1 }, [
      ...this.reports.values(),
    ])
    return { request, settings, budget, denials, result }
  }
}

function reportOf(
  name: string,
  { workflows }: JobRequest,
  results: readonly WorkflowResult[],
  reportedAtMs: number,
): DatacenterReport | undefined {
  const succeeded = results.filter(({ state }) => state === 'succeeded').length
  const counts: WorkflowCounts = {
    total: workflows.length,
    succeeded,
    failed: results.length - succeeded,
    skipped: 0,
    cancelled: 0,
  }
  const end = datacenterEnd(counts)
  if (end === null) return undefined
  return { name, end, counts, reportedAtMs, isLate: false, isCounted: true, workflows: results }
}
