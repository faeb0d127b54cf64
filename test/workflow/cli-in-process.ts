/**
 * The command line within this process: for commands that are refused before anything is started, or that only look. A
 * process of its own would show no more. Imports the program.
 */
import { runProgram } from '../../packages/cli/src/program.js'
import type { Ended, CliFixture } from './cli-fixture.js'

const nothing = async function* (): AsyncGenerator<string> {}

export async function repriseInProcess(cli: CliFixture, ...args: string[]): Promise<Ended> {
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
  const env = { PATH: process.env['PATH'], ...cli.env, REPRISE_STORE: cli.store }
  const code = await runProgram(args, { stdin: nothing(), stdout: output('stdout'), stderr: output('stderr'), env })
  return { code, signal: null, ...written }
}
