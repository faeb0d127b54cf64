/** A checked document in its canonical spelling, as the builder of plans reads it. Imports types only. */
import type { Json } from 'reprise/durable'
import type { CaptureFormat } from './plan.js'

export interface DocumentData {
  readonly name?: string
  readonly params?: Readonly<Record<string, Json>>
  readonly env?: Readonly<Record<string, string>>
  readonly secrets?: readonly string[]
  readonly retry_defaults?: Json
  readonly breakers?: Readonly<Record<string, Fields>>
  readonly budgets?: Readonly<Record<string, BudgetData>>
  readonly claude_program?: string
  readonly steps: readonly StepData[]
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
  readonly when?: string
  readonly retry?: Json
  readonly on_interrupt?: 'rerun' | 'fail' | { readonly verify: string | readonly string[] }
}

export interface HttpData {
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Json
  readonly expect?: { readonly status?: number | readonly number[] }
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

export type OnFailureData = 'stop' | 'continue' | { readonly fallback: { readonly command: string } }
