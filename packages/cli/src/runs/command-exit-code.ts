/** The exit code that `exec` hands on of a command that has failed, as a shell would. Imports the exit codes and Node. */
import { existsSync } from 'node:fs'
import type { FailureRecord } from 'reprise/durable'
import { COMMAND_EXIT, EXIT, type ProgramExitCode } from '../exit-codes.js'

const TIMEOUTS: ReadonlySet<string> = new Set(['attempt_timeout', 'timeout'])

/** `failure` is that of the last attempt, or what stopped it. `program` is needed where only its absence is known. */
export function commandExitCode(failure: FailureRecord | null, program = ''): ProgramExitCode {
  const { code = '', exitCode } = failure ?? {}
  if (TIMEOUTS.has(code)) return COMMAND_EXIT.timedOut
  if (exitCode !== undefined) return exitCode
  // A step looks for its program itself, and finds none that it may run.
  if (code === 'missing_program') {
    return program.includes('/') && existsSync(program) ? COMMAND_EXIT.notExecutable : COMMAND_EXIT.notFound
  }
  if (code === 'ENOENT') return COMMAND_EXIT.notFound
  return /^E[A-Z0-9]+$/.test(code) ? COMMAND_EXIT.notExecutable : EXIT.failed
}
