/**
 * What expressions and references of a step can see: parameters, what earlier steps captured, how they ended, the
 * environment, the run. Grows as the run goes on; after a resume it is built from what is recorded. Imports the plan.
 *
 * Invariant: names are own keys of objects without a prototype, so that no name reaches one.
 */
import type { Json } from 'reprise/durable'
import type { StepPlan } from '../plan/plan.js'
import type { Values } from '../steps/step-context.js'
import type { StepResult } from './run-record.js'

export type { StepResult }

export interface ScopeInput {
  readonly runId: string
  readonly workflow: string
  readonly params: Readonly<Record<string, Json>>
  readonly env: Readonly<Record<string, string>>
}

export class Scope {
  readonly values: Values
  private readonly names: Record<string, Json>
  private readonly steps: Record<string, Json> = bare()

  constructor({ runId, workflow, params, env }: ScopeInput) {
    this.names = bare()
    for (const [name, value] of Object.entries(params)) this.names[name] = value
    this.names['env'] = Object.assign(bare(), env)
    this.names['run'] = Object.assign(bare(), { id: runId, name: workflow })
    this.names['steps'] = this.steps
    this.values = this.names
  }

  /** The same, with these variables of the environment over those of the process. */
  withVariables(variables: Readonly<Record<string, string>>): Values {
    const env = Object.assign(bare(), this.names['env'], variables)
    return Object.assign(bare(), this.names, { env })
  }

  /** The step succeeded, or was skipped: then what it would have captured is null. */
  take(step: StepPlan, result: StepResult): void {
    const { exit_code, status = null, attempts, output = null } = result
    this.steps[step.id] = Object.assign(bare(), { exit_code, status, attempts, output })
    if (step.capture !== null) this.names[step.capture.name] = output
  }

  /** The run goes on although the step failed. */
  takeFailure(step: StepPlan, exitCode: number | undefined, attempts: number): void {
    this.take(step, { exit_code: exitCode ?? 1, attempts })
  }
}

function bare(): Record<string, Json> {
  return Object.create(null) as Record<string, Json>
}
