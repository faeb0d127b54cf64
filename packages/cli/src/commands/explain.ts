/** `reprise explain FILE [STEP]`: what a policy does, before it does it. Imports input, explanation and output. */
import { pickStep, readersFor, readPolicies } from '@reprise/workflow'
import { plainText } from 'reprise/observe'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { type Explanation, explain } from '../explain/explanation.js'
import { openSource } from '../input/open-source.js'
import { showExplanation, showOverview } from '../output/explanation.js'
import { writeJson } from '../output/json.js'
import { lookFor } from '../output/look.js'
import { commandWords } from '../output/next-commands.js'
import { wrapText } from '../output/wrap.js'

type Given = ParsedArguments<{ readonly file: string; readonly step?: string }>

export async function run({ values: { file: name, step } }: Given, context: CommandContext): Promise<void> {
  const { world, settings } = context
  const source = await openSource(name, context)
  const { file } = source
  const found = readPolicies(source, await readersFor(source))
  const policies = step === undefined ? found.policies : [pickStep(found, step, file)]
  const explanations = policies.map(explain)
  if (settings.json) return writeJson(world.stdout, { file, policies: explanations })

  const look = lookFor(world, settings)
  const [only, ...others] = explanations
  if (only !== undefined && others.length === 0) world.stdout.write(showExplanation(only, titleOf(file, only), look))
  else world.stdout.write(showOverview(explanations, file, look))
  if (settings.quiet) return
  const { screen } = lookFor(world, settings, world.stderr)
  const say = (text: string): unknown => world.stderr.write(`\n${wrapText('', text, screen).join('\n')}\n`)
  const command = commandWords(settings, world.env)(['explain', name, 'STEP'])
  if (others.length > 0) say(`\`${command}\` shows one step in full.`)
  const unread = plainText(found.unread.map((key) => `\`${key}\``).join(', '))
  if (unread !== '') say(`Not looked at: ${unread}.`)
}

function titleOf(file: string, { step }: Explanation): string {
  return step === null ? file : `${file} · step ${step}`
}
