/** `reprise retry-now RUN STEP`: ends the wait of a step. Imports the workflow package. */
import { retryStepNow } from '@reprise/workflow'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { writeJson } from '../output/json.js'
import { findRun } from '../runs/find-run.js'
import { recordedPlan } from '../runs/load-plan.js'
import { withLedger } from '../runs/store.js'

type Given = ParsedArguments<{ readonly run: string; readonly step: string }>

export async function run({ values: { run: runId, step } }: Given, context: CommandContext): Promise<void> {
  const { world, settings } = context
  await withLedger(context, (ledger) => findRun(ledger, runId))
  await retryStepNow(settings.store, runId, step, recordedPlan)
  if (settings.json) writeJson(world.stdout, { run: runId, step, hastened: true })
  else if (!settings.quiet) world.stderr.write(`The next attempt of ${step} starts now.\n`)
}
