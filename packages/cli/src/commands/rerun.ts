/** `reprise rerun RUN --from STEP`: runs a step and all behind it once more. Imports the command that goes on with a run. */
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import type { ProgramExitCode } from '../exit-codes.js'
import { UsageError } from '../failures.js'
import type { ShownOptions } from '../runs/conduct.js'
import { continueRun } from './resume.js'

type Options = ShownOptions & {
  readonly from?: string
  readonly dryRun?: boolean
  readonly acceptChanges?: boolean
  readonly force?: boolean
}

export async function run(
  { values: { run: id }, options }: ParsedArguments<{ readonly run: string }, Options>,
  context: CommandContext,
): Promise<ProgramExitCode> {
  const { from, acceptChanges = false, force = false, ...others } = options
  if (from === undefined) throw new UsageError('rerun needs a step', 'name the first one with --from STEP')
  const choices = { resetRetries: false, acceptChanges, done: [], rerun: [], force, from }
  return continueRun(id, choices, others, context)
}
