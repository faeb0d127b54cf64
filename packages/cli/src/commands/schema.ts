/** `reprise schema [KIND]`: what a file may hold, for editors. Imports the schemas. */
import { policySchema, workflowSchema } from '@reprise/workflow'
import { Argument, type Command } from 'commander'
import type { CommandContext } from '../command-context.js'
import { writeJson } from '../output/json.js'

const EXAMPLES = `Examples:
  reprise schema > workflow.schema.json           what a workflow may hold, as JSON Schema
  reprise schema policy > policy.schema.json      the same for a file with a policy alone
`

const MORE_HELP = `
Editors with the YAML language server (VS Code with the YAML extension, Neovim,
Helix, JetBrains and others) complete, explain and check a file whose first line
says where its schema is, as a path from the file or an address:

  # yaml-language-server: $schema=workflow.schema.json

What no schema can say, such as whether a name is declared, \`reprise validate\`
knows.`

const KINDS = { workflow: workflowSchema, policy: policySchema }

export function addSchema(program: Command, context: () => CommandContext): void {
  program
    .command('schema')
    .description('print the JSON Schema of files, for completion and checks in editors')
    .addArgument(new Argument('[kind]', 'of which files').choices(Object.keys(KINDS)).default('workflow'))
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', MORE_HELP)
    .action((kind: keyof typeof KINDS) => writeJson(context().world.stdout, KINDS[kind]()))
}
