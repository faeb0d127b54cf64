/** A checked document in its canonical spelling, as the builder of plans reads it. Imports types only. */
import type { Json } from 'reprise/durable'
import type { InputFormat } from './map-plan.js'
import type { CaptureFormat, ConcurrencyPlan } from './plan.js'

export interface DocumentData {
  readonly name?: string
  readonly params?: Readonly<Record<string, Json>>
  readonly env?: Readonly<Record<string, string>>
  readonly env_file?: string | readonly string[]
  readonly concurrency?: string | { readonly group: string; readonly on_conflict?: ConcurrencyPlan['onConflict'] }
  readonly timeout?: string
  readonly secrets?: readonly string[]
  readonly retry_defaults?: Json
  readonly breakers?: Readonly<Record<string, Fields>>
  readonly budgets?: Readonly<Record<string, BudgetData>>
  readonly outputs?: Readonly<Record<string, Json>>
  readonly max_log?: string
  readonly max_run_log?: string
  readonly claude_program?: string
  readonly steps: readonly (StepData | MapStepData)[]
  readonly on_failure?: readonly StepData[]
  readonly finally?: readonly StepData[]
}

/** Of `mode: mapreduce`. */
export interface MapReduceData extends Omit<DocumentData, 'steps'> {
  readonly mode: 'mapreduce'
  readonly setup?: readonly (StepData | MapStepData)[]
  readonly map: MapData
  readonly reduce?: readonly (StepData | MapStepData)[]
  readonly merge?: readonly (StepData | MapStepData)[]
  readonly error_policy?: ErrorPolicyData
}

export interface MapStepData {
  readonly id?: string
  readonly name?: string
  readonly when?: string
  readonly on_failure?: 'stop' | 'continue'
  readonly map: MapData
}

export interface MapData {
  readonly input: MapInputData
  readonly json_path?: string
  readonly filter?: string
  readonly distinct?: string
  readonly sort_by?: string | readonly string[]
  readonly offset?: number
  readonly max_items?: number
  readonly max_parallel?: number
  readonly rate?: string
  readonly batch?: number
  readonly isolation?: 'none' | 'directory' | 'worktree'
  readonly agent_timeout?: string
  readonly checkpoint?: 'none' | 'step'
  readonly on_interrupt?: StepData['on_interrupt']
  readonly keep_logs?: 'all' | 'failures' | 'none'
  readonly agent_template: readonly StepData[]
  readonly on_item_error?: readonly StepData[]
  readonly error_policy?: ErrorPolicyData
}

/** One of the keys beside `format` is there. */
interface InputFields {
  readonly file?: string
  readonly command?: string
  readonly run?: readonly string[]
  readonly glob?: string | readonly string[]
  readonly stdin?: true
  readonly range?: readonly [number, number, number?]
  readonly product?: readonly (readonly Json[])[]
  readonly format?: InputFormat
}

export type MapInputData = string | readonly Json[] | InputFields

export interface ErrorPolicyData {
  readonly item_retry?: Json
  readonly on_item_failure?: 'dlq' | 'skip' | 'stop' | 'retry'
  readonly tolerate?: number | string
  readonly max_failures?: number
  readonly failure_threshold?: number | string
  readonly halt?: 'soon' | 'now'
  readonly halt_on?: readonly number[]
  readonly max_retries?: number
  readonly max_retries_per_item?: number
}

type Fields = Readonly<Record<string, Json>>

export interface BudgetData extends Fields {
  readonly type: string
}

export interface StepData {
  readonly id?: string
  readonly name?: string
  readonly shell?: string
  readonly run?: readonly string[]
  readonly http?: HttpData
  readonly script?: string | ScriptData
  readonly claude?: string | ClaudeData
  readonly write_file?: WriteFileData
  readonly working_dir?: string
  readonly env?: Readonly<Record<string, string>>
  readonly attempt_timeout?: string
  readonly capture?: string
  readonly capture_format?: CaptureFormat
  readonly max_log?: string
  readonly when?: string
  readonly until?: string
  readonly retry?: Json
  readonly on_interrupt?: 'rerun' | 'fail' | { readonly verify: string | readonly string[] }
}

export interface HttpData {
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Json
  readonly expect?: { readonly status?: number | readonly number[] }
  readonly redirect_origins?: readonly string[]
}

export interface ScriptData {
  readonly module: string
  readonly export?: string
  readonly with?: Json
}

export interface ClaudeData {
  readonly prompt: string
  readonly args?: readonly string[]
}

export interface WriteFileData {
  readonly path: string
  readonly content: Json
  readonly mode?: string
}

export type OnFailureData =
  | 'stop'
  | 'continue'
  | { readonly fallback: { readonly command: string }; readonly then?: 'continue' | 'fail' }
