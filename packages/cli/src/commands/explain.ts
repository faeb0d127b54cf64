/** `reprise explain FILE [STEP]`: what a policy does, before it does it. Imports input, explanation and output. */
import { pickStep, readPolicies } from '@reprise/workflow'
import type { Command } from 'commander'
import { plainText } from 'reprise/observe'
import type { CommandContext } from '../command-context.js'
import { type Explanation, explain } from '../explain/explanation.js'
import { openSource } from '../input/open-source.js'
import { READERS } from '../input/readers.js'
import { showExplanation, showOverview } from '../output/explanation.js'
import { writeJson } from '../output/json.js'
import { lookFor } from '../output/look.js'

const EXAMPLES = `Examples:
  reprise explain policy.yaml              a policy: its fields, or what stands under \`retry:\`
  reprise explain workflow.yaml            every step of a workflow, a line for each
  reprise explain workflow.yaml fetch      one step, with \`retry_defaults\` merged in
  reprise explain policy.yaml --json | jq '.policies[0].stop'
`

export function addExplain(program: Command, context: () => CommandContext): void {
  program
    .command('explain')
    .description('show a policy as a table: each attempt, the wait before it, where it stops and why')
    .argument('<file>', 'YAML or JSON file with a policy or a workflow; - is stdin')
    .argument('[step]', 'id, name or position of a step of a workflow')
    .addHelpText('before', EXAMPLES)
    .action((file: string, step: string | undefined) => explainFile(file, step, context()))
}

async function explainFile(name: string, step: string | undefined, context: CommandContext): Promise<void> {
  const { world, settings } = context
  const source = await openSource(name, context)
  const { file } = source
  const found = readPolicies(source, READERS)
  const policies = step === undefined ? found.policies : [pickStep(found, step, file)]
  const explanations = policies.map(explain)
  if (settings.json) return writeJson(world.stdout, { file, policies: explanations })

  const look = lookFor(world, settings)
  const [only, ...others] = explanations
  if (only !== undefined && others.length === 0) world.stdout.write(showExplanation(only, titleOf(file, only), look))
  else world.stdout.write(showOverview(explanations, file, look))
  if (settings.quiet) return
  if (others.length > 0) world.stderr.write(`\n\`reprise explain ${plainText(name)} STEP\` shows one step in full.\n`)
  const unread = plainText(found.unread.map((key) => `\`${key}\``).join(', '))
  if (unread !== '') world.stderr.write(`\nNot looked at: ${unread}.\n`)
}

function titleOf(file: string, { step }: Explanation): string {
  return step === null ? file : `${file} · step ${step}`
}
