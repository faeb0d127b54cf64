/** What ends the command with exit code 74. Imports the errors that carry problems. */
import { ReportedError } from '@reprise/workflow'

/** What was made cannot be put where it was asked for. */
export class OutputError extends ReportedError {}
