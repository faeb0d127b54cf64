/**
 * What is wrong with the input of a map, with its place and what cures it. Not retried: the same input would be read
 * again. Imports the errors that no further attempt cures.
 */
import { SetupError } from '../values/setup-error.js'

export class InputDataError extends SetupError {
  /** `items.csv:17`, `<stdin>:4:12`, `src/**`. */
  readonly place: string
  /** The message without its place and its cure. */
  readonly problem: string
  readonly suggestion: string | undefined

  constructor(place: string, problem: string, suggestion?: string, options?: { readonly cause?: unknown }) {
    super('invalid_items', `${place}: ${problem}${suggestion === undefined ? '' : ` (${suggestion})`}`, options)
    this.place = place
    this.problem = problem
    this.suggestion = suggestion
  }

  override get name(): string {
    return 'InputDataError'
  }
}
