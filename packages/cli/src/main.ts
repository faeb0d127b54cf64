/**
 * The bin's entry: joins the program to the process. Imports the program and what is said when writing fails.
 * The exit code is set rather than forced, so that everything written reaches a slow pipe.
 */
import { runProgram } from './program.js'
import { reportWriteFailure } from './write-failure.js'

let failed = false
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // What we say about it may fail in its turn.
    if (failed) return
    failed = true
    process.exit(reportWriteFailure(error, process.stderr))
  })
}

process.exitCode = await runProgram(process.argv.slice(2), process)
