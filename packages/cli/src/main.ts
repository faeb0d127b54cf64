/**
 * The bin's entry: joins the program to the process. Imports what is said when writing fails, and the program only when
 * it is needed: who asks for the version waits for nothing else. What Node can keep of the rest, compiled, it keeps.
 * The exit code is set rather than forced, so that everything written reaches a slow pipe.
 */
import { LIVE_COMMAND } from './live-command.js'
import { cacheCompiled } from './compile-cache.js'
import { hideSqliteWarning } from './node-warnings.js'
import { tellOutputLoss } from './output-loss.js'
import { ownVersion } from './version.js'
import { reportWriteFailure } from './write-failure.js'

let failed = false
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // What we say about it may fail in its turn.
    if (failed) return
    failed = true
    const code = reportWriteFailure(error, process.stderr)
    if (tellOutputLoss(code)) return
    // Last words that nobody reads change nothing of how it ended.
    if (code === undefined && stream === process.stderr) failed = false
    else process.exit(code)
  })
}

const args = process.argv.slice(2)
if (args[0] === '--version' || args[0] === '-V') {
  process.stdout.write(`${ownVersion()}\n`)
} else if (args[0] === LIVE_COMMAND) {
  hideSqliteWarning()
  cacheCompiled(process.env)
  const { completeLive } = await import('./completion/live.js')
  await completeLive(args.slice(1), process)
  // A connection to a server that does not answer would keep the shell waiting.
  process.stdout.write('', () => process.exit(0))
} else {
  hideSqliteWarning()
  cacheCompiled(process.env)
  const { runProgram } = await import('./program.js')
  const { stdout, stderr, env } = process
  // Not read before somebody asks: from then on it would not be a program's to read as it is.
  const io = {
    stdout,
    stderr,
    env,
    stdinDescriptor: 0,
    get stdin() {
      return process.stdin
    },
  }
  process.exitCode = await runProgram(args, io)
}
