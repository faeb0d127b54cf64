/** The tasks of a new job at a datacenter: one for each workflow. Pure. Imports the rules and the records. */
import type { PolicyInput } from 'reprise'
import type { NewTask } from 'reprise/durable'
import { defineQueue, queueTask } from 'reprise/internal'
import { budgetKey, datacenterRun, HELD_UNTIL_MS, isLargeJob } from '../record/names.js'
import { seedFor, workShape } from '../record/queue-shapes.js'
import { inputOfWorkflow } from '../record/workflow-record.js'
import type { EffectiveSettings } from '../rules/clamp.js'
import type { JobWorkflow } from '../rules/job-workflow.js'

/** What the workflows of a job need of each other, the same at every datacenter. */
export interface NeedsGraph {
  /** By workflow: those that need it. */
  readonly dependents: ReadonlyMap<string, readonly string[]>
  /** By workflow: all that cannot run without it. */
  readonly downstream: ReadonlyMap<string, readonly string[]>
  /** By workflow that needs others: how many. */
  readonly blocked: Readonly<Record<string, number>>
}

/** `workflows` have no circle. */
export function needsGraph(workflows: readonly JobWorkflow[]): NeedsGraph {
  const dependents = new Map<string, string[]>()
  for (const { name, needs } of workflows)
    for (const other of needs) dependents.set(other, [...(dependents.get(other) ?? []), name])
  const downstream = new Map(workflows.map(({ name }) => [name, reached(name, dependents)]))
  const waiting = workflows.filter(({ needs }) => needs.length > 0)
  return { dependents, downstream, blocked: Object.fromEntries(waiting.map(({ name, needs }) => [name, needs.length])) }
}

function reached(from: string, dependents: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const found = new Set<string>()
  const open = [...(dependents.get(from) ?? [])]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue
    found.add(name)
    open.push(...(dependents.get(name) ?? []))
  }
  return [...found]
}

export interface TasksInput {
  readonly job: string
  readonly datacenter: string
  readonly workflows: readonly JobWorkflow[]
  readonly settings: EffectiveSettings
  readonly graph: NeedsGraph
  readonly policy: PolicyInput
  readonly correlationId: string
}

export function workflowTasks(input: TasksInput, now: number): NewTask[] {
  const { job, datacenter, workflows, settings, graph, policy, correlationId } = input
  const { budgetScope, retryBudgetCounts, onBudgetExhausted, timeoutMs } = settings
  const definition = defineQueue(workShape(datacenter, isLargeJob(workflows.length), policy))
  const budget = budgetScope === 'job' ? budgetKey(job) : budgetKey(job, datacenter)
  const changesBudget = retryBudgetCounts === 'wasted' || onBudgetExhausted === 'park'
  const run = datacenterRun(job, datacenter)
  const deadlineAtMs = timeoutMs === null ? null : now + timeoutMs
  return workflows.map(({ name, needs }) => {
    const [dependents, downstream] = [graph.dependents.get(name) ?? [], graph.downstream.get(name) ?? []]
    const taskInput = inputOfWorkflow({ job, datacenter, budget, changesBudget, dependents, downstream })
    const dueAtMs = needs.length > 0 ? HELD_UNTIL_MS : now
    const seed = seedFor(run, name)
    return queueTask(definition, { run, id: name, input: taskInput, dueAtMs, deadlineAtMs, seed, correlationId }, now)
  })
}
