/** What ends the command with exit code 74. Imports the errors that carry problems. */
import type { Problem } from '@reprise/workflow'
import { ReportedError } from '@reprise/workflow/internal'

declare module 'reprise' {
  interface ErrorByCode {
    output: OutputError
  }
}

/** What was made cannot be put where it was asked for. */
export class OutputError extends ReportedError {
  declare readonly code: 'output'

  constructor(problems: readonly Problem[]) {
    super('output', problems)
  }

  override get name(): string {
    return 'OutputError'
  }
}
