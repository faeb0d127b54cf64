/**
 * The command line within this process: for commands that are refused before anything is started, that only look, or that go
 * on with a run whose directory is recorded. A process of its own would show no more. Imports the program.
 */
import { runProgram } from '../../packages/cli/src/program.js'
import type { Ended, CliFixture } from './cli-fixture.js'

const nothing = async function* (): AsyncGenerator<string> {}

export async function repriseInProcess(cli: CliFixture, ...args: string[]): Promise<Ended> {
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
  const env = { PATH: process.env['PATH'], ...cli.env, REPRISE_STORE: cli.store }
  const leave = enter(cli.directory)
  try {
    const code = await runProgram(args, { stdin: nothing(), stdout: output('stdout'), stderr: output('stderr'), env })
    return { code, signal: null, ...written }
  } finally {
    leave()
  }
}

const ownDirectory = process.cwd.bind(process)
let entered = 0

/**
 * The program finds its state directory and resolves paths as if it had been started there. A thread cannot change its
 * directory: a file that is opened by a relative path is looked for where the tests were started, so give absolute ones.
 */
function enter(directory: string): () => void {
  entered++
  process.cwd = () => directory
  return () => {
    entered--
    if (entered === 0) process.cwd = ownDirectory
  }
}
