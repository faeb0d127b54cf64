/** `reprise cancel RUN`: ends a run for good, whichever process conducts it. Imports the workflow package. */
import {
  cancelRun,
  findRun,
  recordedPlan,
  StateDirectory,
  stateDirectoryOf,
  withLedger,
} from '@reprise/workflow/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { writeJson } from '../output/json.js'

export async function run(
  { values }: ParsedArguments<{ readonly run: string }>,
  context: CommandContext,
): Promise<void> {
  const { world, settings } = context
  const before = await withLedger(settings.store, (ledger) => findRun(ledger, values.run))
  const state = StateDirectory.at(stateDirectoryOf(settings.store))
  const { id } = before
  const cancelled = await cancelRun(settings.store, id, recordedPlan, state)
  if (settings.json) writeJson(world.stdout, { run: id, cancelled, state: cancelled ? 'cancelled' : before.status })
  else if (!settings.quiet)
    world.stderr.write(cancelled ? `Run ${id} is cancelled.\n` : `Run ${id} had ended already: ${before.status}.\n`)
}
