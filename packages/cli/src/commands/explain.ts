/** `reprise explain FILE [STEP]`: what a policy does, before it does it. Imports input, explanation and output. */
import { plainText } from 'reprise/observe'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { type Explanation, explain } from '../explain/explanation.js'
import { openSource } from '../input/open-source.js'
import { pickStep } from '../input/pick-step.js'
import { type FoundPolicy, readPolicies } from '../input/policy-file.js'
import { showExplanation, showOverview } from '../output/explanation.js'
import { writeJson } from '../output/json.js'
import { lookFor } from '../output/look.js'

/** More than anybody reads of them. */
const MAX_NOTES = 20

type Given = ParsedArguments<{ readonly file: string; readonly step?: string }>

export async function run({ values: { file: name, step } }: Given, context: CommandContext): Promise<void> {
  const { world, settings } = context
  const source = await openSource(name, context)
  const { file } = source
  const found = readPolicies(source)
  const policies = step === undefined ? found.policies : [pickStep(found, step, file)]
  const explanations = policies.map(explain)
  if (settings.json) {
    const noted = explanations.map((one, index) => ({
      ...one,
      notes: [...one.notes, ...(policies[index]?.remarks ?? [])],
    }))
    return writeJson(world.stdout, { file, policies: noted })
  }

  const look = lookFor(world, settings)
  const [only, ...others] = explanations
  if (only !== undefined && others.length === 0) world.stdout.write(showExplanation(only, titleOf(file, only), look))
  else world.stdout.write(showOverview(explanations, file, look))
  if (settings.quiet) return
  if (others.length > 0) world.stderr.write(`\n\`reprise explain ${plainText(name)} STEP\` shows one step in full.\n`)
  for (const note of shownNotes(policies)) world.stderr.write(`\nnote: ${plainText(note)}\n`)
  const unread = plainText(found.unread.map((key) => `\`${key}\``).join(', '))
  if (unread !== '') world.stderr.write(`\nNot looked at: ${unread}.\n`)
}

/** What is odd in the steps, each said once. */
function shownNotes(policies: readonly FoundPolicy[]): string[] {
  const notes = [...new Set(policies.flatMap(({ remarks }) => remarks))]
  const left = notes.length - MAX_NOTES
  return left > 0 ? [...notes.slice(0, MAX_NOTES), `… and ${left} more like these.`] : notes
}

function titleOf(file: string, { step }: Explanation): string {
  return step === null ? file : `${file} · step ${step}`
}
