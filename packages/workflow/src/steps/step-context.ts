/**
 * What a step's action is given beside itself, and what it gives. Imports types only.
 */
import type { Json } from 'reprise/durable'

/** Names that expressions and references can use: `items`, `item.id`, `env.HOME`, `steps.fetch.exit_code`, `run.id`. */
export type Values = Readonly<Record<string, Json>>

export interface StepContext {
  readonly runId: string
  readonly stepId: string
  /** 1, 2, 3 …; an attempt that was interrupted runs again under its number. */
  readonly attempt: number
  /** Starts of this attempt: above 1, an earlier one was interrupted. */
  readonly execution: number
  /** The same for all attempts, resumes and resets of the step. */
  readonly idempotencyKey: string
  readonly signal: AbortSignal
  readonly values: Values
  /** What commands get: the process's, the document's, the step's, and our own `REPRISE_…`. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Where the document is: modules are looked for from here. */
  readonly documentDir: string
  /** Marks everything that this attempt starts. */
  readonly tag: string
  readonly graceMs: number
  /** Where it is noted which processes run for this attempt. */
  readonly groupFile: string
  /** Bytes that may be captured. */
  readonly captureBytes: number
  /** The attempt's log; masked on the way, and waited for. */
  readonly log: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void | Promise<void>
}

export interface StepOutput {
  /** What `capture` reads; text, or already a value (scripts). */
  readonly output: Json
  /** 0 where there is no process. */
  readonly exitCode: number
  /** HTTP only. */
  readonly status?: number
}
