/** `reprise schema [KIND]`: what a file may hold, for editors. Imports the schemas. */
import { policySchema, workflowSchema } from '@reprise/workflow'
import { jobSchema } from '@reprise/workflow/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { writeJson } from '../output/json.js'

const KINDS = { workflow: workflowSchema, policy: policySchema, job: jobSchema }

export async function run(
  { values: { kind = 'workflow' } }: ParsedArguments<{ readonly kind?: keyof typeof KINDS }>,
  { io }: CommandContext,
): Promise<void> {
  writeJson(io.stdout, KINDS[kind]())
}
