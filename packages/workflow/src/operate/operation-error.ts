/**
 * Why something was not done to a store or a run, as data. The message names no command and no flag: who shows it adds
 * what to do next, by the problem and its facts. Light: every command loads it. Imports the errors of the library.
 */
import { RepriseError } from 'reprise'

declare module 'reprise' {
  interface ErrorByCode {
    operation: OperationError
  }
}

/** `invalid`: what was asked for makes no sense. The others are refusals: nothing was touched. */
type OperationErrorKind = 'invalid' | 'not_found' | 'not_possible' | 'locked'

/** The code, and what is needed to say what would help. */
export type OperationProblem =
  // Of stores.
  | { readonly code: 'invalid_address' | 'address_without_store' }
  | { readonly code: 'no_store'; readonly isOnServer: boolean }
  | { readonly code: 'file_exists' | 'no_backup'; readonly file: string }
  | { readonly code: 'no_sqlite_file' | 'store_refused' }
  // Of runs and their steps.
  | { readonly code: 'no_runs' }
  /** `failed`: the last run, if it has failed steps. */
  | { readonly code: 'no_interrupted_run'; readonly failed: string | null }
  | { readonly code: 'unknown_run'; readonly near: string | undefined }
  /** Not a run has the name, but a step of the run that was started last. */
  | { readonly code: 'step_of_last_run'; readonly step: string }
  | { readonly code: 'ambiguous_run'; readonly found: readonly StartedRun[]; readonly nowMs: number }
  | { readonly code: 'run_is_job'; readonly job: string }
  | { readonly code: 'several_interrupted_runs'; readonly runs: readonly string[] }
  | { readonly code: 'run_exists' | 'run_not_ended' | 'run_locked'; readonly run: string }
  | { readonly code: 'unknown_step'; readonly run: string; readonly near: string | undefined }
  | { readonly code: 'unknown_attempt'; readonly run: string; readonly step: string }
  /** What an agent of a run lacks. */
  | { readonly code: 'missing_directory'; readonly directory: string }
  | { readonly code: 'other_version'; readonly run: string }
  // Of maps.
  | { readonly code: 'unknown_map' | 'map_not_open' | 'several_maps'; readonly run: string }
  | { readonly code: 'unknown_item'; readonly run: string; readonly map: string }
  /** `maxFailures`: a limit with which it would continue; null where none helps. */
  | { readonly code: 'map_stopped'; readonly run: string; readonly maxFailures: number | null }
  // Of dead letters.
  | { readonly code: 'wrong_condition' | 'wrong_input' | 'unknown_group' }
  | { readonly code: 'unknown_letter'; readonly near: string | undefined }
  | { readonly code: 'ambiguous_letter'; readonly letters: readonly string[] }
  | { readonly code: 'letter_not_open' | 'no_letter_data'; readonly letter: string }
  | { readonly code: 'letter_undecided' | 'letter_not_undecided'; readonly letter: string }
  | { readonly code: 'undecided_step'; readonly run: string; readonly step: string }
  | { readonly code: 'no_letters' | 'run_cancelled' | 'not_repeatable'; readonly run: string | null }
  // Of durable tasks of programs.
  | { readonly code: 'unknown_task' }
  | { readonly code: 'task_not_possible'; readonly task: string }
  // Of what a run is given.
  | { readonly code: 'missing_params' | 'missing_secrets'; readonly names: readonly string[] }
  | { readonly code: 'wrong_param'; readonly name: string; readonly text: string }
  | { readonly code: 'unknown_param' | 'short_secrets' | 'recorded_secret' }

/** One of the runs that a name may mean. */
interface StartedRun {
  readonly id: string
  readonly createdAtMs: number
}

export class OperationError extends RepriseError {
  declare readonly code: 'operation'
  readonly kind: OperationErrorKind
  readonly problem: OperationProblem
  /** What to do, where it can be said without naming a command. */
  readonly suggestion: string | undefined

  constructor(kind: OperationErrorKind, problem: OperationProblem, message: string, suggestion?: string) {
    super('operation', message)
    this.kind = kind
    this.problem = problem
    this.suggestion = suggestion
  }

  override get name(): string {
    return 'OperationError'
  }
}
