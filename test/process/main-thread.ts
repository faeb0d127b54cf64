/**
 * Runs commands on the main thread, all at once, and prints how they ended; their output too, as it comes, if asked.
 * Its argument: JSON of `Settings`. Imports the process runner.
 */
import type { Command, CommandEnd } from '../../packages/workflow/src/process/command.js'
import { runCommand } from '../../packages/workflow/src/process/run-command.js'

export interface Settings {
  readonly commands: readonly (Pick<Command, 'argv' | 'tag'> & Partial<Command>)[]
  readonly isHeard?: boolean
  /** Short commands that run before, one after the other. */
  readonly before?: number
}

const { commands, isHeard = false, before = 0 } = JSON.parse(process.argv[2] ?? '') as Settings
const run = (command: Settings['commands'][number]): Promise<CommandEnd> =>
  runCommand({
    env: { PATH: process.env['PATH'] ?? '' },
    cwd: '/',
    signal: new AbortController().signal,
    graceMs: 1000,
    keepStdoutBytes: 1024 * 1024,
    onOutput: (_, bytes) => void (isHeard && process.stdout.write(bytes)),
    ...command,
  })

for (let count = 1; count <= before; count++) await run({ argv: ['true'], tag: `before/${count}` })
const ends: CommandEnd[] = await Promise.all(commands.map(run))
if (!isHeard) process.stdout.write(JSON.stringify(ends))
