/** The exit code that `exec` hands on of a command that has failed, as a shell would. Imports the exit codes. */
import type { FailureRecord } from 'reprise/durable'
import { COMMAND_EXIT, EXIT, type ProgramExitCode } from '../exit-codes.js'

const TIMEOUTS: ReadonlySet<string> = new Set(['attempt_timeout', 'timeout'])

/** `failure` is that of the last attempt, or what stopped it. */
export function commandExitCode(failure: FailureRecord | null): ProgramExitCode {
  const { code = '', exitCode } = failure ?? {}
  if (TIMEOUTS.has(code)) return COMMAND_EXIT.timedOut
  if (exitCode !== undefined) return exitCode
  // The words are those of a step, which looks for its program itself; else it is the system that says so.
  if (code === 'missing_program' || code === 'ENOENT') return COMMAND_EXIT.notFound
  return code === 'not_executable' || /^E[A-Z0-9]+$/.test(code) ? COMMAND_EXIT.notExecutable : EXIT.failed
}
