/** `reprise validate FILE…`: every problem of every file, before anything runs. Imports input and output. */
import type { Command } from 'commander'
import { plainText } from 'reprise/observe'
import type { CommandContext } from '../command-context.js'
import { EXIT } from '../exit-codes.js'
import { type ValidatedFile, validateFile, type Validation } from '../input/validated-file.js'
import { writeJson } from '../output/json.js'
import { printProblems } from '../output/problems.js'
import { styleFor } from '../output/style.js'
import { ToldError } from '../told-error.js'

const EXAMPLES = `Examples:
  reprise validate workflow.yaml          a workflow, or a file with a policy
  reprise validate flows/*.yaml           many at once; exit code 2 if any has a problem
  reprise validate workflow.yaml --json | jq '.files[].problems[]'
`

const MORE_HELP = `
--json prints { files: [{ file, ok, kind, steps, problems, notes }] }; a problem
is { file, line, column, path, message, suggestion }, lines and columns from 1.
Nothing of a file is executed. Editors: see \`reprise schema --help\`.`

export function addValidate(program: Command, context: () => CommandContext): void {
  program
    .command('validate')
    .description('check files: every problem with its line, column and a suggestion')
    .argument('<files...>', 'YAML or JSON files with a workflow or a policy; - is stdin')
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', MORE_HELP)
    .action((files: readonly string[]) => validateFiles(files, context()))
}

async function validateFiles(names: readonly string[], context: CommandContext): Promise<void> {
  const { world, settings } = context
  const validations: Validation[] = []
  for (const name of names) {
    const validation = await validateFile(name, context)
    // Blocks of problems stand apart.
    if (!settings.json && validation.error && validations.some(({ error }) => error)) world.stderr.write('\n')
    if (!settings.json) tell(validation, context)
    validations.push(validation)
  }
  const bad = validations.filter(({ result }) => !result.ok).length
  if (settings.json) writeJson(world.stdout, { files: validations.map(({ result }) => result) })
  else if (bad > 0 && names.length > 1 && !settings.quiet) {
    world.stderr.write(`\n${bad} of ${names.length} files ${bad === 1 ? 'has' : 'have'} problems.\n`)
  }
  if (bad > 0) throw new ToldError(EXIT.invalid)
}

function tell({ result, error }: Validation, { world, settings }: CommandContext): void {
  if (error !== undefined) return printProblems(error, world.stderr, styleFor(settings.color, world.stderr, world.env))
  world.stdout.write(`${plainText(result.file)}: ok, ${contentOf(result)}\n`)
  if (settings.quiet) return
  for (const note of result.notes) world.stderr.write(`${plainText(result.file)}: note: ${plainText(note)}\n`)
}

function contentOf({ kind, steps = 0 }: ValidatedFile): string {
  if (kind !== 'workflow') return 'a policy'
  return steps === 1 ? '1 step' : `${steps} steps`
}
