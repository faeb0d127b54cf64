/**
 * What a retry of a workflow costs, as the allotment that the durable driver asks: in the transaction of the failure, or,
 * for a parked workflow, in that of the start. Imports the rules, the records and the library's types.
 */
import type { GateRecord, Json, Ledger, TaskRecord } from 'reprise/durable'
import { type AllotmentRule, type Charge, type ChargeRequest, fingerprint } from 'reprise/internal'
import { budgetOf, withBudgetState } from '../record/budget-record.js'
import { jobOf } from '../record/job-record.js'
import { datacenterRun } from '../record/names.js'
import { workflowInputOf } from '../record/workflow-record.js'
import { askAgain, type Denial, grantRetry } from '../rules/retry-grant.js'
import { restoreBudget } from './restore-budget.js'

export function budgetRule(ledger: Ledger): AllotmentRule {
  return {
    key: (task) => workflowInputOf(task).budget,
    charge: chargeRetry,
    restore: (task) => restoreBudget(ledger, task),
    survey: (task) => runningAttempts(ledger, task),
  }
}

function chargeRetry(gate: GateRecord | undefined, { task, now, surveyed }: ChargeRequest): Charge {
  const { progress } = task
  const retries = { charged: progress.allotted ?? 0, attempts: progress.retry.launched }
  const draw = drawFor(task, now)
  if (gate === undefined) {
    const limits = { retryBudgetPerWorkflow: 0, maxDispatchAttempts: null, onBudgetExhausted: 'fail' } as const
    const answer = grantRetry(null, retries, limits, now, draw)
    return answer.kind === 'granted' ? { type: 'denied', reason: 'retry_budget_missing' } : denied(answer.denial, task)
  }
  const { state, limits } = budgetOf(gate)
  const answer =
    surveyed === undefined
      ? grantRetry(state, retries, limits, now, draw)
      : askAgain(state, typeof surveyed === 'number' ? surveyed : 0, now, draw)
  switch (answer.kind) {
    case 'granted':
      return { type: 'granted', gate: withBudgetState(gate, answer.budget) }
    case 'probe':
      return { type: 'granted', gate: withBudgetState(gate, answer.budget), isFree: true }
    case 'denied':
      return denied(answer.denial, task)
    case 'parked':
    case 'waits':
      return { type: 'postponed', waitMs: waitWithin(answer.dueAtMs - now, task, now) }
  }
}

function denied({ reason, used, total }: Denial, task: TaskRecord): Charge {
  return { type: 'denied', reason, denial: { reason, used, total, key: workflowInputOf(task).budget } }
}

/** No wait passes the timeout of the job. */
function waitWithin(waitMs: number, { progress }: TaskRecord, now: number): number {
  const { deadlineAtMs } = progress.retry
  const leftMs = deadlineAtMs === null ? Infinity : deadlineAtMs - now - 1
  return Math.max(1, Math.min(waitMs, leftMs))
}

/** From 0 to 1; the same for the same question, since a transaction may ask several times. */
function drawFor({ scope, id, progress }: TaskRecord, now: number): number {
  const text = fingerprint([scope, id, progress.retry.seed, progress.retry.launched, now])
  return Number.parseInt(text.slice(0, 8), 16) / 2 ** 32
}

/** Attempts of the whole job that run now. The first datacenter that has one is enough. */
async function runningAttempts(ledger: Ledger, task: TaskRecord): Promise<Json> {
  const { job } = workflowInputOf(task)
  const run = await ledger.run(job)
  if (run === undefined) return 0
  for (const datacenter of jobOf(run).detail.targets) {
    const { running = 0 } = await ledger.countTasks(datacenterRun(job, datacenter))
    if (running > 0) return running
  }
  return 0
}
