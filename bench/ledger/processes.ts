/** Programs of this directory as child processes. Imports Node and the bundler. */
import { execFile, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { OUT } from './build.mjs'

const run = promisify(execFile)

/** Its last line, as JSON; undefined if it printed nothing. */
export async function answerOf(
  program: string,
  args: readonly string[],
  flags: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const env = { ...process.env, ...environment }
  const { stdout } = await run(process.execPath, [...flags, `${OUT}${program}.js`, ...args], { env })
  const line = stdout.trim().split('\n').at(-1) ?? ''
  return line === '' ? undefined : JSON.parse(line)
}

export function started(program: string, args: readonly string[]): ChildProcess {
  return fork(`${OUT}${program}.js`, args, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
}

export async function messageOf(child: ChildProcess): Promise<unknown> {
  const [message] = (await once(child, 'message')) as [unknown]
  return message
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

/** From before it is spawned until it has ended. */
export async function lifetimeMs(args: readonly string[]): Promise<number> {
  const startMs = performance.now()
  await run(process.execPath, args)
  return performance.now() - startMs
}
