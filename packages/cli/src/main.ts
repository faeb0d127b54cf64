/**
 * The bin's entry: joins the program to the process. Imports the program only.
 * The exit code is set rather than forced, so that everything written reaches a slow pipe.
 */
import { runProgram } from './program.js'

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever reads has seen enough: `reprise … | head`.
    if (error.code === 'EPIPE') process.exit()
    throw error
  })
}

process.exitCode = await runProgram(process.argv.slice(2), process)
