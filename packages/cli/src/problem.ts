/** What can be wrong with what people gave us: a file, its contents, a setting. Imports nothing. */

/** The shape that `--json` prints as well. Lines and columns count from 1; without them the file as a whole is meant. */
export interface Problem {
  readonly file?: string
  readonly line?: number
  readonly column?: number
  /** Of a value within the file, in its own spelling: `steps[2].retry.backoff.base`. */
  readonly path?: string
  readonly message: string
  readonly suggestion?: string
}

/** Ends the command with exit code 2. Carries every problem at once, and the text for showing the lines. */
export class InputError extends Error {
  readonly problems: readonly Problem[]
  readonly text: string

  constructor(problems: readonly Problem[], text = '') {
    super(problems.map((problem) => problem.message).join('; '))
    this.problems = problems
    this.text = text
  }
}
