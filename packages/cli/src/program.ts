/**
 * The command line: what was typed becomes a call of a command, and an exit code.
 *
 * Invariants: data goes to stdout, talk to stderr; every start waits for this file's imports, so a command's module is
 * loaded when the command is called, and what is said of a failure when there is one. Imports commander and the table.
 */
import { Command, CommanderError } from 'commander'
import { addCommands } from './add-commands.js'
import { type CommandGroup, isThere } from './command.js'
import type { CommandContext } from './command-context.js'
import { COMMAND_GROUPS } from './commands/command-table.js'
import { EXIT, type ProgramExitCode } from './exit-codes.js'
import { moreHelp, programExamples } from './program-help.js'
import { addSettings, readSettings, type Settings, wantsData } from './settings.js'
import { ownVersion } from './version.js'
import type { Outputs, ProcessIo } from './process-io.js'
import { isWriteFailure, reportWriteFailure } from './write-failure.js'

export async function runProgram(
  args: readonly string[],
  io: ProcessIo,
  groups: readonly CommandGroup[] = COMMAND_GROUPS,
): Promise<ProgramExitCode> {
  const program = new Command('reprise')
  let settings: Settings | undefined
  let code: ProgramExitCode = EXIT.done
  const context = (): CommandContext => ({ io, settings: (settings ??= readSettings(program, io.env)) })
  program
    .description(
      'Retries as a system: see what a policy does, run workflows that survive a crash, and continue them where they stopped.',
    )
    .version(ownVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('before', programExamples(groups))
    .addHelpText('after', moreHelp())
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // It is thrown as well, and said where it is caught.
      outputError: () => undefined,
    })
  addSettings(program)
  addCommands(program, calledOf(groups, args[0]), context, (ended) => (code = ended))
  try {
    await program.parseAsync(typedOf(program, args), { from: 'user' })
    return code
  } catch (error) {
    if (isWriteFailure(error)) return reportWriteFailure(error, io.stderr) ?? EXIT.done
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done
    const { reportFailure, reportUsage } = await import('./failure-report.js')
    const called = calledNames(program, args)
    const isExec = called[1] === 'exec'
    const output = { ...(settings ?? { ...wantsData(args, io.env), color: 'auto' as const }), isInWordsToo: isExec }
    // Messages have names and texts of files in them.
    const { neutralIo } = await import('./output/github-commands.js')
    const outputs = isExec ? signed(neutralIo(io)) : neutralIo(io)
    if (error instanceof CommanderError) return reportUsage(error, `${called.join(' ')} --help`, outputs, output)
    return reportFailure(error, outputs, output)
  }
}

/** Registers only the named command: building all of them takes longer than parsing. */
function calledOf(groups: readonly CommandGroup[], name: string | undefined): readonly CommandGroup[] {
  for (const { title, commands } of groups) {
    const called = commands.find((command) => command.name === name && isThere(command))
    if (called !== undefined) return [{ title, commands: [called] }]
  }
  return groups
}

/** Commander answers `help nope` with the help of the program, as if nothing were wrong. */
function typedOf(program: Command, args: readonly string[]): readonly string[] {
  const [first, named] = args
  const isKnown = named === undefined || named.startsWith('-') || program.commands.some((one) => one.name() === named)
  return first === 'help' && !isKnown ? [named] : args
}

/** `reprise`, `explain`: as far as it is known which command was meant. */
function calledNames(program: Command, args: readonly string[]): readonly string[] {
  const names: string[] = [program.name()]
  let at: Command | undefined = program
  for (const arg of args) {
    const named: Command | undefined = at?.commands.find((command) => command.name() === arg)
    if (named === undefined) continue
    names.push(named.name())
    at = named
  }
  return names
}

const SIGNATURE = 'reprise: '

/** Errors of `exec` itself begin with its name, so that they differ from the stderr of the command. */
function signed({ stdout, stderr, env }: ProcessIo): Outputs {
  const { isTTY, columns } = stderr
  const write = (text: string): unknown => stderr.write(SIGNATURE + text)
  const width =
    columns === undefined || columns === 0 ? undefined : { columns: Math.max(1, columns - SIGNATURE.length) }
  return { stdout, stderr: { write, ...(isTTY && { isTTY }), ...width }, env }
}
