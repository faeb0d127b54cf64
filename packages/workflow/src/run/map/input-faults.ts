/** What keeps the items of a map from being recorded: a failure of the map, not of this process. Imports the items' errors. */
import { InputDataError } from '../../items/input-data-error.js'
import type { MapPlan } from '../../plan/map-plan.js'
import { SetupError } from '../../values/setup-error.js'

/** What is wrong with the input, or with the command that gives it. */
export function isInputFault(error: unknown): boolean {
  // Of a command that could not be started, the exit code is null.
  return error instanceof SetupError || (error as { readonly exitCode?: unknown }).exitCode !== undefined
}

/** Not all items are run where a few were asked for. */
export function missingPart({ id }: MapPlan): InputDataError {
  const problem = 'only a part of the items was asked for, and the run stopped before the part was chosen'
  return new InputDataError(id, problem, 'start a new run with `reprise run`')
}
