/** `reprise schema [KIND]`: what a file may hold, for editors. Imports the schemas. */
import { policySchema, workflowSchema } from '@reprise/workflow'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { UsageError } from '../failures.js'
import { writeJson } from '../output/json.js'

const KINDS = new Map([
  ['workflow', workflowSchema],
  ['policy', policySchema],
])

export async function run(
  { values: { kind = 'workflow' } }: ParsedArguments<{ readonly kind?: string }>,
  { world }: CommandContext,
): Promise<void> {
  const schemaOf = KINDS.get(kind)
  if (schemaOf === undefined)
    throw new UsageError(`there is no schema of ${kind}`, `it is one of ${[...KINDS.keys()].join(', ')}`)
  writeJson(world.stdout, schemaOf())
}
