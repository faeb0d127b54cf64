/** What becomes of output that cannot be written. Imports the exit codes. */
import { EXIT, type ExitCode } from './exit-codes.js'
import type { Output } from './process-io.js'

/** Whether writing failed, rather than the program. Some streams throw it, others tell it later. */
export function isWriteFailure(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error && error.syscall === 'write'
}

/** Undefined stands for: nobody is wrong, stop in silence. */
export function reportWriteFailure(error: NodeJS.ErrnoException, stderr: Output): ExitCode | undefined {
  // Whoever reads has seen enough: `reprise … | head`.
  if (error.code === 'EPIPE') return undefined
  const reason = error.message.replace(/^[A-Z]+: /, '').replace(/, write$/, '')
  try {
    stderr.write(`reprise: the output cannot be written: ${reason}\n`)
  } catch {
    // It may be stderr that is full.
  }
  return EXIT.unwritable
}
