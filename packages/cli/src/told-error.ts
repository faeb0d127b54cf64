/** How a command ends that has said everything itself. Imports the exit codes. */
import type { ExitCode } from './exit-codes.js'

/** Only the exit code is left to give. */
export class ToldError extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode) {
    super(`ended with exit code ${exitCode}`)
    this.exitCode = exitCode
  }
}
