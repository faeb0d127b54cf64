/** What a workflow keeps with its run beside the document, and with its steps. Imports types of the library. */
import type { StopReason } from 'reprise'
import type { Json, RunRecord } from 'reprise/durable'
import type { RunTimes } from '../view/views.js'

export const WORKFLOW_KIND = 'workflow'

export interface RunNotes {
  /** Where the document was read; null for one that came from stdin. */
  readonly file: string | null
  /** Where commands run, and where modules and the like are looked for. */
  readonly cwd: string
  readonly documentDir: string
  readonly params: Readonly<Record<string, Json>>
  readonly stopReason: StopReason | null
  /** The step that ended the run. */
  readonly failedStep: string | null
  /** What the workflow gave; absent unless it has ended and has `outputs`. */
  readonly outputs?: Readonly<Record<string, Json>>
  /** Why its outputs could not be made, which is why it failed; absent otherwise. */
  readonly outputsError?: string
  /** Steps of the document. */
  readonly steps: number
  /**
   * The document is the one that the run began with, so that the steps that have a record are the first ones of its lists:
   * a step is begun when all before it in its list have ended. Absent once a change was accepted, and in older records.
   */
  readonly isInOrder?: true
  /** Ids of its maps; absent if it has none, and in older records. */
  readonly maps?: readonly string[]
  /** The map after which every step runs once more, until they are granted a fresh generation; absent otherwise. */
  readonly repeatAfter?: string
  /** The step that runs once more, with all behind it, until they are granted a fresh generation; absent otherwise. */
  readonly repeatFrom?: string
  /** How its steps ended, from before the steps of `on_failure` and `finally` begin; absent if there are none. */
  readonly ending?: RunEnding
  /** Since when its `timeout` counts: the last time its steps were granted fresh attempts; absent: since it began. */
  readonly timedFromMs?: number
  /** What its time went into, until a process last ended or left it; absent before, and in older records. */
  readonly times?: RunTimes & { readonly resumes: number }
  /** Where it was conducted, the last places; absent in older records. */
  readonly places?: readonly RunPlace[]
}

/** What a resume continues with the steps of `on_failure` and `finally` by. */
export interface RunEnding {
  readonly state: 'succeeded' | 'completed_with_failures' | 'failed' | 'cancelled'
  readonly stopReason: StopReason | null
  readonly failedStep: string | null
  /** `outputs` of the workflow as the steps gave them, until the run has ended; absent as in `RunNotes`. */
  readonly outputs?: Readonly<Record<string, Json>>
  /** Why `outputs` could not be filled in, until the run has ended; absent as in `RunNotes`. */
  readonly outputsError?: string
}

/** What a run that nobody has ended yet is cancelled with: the steps of `finally` are still to run. */
export const CANCELLED_ENDING: RunEnding = { state: 'cancelled', stopReason: 'aborted', failedStep: null }

/** A machine, and the directory in which what its steps wrote there is kept. */
export interface RunPlace {
  readonly host: string
  readonly stateDirectory: string
}

/** What is recorded of a step that succeeded. */
export interface StepResult {
  readonly exit_code: number
  /** Of an HTTP request. */
  readonly status?: number
  readonly attempts: number
  /** Only where the step captures it. */
  readonly output?: Json
  /** Why it was not needed; the other fields are then as if it had done nothing. */
  readonly skipped?: string
}

/** Until when the steps of the run must have ended; null without a limit. */
export function runDeadline(
  { timeoutMs }: { readonly timeoutMs: number | null },
  { createdAtMs }: Pick<RunRecord, 'createdAtMs'>,
  { timedFromMs = createdAtMs }: RunNotes,
): number | null {
  return timeoutMs === null ? null : timedFromMs + timeoutMs
}

export function notesAsJson(notes: RunNotes): Json {
  return notes as unknown as Json
}
