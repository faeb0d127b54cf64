/** `reprise show RUN [STEP]`: a run with its steps, or a step with its attempts. Imports the workflow package and output. */
import { findStep, runReader, viewRun, withLedger } from '@reprise/workflow/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { writeJson } from '../output/json.js'
import { lookFor } from '../output/look.js'
import { commandWords } from '../output/next-commands.js'
import { runPage } from '../output/runs/run-page.js'
import { stepPage } from '../output/runs/step-page.js'
import { findRunOrLast } from '../runs/run-argument.js'
import { writePage } from '../output/github-commands.js'

export async function run(
  { values }: ParsedArguments<{ readonly run?: string; readonly step?: string }>,
  context: CommandContext,
): Promise<void> {
  const { world, settings } = context
  const { id, detail, nowMs } = await withLedger(settings.store, async (ledger) => {
    const { id: found } = await findRunOrLast(ledger, values.run, 'show')
    // The ledger's clock, by which all of it was recorded.
    return { id: found, detail: await viewRun(runReader(ledger, settings.store), found), nowMs: await ledger.now() }
  })
  if (detail === undefined) throw new Error(`run ${id} is not there any more`)
  const step = values.step === undefined ? undefined : findStep(detail, values.step)
  if (settings.json) return writeJson(world.stdout, step ?? detail)
  const look = lookFor(world, settings)
  const command = commandWords(settings, world.env)
  const lines =
    step === undefined ? runPage(detail, nowMs, look, command) : stepPage(detail, step, nowMs, look, command)
  writePage(world, `${lines.join('\n')}\n`)
}
