/** The command line on a terminal of its own, which comes from `script`. Imports Node and the fixture of the command line. */
import { spawnSync } from 'node:child_process'
import { bin, type Going, type CliFixture } from './cli-fixture.js'

export const hasTerminal =
  spawnSync('script', ['-qec', 'test -t 1', '/dev/null'], { stdio: ['ignore', 'pipe', 'pipe'] }).status === 0

/** The name of a test, with why it is skipped where there is no terminal. */
export const withTerminal = (name: string): string => (hasTerminal ? name : `${name} (skipped: needs script)`)

/** Both streams are on the terminal, so what it says is in `stdout`. */
export function onTerminal(cli: CliFixture, ...args: string[]): Going {
  const quoted = [process.execPath, bin, ...args].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`)
  cli.env = { ...cli.env, TERM: 'xterm', SHELL: '/bin/sh' }
  return cli.startProgram('script', ['-qec', `exec ${quoted.join(' ')}`, '/dev/null'])
}
