/** The group of a workflow's task: the rows that its end changes, and how. Pure. Imports the rules and the records. */
import type { GateRecord, TaskGroup, TaskRecord, View } from 'reprise/durable'
import { budgetOf, withBudgetState } from '../record/budget-record.js'
import { datacenterOf } from '../record/datacenter-record.js'
import { timerKey, workflowKey } from '../record/names.js'
import { workflowInputOf } from '../record/workflow-record.js'
import { afterSuccess } from '../rules/retry-grant.js'
import { followEnds } from './workflow-ends.js'

export const WORKFLOW_GROUP: TaskGroup = {
  // A retry changes only the budget, which the driver has charged.
  classes: ['succeeded', 'failed', 'cancelled'],
  keys: (task) => {
    const { job, datacenter, budget, changesBudget, downstream } = workflowInputOf(task)
    const others = downstream.map((name) => workflowKey(task.scope, name))
    const gates = changesBudget ? [budget] : []
    return { runs: [task.scope], gates, tasks: [...others, timerKey(job, 'report', datacenter)] }
  },
  follow: (view, { before, after }, now) => {
    const run = view.run(after.scope)
    // Removed with its job: nothing is counted any more.
    if (run === undefined) return {}
    const changes = followEnds(view, datacenterOf(run), [{ before, after }], now)
    const refunded = after.status === 'succeeded' ? refundOf(view, after) : undefined
    return refunded === undefined ? changes : { ...changes, gates: [refunded] }
  },
}

/** The budget as the success of the workflow leaves it; undefined if nothing changes. */
function refundOf(view: View, task: TaskRecord): GateRecord | undefined {
  const { budget, changesBudget } = workflowInputOf(task)
  const gate = changesBudget ? view.gate(budget) : undefined
  if (gate === undefined) return undefined
  const { state, limits } = budgetOf(gate)
  const { allotted = 0, retry } = task.progress
  const wasCharged = allotted > 0 && allotted >= retry.failures
  const after = afterSuccess(state, wasCharged, limits.retryBudgetCounts)
  return after.budget === state ? undefined : withBudgetState(gate, after.budget)
}
