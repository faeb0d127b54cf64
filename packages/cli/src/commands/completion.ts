/** `reprise completion SHELL`: the script that a shell loads. Imports the scripts and the table of commands. */
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { bashScript } from '../completion/bash.js'
import { fishScript } from '../completion/fish.js'
import { completedCommands } from '../completion/model.js'
import { zshScript } from '../completion/zsh.js'
import { COMMAND_GROUPS } from './command-table.js'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript }

export async function run(
  { values: { shell } }: ParsedArguments<{ readonly shell: keyof typeof SCRIPTS }>,
  { io }: CommandContext,
): Promise<void> {
  io.stdout.write(SCRIPTS[shell](completedCommands(COMMAND_GROUPS)))
}
