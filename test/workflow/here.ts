/**
 * The command line within this process, in the place of a scene: for what is refused before anything is started, or only
 * looked at, a process of its own would say no more. Imports the program.
 */
import { runProgram } from '../../packages/cli/src/program.js'
import type { Ended, Scene } from './scene.js'

const nothing = async function* (): AsyncGenerator<string> {}

export async function repriseHere(scene: Scene, ...args: string[]): Promise<Ended> {
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) })
  const env = { PATH: process.env['PATH'], ...scene.env, REPRISE_STORE: scene.store }
  const code = await runProgram(args, { stdin: nothing(), stdout: output('stdout'), stderr: output('stderr'), env })
  return { code, signal: null, ...written }
}
