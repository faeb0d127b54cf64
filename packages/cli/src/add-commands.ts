/** From the table of commands to commander. Imports commander and types. */
import { Argument, type Command, Option } from 'commander'
import { type CommandEntry, type CommandGroup, type CommandModule, type CommandOption, isThere } from './command.js'
import type { CommandContext } from './command-context.js'
import { EXIT, type ProgramExitCode } from './exit-codes.js'
import { UsageError } from './failures.js'
import { examplesHelp } from './program-help.js'

/** `onEnd` hears the exit code of the one that was called. */
export function addCommands(
  program: Command,
  groups: readonly CommandGroup[],
  context: () => CommandContext,
  onEnd: (code: ProgramExitCode) => void,
): void {
  for (const { title, commands } of groups) {
    program.commandsGroup(`${title}:`)
    for (const entry of commands) addCommand(program, entry, context, onEnd)
  }
  program.commandsGroup('Help:').helpCommand('help [command]', 'print the help of a command')
}

function addCommand(
  parent: Command,
  entry: CommandEntry,
  context: () => CommandContext,
  onEnd: (code: ProgramExitCode) => void,
): void {
  if (!isThere(entry)) return
  const { name, summary, values = [], options = [], examples, more, ndjson = false, subcommands = [], load } = entry
  const command = parent.command(name).description(summary).addHelpText('before', examplesHelp(examples))
  if (more !== undefined) command.addHelpText('after', `\n${more}`)
  for (const [value, text, choices] of values) {
    const argument = new Argument(value, text)
    command.addArgument(choices === undefined ? argument : argument.choices(choices))
  }
  for (const option of options) addOption(command, option)
  for (const subcommand of subcommands) addCommand(command, subcommand, context, onEnd)
  if (load !== undefined)
    command.action(() => {
      const given = context()
      if (!ndjson) refuseNdjson(command, given)
      return call(command, load, given, onEnd)
    })
}

function addOption(command: Command, { flags, text, choices, repeats, group }: CommandOption): void {
  const option = new Option(flags, text)
  if (choices !== undefined) option.choices(choices)
  if (repeats === true) option.argParser((value, earlier?: readonly string[]) => [...(earlier ?? []), value])
  command.addOption(option.helpGroup(`${group ?? 'Options'}:`))
}

async function call(
  command: Command,
  load: () => Promise<CommandModule>,
  context: CommandContext,
  onEnd: (code: ProgramExitCode) => void,
): Promise<void> {
  const names = command.registeredArguments.map((argument) => argument.name())
  const values = Object.fromEntries(names.map((name, index) => [name, command.processedArgs[index] as unknown]))
  const module = await load()
  onEnd((await module.run({ values, options: command.opts() }, context)) ?? EXIT.done)
}

/** A command without events would ignore the flag, and print what is for people. The variable is for all commands. */
function refuseNdjson(command: Command, { settings }: CommandContext): void {
  if (settings.ndjson && command.optsWithGlobals()['ndjson'] === true)
    throw new UsageError(`--ndjson: ${command.name()} has no events to print`, 'use --json')
}
