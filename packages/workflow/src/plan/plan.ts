/**
 * What a document means: steps with everything filled in, ready to run. Plain data: functions, clocks and processes come
 * later. Imports types of the library only.
 */
import type { BreakerInput, PolicyInput } from 'reprise'
import type { Json } from 'reprise/durable'
import type { MapPlan } from './map-plan.js'

/** What a document means: steps with every default filled in, as plain data. */
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
  /** Files with further variables, from the document's directory. */
  readonly envFiles: readonly string[]
  /** The group of runs of which one is conducted at a time; null without one. */
  readonly concurrency: ConcurrencyPlan | null
  /** Limit of the whole run, from its first start; null without one. */
  readonly timeoutMs: number | null
  /** Names of environment variables that are passed on and masked everywhere. */
  readonly secrets: readonly string[]
  /** Settings of named breakers. */
  readonly breakers: Readonly<Record<string, BreakerInput>>
  /** Settings of named budgets, as the section `budgets` of a document gives them. */
  readonly budgets: Readonly<Record<string, BudgetPlan>>
  /** What the run gives when its last step has ended, by name; strings within are templates. */
  readonly outputs: Readonly<Record<string, Json>>
  /** What all attempts of a run may log together, in bytes. */
  readonly maxRunLogBytes: number
  /** In the order in which they run: those of `steps`, then those of `on_failure`, then those of `finally`. */
  readonly phases: readonly PhasePlan[]
}

/** Lists of a document beside `steps`: steps after a failure, and steps that run however the run ends. */
export const HANDLER_PARTS = ['on_failure', 'finally'] as const
export type HandlerPart = (typeof HANDLER_PARTS)[number]

/** A part of a run that is begun, recorded and ended as a whole. */
export type PhasePlan = StepPlan | MapPlan

/** The phases that are steps; steps of a map's template are not among them. */
export function stepsOf({ phases }: Pick<Plan, 'phases'>): readonly StepPlan[] {
  return phases.filter((phase) => phase.kind === 'step')
}

/** The phases of one list of the document. */
export function phasesIn({ phases }: Pick<Plan, 'phases'>, part: 'steps' | HandlerPart): readonly PhasePlan[] {
  return phases.filter((phase) => partOf(phase) === part)
}

/** The phase with this id and all behind it, those of `on_failure` and `finally` too; none if there is no such phase. */
export function phasesFrom({ phases }: Pick<Plan, 'phases'>, id: string): readonly PhasePlan[] {
  const first = phases.findIndex((phase) => phase.id === id)
  return first === -1 ? [] : phases.slice(first)
}

/** Steps of `on_failure` and `finally`. */
export function handlersOf(plan: Pick<Plan, 'phases'>): readonly StepPlan[] {
  return stepsOf(plan).filter(({ part }) => part !== undefined)
}

/** The list of the document that the phase stands in. */
function partOf(phase: PhasePlan): 'steps' | HandlerPart {
  return phase.kind === 'step' ? (phase.part ?? 'steps') : 'steps'
}

/** The phases that are maps. */
export function mapsOf({ phases }: Pick<Plan, 'phases'>): readonly MapPlan[] {
  return phases.filter((phase) => phase.kind === 'map')
}

export interface ConcurrencyPlan {
  /** The name of the group, a template. */
  readonly group: string
  /** What a run does while another one of the group is conducted. */
  readonly onConflict: 'refuse' | 'wait' | 'cancel_old'
}

export interface BudgetPlan {
  /** The kind of budget. */
  readonly type: string
  /** Its settings, as the document has them. */
  readonly settings: Readonly<Record<string, Json>>
}

/** One step of a plan. */
export interface StepPlan {
  /** The kind of phase. */
  readonly kind: 'step'
  /** The given id, else the name as an id, else the position; unique, and fit for a file name. */
  readonly id: string
  /** For people. */
  readonly name: string
  /**
   * The list of the document that it stands in.
   * @default `steps`
   * @example { part: 'finally' }
   */
  readonly part?: HandlerPart
  /** What it does. */
  readonly action: Action
  /** Merged with `retry_defaults`; `attempt_timeout` of the step is its `attemptTimeout`. One attempt when nothing is said. */
  readonly policy: PolicyInput
  /** What follows once it has failed for good. */
  readonly onFailure: FailureAction
  /** What becomes of an attempt whose process was lost while it ran. */
  readonly onInterrupt: InterruptAction
  /** CEL; the step is skipped when it is false. */
  readonly when: string | null
  /** CEL; an attempt that has done its work fails, and is retried, while it is false. */
  readonly until: string | null
  /** Where its output is kept for later steps; null for nowhere. */
  readonly capture: Capture | null
  /** Templates. */
  readonly env: Readonly<Record<string, string>>
  /** Where it runs, a template; null for the directory of the run. */
  readonly workingDir: string | null
  /** What an attempt may log, in bytes. A change of it changes nothing that a resume depends on. */
  readonly maxLogBytes: number
}

export type FailureAction =
  | 'stop'
  | 'continue'
  | {
      /** A command that stands in for the step. */
      readonly fallback: ShellAction
      /** Whether the run goes on once the command has succeeded, or ends as failed. */
      readonly afterwards: 'continue' | 'fail'
    }
export type InterruptAction =
  | 'rerun'
  | 'fail'
  | {
      /** A command that says whether the attempt happened. */
      readonly verify: ShellAction | RunAction
    }

export const CAPTURE_FORMATS = ['text', 'json', 'lines', 'number'] as const
export type CaptureFormat = (typeof CAPTURE_FORMATS)[number]

interface Capture {
  /** The variable that later steps read. */
  readonly name: string
  /** How the output is read. */
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
  /** The method, such as `GET`. */
  readonly method: string
  /** The address; a template. */
  readonly url: string
  /** Headers by name; the values are templates. */
  readonly headers: Readonly<Record<string, string>>
  /** Text, or data that is sent as JSON; strings within are templates. */
  readonly body: Json
  /** Which answers are a success. */
  readonly expect: HttpExpectation
  /** Other origins that get headers and body when a redirect leads there. */
  readonly redirectOrigins: readonly string[]
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
  /** The rights of the file; null for those of the file that it replaces, else those that the system gives. */
  readonly mode: number | null
}
