/** What is said when the program itself is wrong. Imports Node and the plain text of the library. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describeError } from 'reprise/internal'
import { EXIT, type ExitCode } from './exit-codes.js'
import type { Outputs } from './process-io.js'

export function reportBug(error: unknown, io: Outputs): ExitCode {
  io.stderr.write(`This is a bug of reprise: ${describeError(error)}\n`)
  const trace = writeTrace(error)
  if (trace !== undefined) io.stderr.write(`Please report it, with ${trace}\n`)
  return EXIT.bug
}

/** The path of a file that only its owner can read; undefined where nothing can be written. */
function writeTrace(error: unknown): string | undefined {
  try {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'reprise-bug-')), 'trace.txt')
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
    writeFileSync(file, `node ${process.version} on ${process.platform}\n${stack}\n`, { mode: 0o600 })
    return file
  } catch {
    return undefined
  }
}
