/**
 * The command line: which commands there are, and what becomes of what they throw.
 *
 * Invariants: data goes to stdout, talk to stderr; a fault of the input is exit code 2 and says all that is wrong; any
 * other exception is a bug of ours. Imports commander and the commands.
 */
import { readFileSync } from 'node:fs'
import { InputError, type Problem } from '@reprise/workflow'
import { Command, CommanderError } from 'commander'
import { reportBug } from './bug-report.js'
import type { CommandContext } from './command-context.js'
import { addExplain } from './commands/explain.js'
import { addSchema } from './commands/schema.js'
import { addSimulate } from './commands/simulate.js'
import { addValidate } from './commands/validate.js'
import { EXIT, type ExitCode } from './exit-codes.js'
import { writeJson } from './output/json.js'
import { printProblems } from './output/problems.js'
import { styleFor } from './output/style.js'
import { OutputError } from './output-error.js'
import { addSettings, ENVIRONMENT_HELP, readSettings, type Settings, wantsJson } from './settings.js'
import { ToldError } from './told-error.js'
import type { World } from './world.js'
import { isWriteFailure, reportWriteFailure } from './write-failure.js'

const EXAMPLES = `Examples:
  reprise explain policy.yaml              what a policy does, attempt by attempt
  reprise explain workflow.yaml fetch      the same for one step of a workflow
  reprise explain policy.yaml --json       as data for programs
  echo 'attempts: 5' | reprise explain -   a policy from stdin
  reprise simulate policy.yaml             what it does in a storm, beside well-known policies
  reprise validate workflow.yaml           every problem of a file, with its place and a cure
  reprise schema > workflow.schema.json    for completion and checks in an editor
`

export async function runProgram(args: readonly string[], world: World): Promise<ExitCode> {
  const program = new Command('reprise')
  let settings: Settings | undefined
  const context = (): CommandContext => ({ world, settings: (settings ??= readSettings(program, world.env)) })
  program
    .description('Retries as a system: see what a retry policy does before it does it.')
    .version(ownVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', ENVIRONMENT_HELP)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => world.stdout.write(text),
      writeErr: (text) => world.stderr.write(text),
      outputError: (text, write) => write(`${text.trimEnd()}\nTry \`reprise --help\`.\n`),
    })
  addSettings(program)
  addExplain(program, context)
  addSimulate(program, context)
  addValidate(program, context)
  addSchema(program, context)
  try {
    await program.parseAsync(args, { from: 'user' })
    return EXIT.done
  } catch (error) {
    if (error instanceof ToldError) return error.exitCode
    if (isWriteFailure(error)) return reportWriteFailure(error, world.stderr) ?? EXIT.done
    const json = settings?.json ?? wantsJson(args, world.env)
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.done
      // Commander has said it on stderr.
      if (json) writeJson(world.stdout, { problems: [usageProblem(error)] })
      return EXIT.invalid
    }
    if (!(error instanceof InputError || error instanceof OutputError)) return reportBug(error, world)
    if (json) writeJson(world.stdout, { problems: error.problems })
    else printProblems(error, world.stderr, styleFor(settings?.color ?? 'auto', world.stderr, world.env))
    return error instanceof OutputError ? EXIT.unwritable : EXIT.invalid
  }
}

function usageProblem({ code, message }: CommanderError): Problem {
  if (code === 'commander.help') return { message: 'no command is given', suggestion: 'try `reprise --help`' }
  const [said = '', near] = message.replace(/^error: /, '').split('\n')
  return { message: said, suggestion: near?.replace(/^\((.*)\)$/, '$1') ?? 'try `reprise --help`' }
}

/** From beside `dist` or `src`. */
function ownVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { readonly version: string }).version
}
