/** `reprise validate FILE…`: every problem of every file, before anything runs. Imports input and output. */
import { plural, type Source, type ValidatedFile, validateSource, type Validation } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { CommandContext } from '../command-context.js'
import type { ParsedArguments } from '../command.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { openSource } from '../input/open-source.js'
import { writeJson } from '../output/json.js'
import { printProblems, writeNotes } from '../output/problems.js'
import { styleFor } from '../output/style.js'
import { writePage } from '../output/github-commands.js'

export async function run(
  { values: { files: names } }: ParsedArguments<{ readonly files: readonly string[] }>,
  context: CommandContext,
): Promise<ExitCode> {
  const { io, settings } = context
  const validations: Validation[] = []
  for (const name of names) {
    const validation = await validateSource(name, () => openSource(name, context), readJob)
    // Blocks of problems stand apart.
    if (!settings.json && validation.error && validations.some(({ error }) => error)) io.stderr.write('\n')
    if (!settings.json) tell(validation, context)
    validations.push(validation)
  }
  const bad = validations.filter(({ result }) => !result.ok).length
  if (settings.json) writeJson(io.stdout, { files: validations.map(({ result }) => result) })
  else if (bad > 0 && names.length > 1 && !settings.quiet) {
    io.stderr.write(`\n${bad} of ${names.length} files ${bad === 1 ? 'has' : 'have'} problems.\n`)
  }
  return bad > 0 ? EXIT.invalid : EXIT.done
}

/** Loaded for a job alone. */
async function readJob(source: Source): Promise<{ workflows: number; notes: readonly string[] }> {
  const { readJobFile } = await import('@reprise/jobs/internal')
  const { request, notes } = await readJobFile(source)
  return { workflows: request.workflows.length, notes }
}

function tell({ result, error }: Validation, context: CommandContext): void {
  const { io, settings } = context
  if (error !== undefined) {
    const style = styleFor(settings.color, io.stderr, io.env)
    return printProblems(error, io.stderr, style, settings.verbose)
  }
  writePage(io, `${plainText(result.file)}: ok, ${contentOf(result)}\n`)
  writeNotes(result.file, result.notes, context)
}

function contentOf({ kind, steps = 0, workflows = 0 }: ValidatedFile): string {
  if (kind === 'job') return `a job of ${plural(workflows, 'workflow')}`
  if (kind !== 'workflow') return 'a policy'
  return steps === 1 ? '1 step' : `${steps} steps`
}
