/**
 * What a document means: steps with everything filled in, ready to run. Plain data: functions, clocks and processes come
 * later. Imports types of the library only.
 */
import type { BreakerInput, PolicyInput } from 'reprise'
import type { Json } from 'reprise/durable'

export interface Plan {
  /** `name:` of the document, else the file's name without its ending. */
  readonly name: string
  /** Where it was read; null for stdin. */
  readonly file: string | null
  /** The document as plain data, aliases of keys resolved (`tasks` → `steps`, `retry_config` → `retry`). */
  readonly document: Json
  /** Does not depend on the order of keys nor on comments. */
  readonly fingerprint: string
  /** Parameters with their defaults; null: must be given. */
  readonly params: Readonly<Record<string, Json>>
  /** For every step; the values are templates. */
  readonly env: Readonly<Record<string, string>>
  /** Names of environment variables that are passed on and masked everywhere. */
  readonly secrets: readonly string[]
  /** Settings of named breakers. */
  readonly breakers: Readonly<Record<string, BreakerInput>>
  /** Settings of named budgets, as the section `budgets` of a document gives them. */
  readonly budgets: Readonly<Record<string, BudgetPlan>>
  /** In the order of the document. */
  readonly phases: readonly PhasePlan[]
}

/** A part of a run that is begun, recorded and ended as a whole. Steps are the only kind so far. */
export type PhasePlan = StepPlan

/** The phases that are steps. */
export function stepsOf({ phases }: Pick<Plan, 'phases'>): readonly StepPlan[] {
  return phases
}

export interface BudgetPlan {
  readonly type: string
  readonly settings: Readonly<Record<string, Json>>
}

export interface StepPlan {
  readonly kind: 'step'
  /** The given id, else the name as an id, else the position; unique, and fit for a file name. */
  readonly id: string
  /** For people. */
  readonly name: string
  readonly action: Action
  /** Merged with `retry_defaults`; `attempt_timeout` of the step is its `attemptTimeout`. One attempt when nothing is said. */
  readonly policy: PolicyInput
  readonly onFailure: FailureAction
  readonly onInterrupt: InterruptAction
  /** CEL; the step is skipped when it is false. */
  readonly when: string | null
  readonly capture: Capture | null
  /** Templates. */
  readonly env: Readonly<Record<string, string>>
  readonly workingDir: string | null
}

export type FailureAction = 'stop' | 'continue' | { readonly fallback: ShellAction }
export type InterruptAction = 'rerun' | 'fail' | { readonly verify: ShellAction | RunAction }

export const CAPTURE_FORMATS = ['text', 'json', 'lines', 'number'] as const
export type CaptureFormat = (typeof CAPTURE_FORMATS)[number]

interface Capture {
  readonly name: string
  readonly format: CaptureFormat
}

export type Action = ShellAction | RunAction | HttpAction | ScriptAction | ClaudeAction | WriteFileAction
export const ACTION_KINDS = ['shell', 'run', 'http', 'script', 'claude', 'write_file'] as const

export interface ShellAction {
  readonly kind: 'shell'
  /** Shell text with references; see `values/shell-text`. */
  readonly command: string
}

export interface RunAction {
  readonly kind: 'run'
  /** Templates, one per argument. */
  readonly argv: readonly string[]
}

export interface HttpAction {
  readonly kind: 'http'
  readonly method: string
  /** Templates: the address, the headers' values, the body. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Text, or data that is sent as JSON; strings within are templates. */
  readonly body: Json
  readonly expect: HttpExpectation
}

interface HttpExpectation {
  /** Empty: any of 200 to 299. */
  readonly status: readonly number[]
}

export interface ScriptAction {
  readonly kind: 'script'
  /** Relative to the document's directory. */
  readonly module: string
  /** The export; `default` when not said. */
  readonly export: string
  /** Handed to the function; strings within are templates. */
  readonly with: Json
}

export interface ClaudeAction {
  readonly kind: 'claude'
  /** Template. */
  readonly prompt: string
  /** The program; `claude` unless the document or REPRISE_CLAUDE says otherwise. */
  readonly program: string | null
  /** Further arguments; templates. */
  readonly args: readonly string[]
}

export interface WriteFileAction {
  readonly kind: 'write_file'
  /** Templates. */
  readonly path: string
  /** Text, or data that is written as JSON; strings within are templates. */
  readonly content: Json
  readonly mode: number | null
}
