/**
 * What expressions and references of a step can see: parameters, what earlier steps captured, how they ended, the
 * environment, the run. Grows as the run goes on; after a resume it is built from what is recorded. Imports the plan.
 *
 * Invariant: names are own keys of objects without a prototype, so that no name reaches one.
 */
import type { FailureRecord, Json } from 'reprise/durable'
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

/** An item as its steps see it. */
export interface ScopeItem {
  readonly key: string
  readonly index: number
  readonly value: Json
}

/** As `run.state`, `run.failed_step` and `run.error`. */
export interface ScopeEnd {
  readonly state: string
  readonly failedStep: string | null
  readonly error: string | null
}

/** The id of the map of `mode: mapreduce`. */
const MAP_NAME = 'map'

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

  /** What the steps of a template see for one item: what they add is the item's alone. */
  forItem({ key, index, value }: ScopeItem): Scope {
    return this.inner({ item: value, item_key: key, item_index: index })
  }

  /** The same for several items, which are in a file too. */
  forBatch(items: readonly Json[], file: string): Scope {
    return this.inner({ items, items_file: file })
  }

  private inner(names: Readonly<Record<string, Json>>): Scope {
    const scope = new Scope({ runId: '', workflow: '', params: {}, env: {} })
    Object.assign(scope.names, this.names, names, { steps: scope.steps })
    Object.assign(scope.steps, this.steps)
    return scope
  }

  /** The map has ended: later steps read its figures, as `steps.ID` and, for the id `map`, as `map`. */
  takeMap(id: string, figures: Readonly<Record<string, Json>>): void {
    this.steps[id] = Object.assign(bare(), figures)
    if (id === MAP_NAME) this.names[MAP_NAME] = this.steps[id]
  }

  /** The same, with these variables of the environment over those of the process. */
  withVariables(variables: Readonly<Record<string, string>>): Values {
    const env = Object.assign(bare(), this.names['env'], variables)
    return Object.assign(bare(), this.names, { env })
  }

  /** The step succeeded, or was skipped: then what it would have captured is null. */
  take(step: StepPlan, result: StepResult): void {
    this.steps[step.id] = asSeen(result)
    if (step.capture !== null) this.names[step.capture.name] = result.output ?? null
  }

  /** The step has not run, and will not: what steps of `on_failure` and `finally` see of it is null. */
  takeMissing(step: StepPlan): void {
    if (Object.hasOwn(this.steps, step.id)) return
    this.steps[step.id] = Object.assign(bare(), { exit_code: null, status: null, attempts: 0, output: null })
    if (step.capture !== null && !Object.hasOwn(this.names, step.capture.name)) this.names[step.capture.name] = null
  }

  /** Whether something is known of the step or map. */
  knows(id: string): boolean {
    return Object.hasOwn(this.steps, id)
  }

  /** How the steps of the run have ended, for those of `on_failure` and `finally`. */
  takeEnd({ state, failedStep, error }: ScopeEnd): void {
    Object.assign(this.names['run'] as object, { state, failed_step: failedStep, error })
  }

  /** The step failed: the run goes on, or others of `on_failure` and `finally` see it. */
  takeFailure(step: StepPlan, failure: Pick<FailureRecord, 'exitCode' | 'status'> | null, attempts: number): void {
    const { exitCode = 1, status } = failure ?? {}
    this.take(step, { exit_code: exitCode, attempts, ...(status !== undefined && { status }) })
  }
}

/** These values with what the step gave, for a condition of the step itself. */
export function valuesAfter(step: StepPlan, result: StepResult, values: Values): Values {
  const steps = Object.assign(bare(), values['steps'], { [step.id]: asSeen(result) })
  const captured = step.capture === null ? {} : { [step.capture.name]: result.output ?? null }
  return Object.assign(bare(), values, captured, { steps })
}

function asSeen(result: StepResult): Json {
  const { exit_code, status = null, attempts, output = null } = result
  return Object.assign(bare(), { exit_code, status, attempts, output })
}

function bare(): Record<string, Json> {
  return Object.create(null) as Record<string, Json>
}
